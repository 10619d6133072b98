import { createHash } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import type { OrderRow } from '../orders/find.ts'
import { billingDetails, shippingOf } from './buyer-details.ts'
import type { Deadline } from './deadline.ts'
import { isUnavailable, readGatewayError } from './gateway-failure.ts'
import { gatewayEmail } from './gateway-email.ts'
import { readyGateway } from './gateway.ts'
import { customerMetadataOf } from './metadata.ts'
import { gatewayCustomers } from './schema.ts'

/** Where a payment is made: Stripe's API, and the time that its calls share. */
export type GatewayCalls = { stripe: Stripe; deadline: Deadline }

type CustomerRow = typeof gatewayCustomers.$inferSelect
type Key = Pick<CustomerRow, 'userId' | 'gateway' | 'livemode'>

/**
 * Makes a payment for the buyer's customer at Stripe: `pay` gets the id of the account's own customer, which is created
 * once and then reused, or null for a guest. A customer that was deleted at Stripe is created again.
 *
 * @throws whatever stripe-node or the deadline throws
 */
export async function payAsCustomer<T>(
  shop: ShopContext,
  order: OrderRow,
  calls: GatewayCalls,
  pay: (customer: string | null) => Promise<T>
): Promise<T> {
  const customer = await customerOf(shop, order, calls)
  try {
    return await pay(customer)
  } catch (error) {
    if (customer === null || !isCustomerGone(error)) throw error
    await forgetCustomer(shop, customer)
    return pay(await customerOf(shop, order, calls))
  }
}

/** The idempotency key of a creation for a customer: with another customer it is another request. */
export function keyFor(createKey: string, customer: string | null): string {
  return customer === null ? createKey : `${createKey}-${customer}`
}

async function customerOf(shop: ShopContext, order: OrderRow, calls: GatewayCalls): Promise<string | null> {
  const { userId, email } = order
  if (userId === null || email === null) return null
  const { name: gateway, livemode } = readyGateway(shop)
  const row = await writeWhenFree(shop.db, (tx) =>
    reserveCustomer(tx, { userId, gateway, livemode }, email, shop.clock.now())
  )
  const known = row.customerId === null ? await createCustomer(shop, row, calls) : row
  await updateDetails(shop, known, order, calls)
  return known.customerId
}

/** The row of an account's customer. One that was never created is created with the email that the account has now. */
function reserveCustomer(tx: Tx, key: Key, email: string, now: number): CustomerRow {
  const known = tx.orm.select().from(gatewayCustomers).where(byKey(key)).get()
  if (known !== undefined && (known.customerId !== null || known.email === email)) return known
  const fresh = { createKey: `customer-${randomToken()}`, email }
  return tx.orm
    .insert(gatewayCustomers)
    .values({ ...key, ...fresh, createdAt: now })
    .onConflictDoUpdate({
      target: [gatewayCustomers.userId, gatewayCustomers.gateway, gatewayCustomers.livemode],
      set: fresh
    })
    .returning()
    .get()
}

/** Two concurrent checkouts send the same request under the same key, so Stripe creates one customer. */
async function createCustomer(
  shop: ShopContext,
  row: CustomerRow,
  { stripe, deadline }: GatewayCalls
): Promise<CustomerRow> {
  const params = { email: gatewayEmail(row.email), metadata: customerMetadataOf(shop, row.userId) }
  const { id: customerId } = await deadline.call(({ timeout }) =>
    stripe.customers.create(params, { idempotencyKey: row.createKey, timeout })
  )
  await writeWhenFree(shop.db, (tx) => void tx.orm.update(gatewayCustomers).set({ customerId }).where(byKey(row)).run())
  return { ...row, customerId }
}

/** Sends what has changed of the buyer. The payment does not depend on it, so a refusal only leaves a line in the log. */
async function updateDetails(
  shop: ShopContext,
  row: CustomerRow,
  order: OrderRow,
  { stripe, deadline }: GatewayCalls
): Promise<void> {
  const { customerId } = row
  const shipping = shippingOf(order)
  const sent = { ...billingDetails(order), ...(shipping === undefined ? {} : { shipping }) }
  const details = createHash('sha256').update(JSON.stringify(sent)).digest('hex')
  if (customerId === null || row.details === details) return
  try {
    await deadline.call(({ timeout }) => stripe.customers.update(customerId, sent, { timeout }))
    await writeWhenFree(shop.db, (tx) => void tx.orm.update(gatewayCustomers).set({ details }).where(byKey(row)).run())
  } catch (error) {
    if (isUnavailable(error)) throw error
    shop.log.warn('a customer could not be updated', { object: customerId, error: describeError(error) })
  }
}

/** The ids of an account's customers at Stripe. */
export function customersOf(db: Db, userId: number): string[] {
  const rows = db.orm.select().from(gatewayCustomers).where(eq(gatewayCustomers.userId, userId)).all()
  return rows.flatMap(({ customerId }) => (customerId === null ? [] : [customerId]))
}

/** Forgets which customers at Stripe an account has, and the email that they were created with. */
export function forgetCustomersOf(tx: Tx, userId: number): void {
  tx.orm.delete(gatewayCustomers).where(eq(gatewayCustomers.userId, userId)).run()
}

async function forgetCustomer(shop: ShopContext, customerId: string): Promise<void> {
  const gone = eq(gatewayCustomers.customerId, customerId)
  await writeWhenFree(shop.db, (tx) => void tx.orm.delete(gatewayCustomers).where(gone).run())
}

function isCustomerGone(error: unknown): boolean {
  const { missing, error: refusal } = readGatewayError(error)
  return missing && refusal.param === 'customer'
}

function byKey({ userId, gateway, livemode }: Key) {
  return and(
    eq(gatewayCustomers.userId, userId),
    eq(gatewayCustomers.gateway, gateway),
    eq(gatewayCustomers.livemode, livemode)
  )
}
