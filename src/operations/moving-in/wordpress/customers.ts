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
    isAdmin: phpEntries(value(capabilities)).some(([role, has]) => role === 'administrator' && has === true),
    marketingOptIn: value(optIn) === '1',
    createdAt: utc(text(row, 'user_registered'))
  }
}
