import { importedCost } from '../../platform/crypto/imported-hashes.ts'
import { isUsableHash } from '../../platform/crypto/passwords.ts'
import type { Tx } from '../../platform/db/database.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { isCountry } from '../../platform/postal/countries.ts'
import type { PostalAddress } from '../../platform/postal/address.ts'
import { createUser, displayNameOf } from '../../shop/accounts/create-user.ts'
import type { NewUser } from '../../shop/accounts/create-user.ts'
import { emailField } from '../../shop/accounts/fields.ts'
import { findUserByEmail, findUserByUsername } from '../../shop/accounts/find.ts'
import { replaceImportedHash } from '../../shop/accounts/set-password.ts'
import type { UserRow } from '../../shop/accounts/rows.ts'
import { listGroups } from '../../shop/groups/groups.ts'
import { joinGroup } from '../../shop/groups/members.ts'
import { emailKey } from '../../platform/text.ts'
import { lineOf } from './clean-text.ts'
import type { Move } from './move.ts'
import type { SubjectTally } from './report.ts'

/** An account of another shop. Texts are as they are there. */
export type CustomerRecord = {
  id: string
  /** Identifies the account in the report if it has no email. */
  label: string
  email: string
  /** Empty for a name made from the email. */
  username: string
  displayName: string
  firstName: string
  lastName: string
  company: string
  phone: string
  billingEmail: string
  /** Empty if the other shop does not export passwords. */
  passwordHash: string
  address: PostalAddress | null
  isAdmin: boolean
  /** The customer groups of this shop that the account joins when it moves in, by their slugs. */
  groups?: readonly string[]
  /** What differs in this shop, for the report. */
  remarks: readonly string[]
  /** Whether the other shop says that the person agreed to emails. */
  marketingOptIn: boolean
  createdAt: number | null
}

/** Stores an account, and reports what became of it. One that moved in before gets the password that was set there since. */
export function writeCustomer(tx: Tx, customer: CustomerRecord, move: Move, tally: SubjectTally): void {
  const { id, label } = customer
  const before = move.moved.find(tx, 'customer', id)
  if (before !== undefined) {
    if (replaceImportedHash(tx, before, customer.passwordHash))
      tally.change('The password was changed in the other shop since', label)
    return tally.know()
  }
  const email = emailField.safeParse(customer.email)
  if (!email.success) return tally.leave('The account has no valid email', label)
  const wanted = customer.groups ?? []
  const groups = listGroups(tx).filter(({ slug }) => wanted.includes(slug))
  const missing = wanted.find((slug) => !groups.some((group) => group.slug === slug))
  if (missing !== undefined)
    return tally.leave(`The shop has no customer group ${missing.slice(0, 40)}: create it, and import again`, label)
  const known = findUserByEmail(tx, email.data)
  if (known !== undefined) {
    if (!isTheirs(known))
      return tally.leave('The shop has an account with this email that is not verified yet: import again later', label)
    move.moved.remember(tx, 'customer', id, known.id, move.now)
    for (const group of groups) joinGroup(tx, group, known.id, move.now)
    tally.change('The shop has an account with this email, which stays as it is', email.data)
    return tally.know()
  }
  for (const remark of customer.remarks) tally.change(remark, label)
  const user = createUser(tx, toNewUser(tx, customer, email.data, { move, tally }), move.now)
  move.moved.remember(tx, 'customer', id, user.id, move.now)
  for (const group of groups) joinGroup(tx, group, user.id, move.now)
  tally.arrive()
}

function toNewUser(
  tx: Tx,
  customer: CustomerRecord,
  email: string,
  { move, tally }: { move: Move; tally: SubjectTally }
): NewUser {
  const hash = customer.passwordHash
  if (!isUsableHash(hash)) tally.change('The password cannot be read, so the customer sets a new one by email', email)
  const firstName = lineOf(customer.firstName, 100)
  const lastName = lineOf(customer.lastName, 100)
  const billingEmail = emailField.safeParse(customer.billingEmail)
  const username = usernameOf(tx, customer.username, email, tally)
  return {
    email,
    ...(username === undefined ? {} : { username }),
    displayName: lineOf(customer.displayName, 100) ?? displayNameOf(email, [firstName, lastName]),
    passwordHash: isUsableHash(hash) ? hash : '',
    firstName,
    lastName,
    billingEmail: billingEmail.success && billingEmail.data !== email ? billingEmail.data : null,
    billingPhone: lineOf(customer.phone, 40),
    companyName: lineOf(customer.company, 255),
    address: customer.address,
    isAdmin: customer.isAdmin,
    // This shop has not verified that the email belongs to the person.
    verified: false,
    marketingOptIn: customer.marketingOptIn,
    termsAcceptedAt: null,
    privacyAcceptedAt: null,
    isNew: false,
    createdAt: customer.createdAt ?? move.now
  }
}

/** The name to log in with. An email is not a username here; one that is the account's own still logs in. */
function usernameOf(tx: Tx, login: string, email: string, tally: SubjectTally): string | undefined {
  if (login === '') return undefined
  const name = lineOf(login, 60)
  const isOwnEmail = login.toLowerCase() === email.toLowerCase()
  if (name === login && !name.includes('@') && findUserByUsername(tx, name) === undefined) return name
  if (!isOwnEmail) tally.change('The username cannot be used here, so the customer logs in with the email', login)
  return undefined
}

/** The account with an email, for another shop that identifies customers only by email; null for a guest. */
export function accountOf(tx: Tx, email: string, { moved }: Move): number | null {
  const id = moved.find(tx, 'customer', emailKey(email))
  if (id !== undefined) return id
  const known = findUserByEmail(tx, email)
  return known !== undefined && isTheirs(known) ? known.id : null
}

/**
 * Whether an account belongs to the person with its email. Anyone can register with the email of another person, so an
 * account that was created here and is not verified gets none of that person's data.
 */
function isTheirs({ emailVerifiedAt, passwordHash }: UserRow): boolean {
  return emailVerifiedAt !== null || passwordHash === '' || importedCost(passwordHash) !== undefined
}

/** The names of an address's parts, as WooCommerce has them. */
export type AddressPart =
  | 'first_name'
  | 'last_name'
  | 'company'
  | 'address_1'
  | 'address_2'
  | 'city'
  | 'state'
  | 'postcode'
  | 'country'

/** The names in a whole name. Its last word is the last name. */
export function splitName(name: string): { firstName: string; lastName: string } {
  const words = name.split(/\s+/).filter(Boolean)
  return { firstName: words.slice(0, -1).join(' '), lastName: words.at(-1) ?? '' }
}

/** The address of a customer by its parts; null without a street and a city. */
export function customerAddress(read: (part: AddressPart) => string): PostalAddress | null {
  const part = (key: AddressPart): string | undefined => lineOf(read(key), 255) ?? undefined
  const [street, country] = [part('address_1'), part('country')]
  if (street === undefined && part('city') === undefined) return null
  return definedFields({
    firstName: part('first_name'),
    lastName: part('last_name'),
    company: part('company'),
    address1: street,
    address2: part('address_2'),
    city: part('city'),
    state: part('state'),
    postcode: part('postcode'),
    country: country !== undefined && isCountry(country) ? country : undefined
  })
}
