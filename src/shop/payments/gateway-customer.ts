import { createHash } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import type { OrderRow } from '../orders/find.ts'
import type { Deadline } from './gateway.ts'
import { isUnavailable, readGatewayError, readyGateway } from './gateway.ts'
import { customerMetadataOf } from './gateway-state.ts'
import { gatewayCustomers } from './schema.ts'
import type { Address } from '../orders/address.ts'
import { setting } from '../settings/settings.ts'
import { domainToASCII } from 'node:url'

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

type Order = Pick<OrderRow, 'id' | 'email' | 'contact' | 'billingAddress' | 'shippingAddress'>

/** Stripe's limit for a statement descriptor with its prefix (docs.stripe.com/get-started/account/statement-descriptors). */
const longestSuffix = 22

/** The details of a payment at Stripe beside its amount: for receipts, for the bank, and for Radar's fraud detection. */
export function paymentDetails({ db }: Pick<ShopContext, 'db'>, order: Order) {
  const shipping = shippingOf(order)
  const suffix = setting(db, 'payments.statementSuffix').replaceAll('{order}', `ORDER ${order.id}`)
  const receipt = order.email !== null && setting(db, 'payments.receiptEmail') ? gatewayEmail(order.email) : null
  return {
    ...(shipping === undefined ? {} : { shipping }),
    ...(receipt === null ? {} : { receipt_email: receipt }),
    ...(suffix === '' ? {} : { statement_descriptor_suffix: suffix.slice(0, longestSuffix).trim() })
  }
}

/** The payment method configuration that the operator has chosen. */
export function methodConfiguration({ db }: Pick<ShopContext, 'db'>): { payment_method_configuration?: string } {
  const id = setting(db, 'payments.methodConfiguration')
  return id === '' ? {} : { payment_method_configuration: id }
}

/** The buyer's name, email, phone and billing address. */
export function billingDetails(order: Order) {
  const { contact, billingAddress } = order
  const name = nameOf(billingAddress, order)
  const phone = billingAddress?.phone ?? contact.phone
  return {
    ...(name === undefined ? {} : { name }),
    ...(order.email === null ? {} : { email: gatewayEmail(order.email) }),
    ...(phone === undefined ? {} : { phone }),
    ...(billingAddress === null ? {} : { address: toGatewayAddress(billingAddress) })
  }
}

/** The shipping address, if it has a street; Stripe requires a name with it. */
export function shippingOf(
  order: Order
): { name: string; phone?: string; address: Stripe.ShippingAddressParam } | undefined {
  const { shippingAddress, contact } = order
  const name = nameOf(shippingAddress, order)
  const line1 = shippingAddress?.address1
  if (!shippingAddress || line1 === undefined || name === undefined) return undefined
  const phone = shippingAddress.phone ?? contact.phone
  return { name, ...(phone === undefined ? {} : { phone }), address: { ...toGatewayAddress(shippingAddress), line1 } }
}

function nameOf(address: Address | null, { contact }: Order): string | undefined {
  const { firstName = contact.firstName, lastName = contact.lastName } = address ?? {}
  const name = [firstName, lastName].filter((part) => part !== undefined).join(' ')
  return name === '' ? undefined : name
}

function toGatewayAddress({ address1, address2, city, state, postcode, country }: Address): Stripe.AddressParam {
  const parts = { line1: address1, line2: address2, city, state, postal_code: postcode, country }
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
}

/** An email address as Stripe takes it: with its domain in ASCII. */
export function gatewayEmail(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return email.slice(0, at) + domainToASCII(email.slice(at))
}
