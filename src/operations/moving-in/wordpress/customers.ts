import { customerAddress, writeCustomer } from '../customers.ts'
import type { CustomerRecord } from '../customers.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { addressKeys, idsOf, phpEntries, readMeta, text, utc } from './values.ts'
import type { Meta } from './values.ts'

/** What the plugin of Mailchimp for WooCommerce writes when a customer agrees to emails. */
const optIn = 'mailchimp_woocommerce_is_subscribed'

/** Moves the accounts in, with their password hashes, names, addresses and roles. */
export async function* moveCustomers(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const capabilities = `${source.prefix}capabilities`
  const keys = ['first_name', 'last_name', capabilities, 'billing_email', 'billing_phone', optIn]
  const wanted = [...keys, ...addressKeys.flatMap((key) => [`billing_${key}`, `shipping_${key}`])]
  const sql =
    'SELECT ID AS id, user_login, user_pass, user_email, user_registered, display_name FROM {users} WHERE ID > ?'
  for await (const rows of source.parts(sql)) {
    const ids = idsOf(rows)
    const metaOf = await readMeta(source, { table: 'usermeta', owner: 'user_id', order: 'umeta_id' }, ids, wanted)
    await writeInBatches(move, rows, (tx, row) =>
      writeCustomer(tx, toCustomer(row, metaOf(text(row, 'id')), capabilities), move, tally)
    )
    yield
  }
}

function toCustomer(row: Row, meta: Meta, capabilities: string): CustomerRecord {
  const value = (key: string): string => meta.get(key) ?? ''
  const login = text(row, 'user_login')
  const roles = phpEntries(value(capabilities)).flatMap(([role, has]) => (has === true ? [role] : []))
  return {
    id: text(row, 'id'),
    label: login,
    email: text(row, 'user_email'),
    username: login,
    displayName: text(row, 'display_name'),
    firstName: value('first_name'),
    lastName: value('last_name'),
    company: value('billing_company'),
    phone: value('billing_phone'),
    billingEmail: value('billing_email'),
    passwordHash: text(row, 'user_pass'),
    address:
      customerAddress((part) => value(`shipping_${part}`)) ?? customerAddress((part) => value(`billing_${part}`)),
    isAdmin: roles.includes('administrator'),
    remarks: roles.flatMap((role) => remarkOf(role) ?? []),
    marketingOptIn: value(optIn) === '1',
    createdAt: utc(text(row, 'user_registered'))
  }
}

/** Roles that each customer has here, or that come with the tables of affiliates. */
const usualRoles = new Set(['customer', 'subscriber', 'affiliate'])

/** What becomes of a role. An import gives no access to the desk: the people there are invited, and have a passkey. */
function remarkOf(role: string): string | undefined {
  if (usualRoles.has(role)) return undefined
  if (role === 'administrator')
    return 'The account is an administrator for your website ("admin revoke" ends that), without access to the desk: see "desk invite"'
  if (role === 'shop_manager') return 'A shop manager is a customer here, without access to the desk: see "desk invite"'
  return `The role ${role} does not exist here: the account is a customer's`
}
