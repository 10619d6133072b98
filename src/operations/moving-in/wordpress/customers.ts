import { isUsableHash } from '../../../platform/crypto/passwords.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { emailField } from '../../../shop/accounts/fields.ts'
import { createUser, displayNameOf } from '../../../shop/accounts/create-user.ts'
import type { NewUser } from '../../../shop/accounts/create-user.ts'
import { findUserByEmail, findUserByUsername } from '../../../shop/accounts/find.ts'
import { isCountry } from '../../../platform/postal/countries.ts'
import type { PostalAddress } from '../../../platform/postal/address.ts'
import { lineOf } from '../clean-text.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { addressKeys, idsOf, phpEntries, readMeta, text, utc } from './values.ts'
import type { Meta } from './values.ts'

/** Moves the accounts in, with their password hashes, names, addresses and roles. */
export async function* moveCustomers(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const capabilities = `${source.prefix}capabilities`
  const keys = ['first_name', 'last_name', capabilities, 'billing_email', 'billing_phone']
  const wanted = [...keys, ...addressKeys.flatMap((key) => [`billing_${key}`, `shipping_${key}`])]
  const sql =
    'SELECT ID AS id, user_login, user_pass, user_email, user_registered, display_name FROM {users} WHERE ID > ?'
  for await (const rows of source.parts(sql)) {
    const ids = idsOf(rows)
    const metaOf = await readMeta(source, { table: 'usermeta', owner: 'user_id', order: 'umeta_id' }, ids, wanted)
    await writeInBatches(move, rows, (tx, row) =>
      moveCustomer(tx, { row, meta: metaOf(text(row, 'id')), capabilities }, move, tally)
    )
    yield
  }
}

type Moving = { move: Move; tally: SubjectTally }
type Customer = { row: Row; meta: Meta; capabilities: string }

function moveCustomer(tx: Tx, customer: Customer, move: Move, tally: SubjectTally): void {
  const { row } = customer
  const [id, login] = [text(row, 'id'), text(row, 'user_login')]
  if (move.moved.find(tx, 'customer', id) !== undefined) return tally.know()
  const email = emailField.safeParse(text(row, 'user_email'))
  if (!email.success) return tally.leave('The account has no valid email', login)
  const known = findUserByEmail(tx, email.data)
  if (known !== undefined) {
    move.moved.remember(tx, 'customer', id, known.id, move.now)
    tally.change('The shop has an account with this email, which stays as it is', email.data)
    return tally.know()
  }
  const user = createUser(tx, toNewUser(tx, customer, email.data, { move, tally }), move.now)
  move.moved.remember(tx, 'customer', id, user.id, move.now)
  tally.arrive()
}

function toNewUser(tx: Tx, customer: Customer, email: string, { move, tally }: Moving): NewUser {
  const { row, meta } = customer
  const hash = text(row, 'user_pass')
  if (!isUsableHash(hash)) tally.change('The password cannot be read, so the customer sets a new one by email', email)
  const firstName = lineOf(meta.get('first_name') ?? '', 100)
  const lastName = lineOf(meta.get('last_name') ?? '', 100)
  const billingEmail = emailField.safeParse(meta.get('billing_email') ?? '')
  const username = usernameOf(tx, text(row, 'user_login'), email, tally)
  return {
    email,
    ...(username === undefined ? {} : { username }),
    displayName: lineOf(text(row, 'display_name'), 100) ?? displayNameOf(email, [firstName, lastName]),
    passwordHash: isUsableHash(hash) ? hash : '',
    firstName,
    lastName,
    billingEmail: billingEmail.success && billingEmail.data !== email ? billingEmail.data : null,
    billingPhone: lineOf(meta.get('billing_phone') ?? '', 40),
    companyName: lineOf(meta.get('billing_company') ?? '', 255),
    address: addressOf(meta, 'shipping') ?? addressOf(meta, 'billing'),
    isAdmin: phpEntries(meta.get(customer.capabilities) ?? '').some(
      ([role, has]) => role === 'administrator' && has === true
    ),
    // WordPress does not ask whether an email belongs to the person, and has no record of consents.
    verified: false,
    marketingOptIn: false,
    termsAcceptedAt: null,
    privacyAcceptedAt: null,
    isNew: false,
    createdAt: utc(text(row, 'user_registered')) ?? move.now
  }
}

/** The name to log in with. An email is not a username here; one that is the account's own still logs in. */
function usernameOf(tx: Tx, login: string, email: string, tally: SubjectTally): string | undefined {
  const name = lineOf(login, 60)
  const isOwnEmail = login.toLowerCase() === email.toLowerCase()
  if (name === login && !name.includes('@') && findUserByUsername(tx, name) === undefined) return name
  if (!isOwnEmail) tally.change('The username cannot be used here, so the customer logs in with the email', login)
  return undefined
}

/** The address of a customer; null without a street and a city. */
function addressOf(meta: Meta, kind: 'billing' | 'shipping'): PostalAddress | null {
  const part = (key: string): string | undefined => lineOf(meta.get(`${kind}_${key}`) ?? '', 255) ?? undefined
  const [street, country] = [part('address_1'), part('country')]
  if (street === undefined && part('city') === undefined) return null
  const parts = {
    firstName: part('first_name'),
    lastName: part('last_name'),
    company: part('company'),
    address1: street,
    address2: part('address_2'),
    city: part('city'),
    state: part('state'),
    postcode: part('postcode'),
    country: country !== undefined && isCountry(country) ? country : undefined
  }
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
}
