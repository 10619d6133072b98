import type Stripe from 'stripe'
import { randomToken } from '../../platform/crypto/secrets.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { linkSubscription } from '../benefits/subscriptions.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { attemptsOf, createAttempt, getAttempt, updateAttempt } from './attempts.ts'
import type { ReadyGateway } from './gateway.ts'
import { attemptTokenOf, metadataOf } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { gatewayCustomers } from './schema.ts'

/** A subscription of another shop on the same Stripe account, whose renewals that shop charged by itself. */
export type TakeOver = {
  /** The order here that says what renews. */
  orderId: number
  /** The ids at Stripe of its customer and of the payment method that is charged. */
  customer: string
  paymentMethod: string
  name: string
  /** What each renewal charges, in minor units. */
  amountMinor: number
  currency: string
  interval: 'month' | 'year'
  /** When the next renewal is due, and when the subscription ends by itself, in epoch ms. */
  nextAt: number
  endsAt: number | null
}

/** A renewal that is due already is charged so long after the take-over, when the shop has recorded it. */
const graceMs = 60 * 60_000

/** When a take-over at `now` charges for the first time. */
export function firstChargeAt({ nextAt }: Pick<TakeOver, 'nextAt'>, now: number): number {
  return Math.max(nextAt, now + graceMs)
}

/**
 * Creates the subscription at Stripe that renews a subscription of another shop from its next date on, with the payment
 * method that the other shop charged, and links it. Nothing is charged before that date. Repeated after an interruption, it
 * finds the subscription that it created before.
 *
 * @returns the id of the subscription at Stripe
 * @throws what stripe-node throws, for example for a payment method that is gone
 */
export async function takeOverSubscription(shop: ShopContext, gateway: ReadyGateway, terms: TakeOver): Promise<string> {
  const stripe = await gateway.client()
  const { orderId, customer } = terms
  const attempt = await writeWhenFree(shop.db, (tx) => reserve(tx, gateway, terms, shop.clock.now()))
  const known = await findCreated(stripe, customer, attempt)
  const { id: gatewayId, billing_cycle_anchor: anchor } = known ?? (await create(shop, stripe, attempt, terms))
  await writeWhenFree(shop.db, (tx) => {
    const now = shop.clock.now()
    updateAttempt(tx, attempt.id, { objectId: gatewayId }, now)
    linkSubscription(tx, { orderId, gatewayId, currentPeriodEnd: anchor * 1000 }, now)
  })
  return gatewayId
}

/** The attempt that proves that Stripe's subscription belongs to the order. The other shop was paid for the first period. */
function reserve(
  tx: Tx,
  { name: gateway, livemode }: ReadyGateway,
  { orderId, customer }: TakeOver,
  now: number
): AttemptRow {
  const order = getOrder(tx, orderId)
  const known = attemptsOf(tx, orderId).find((attempt) => attempt.gateway === gateway && attempt.livemode === livemode)
  if (known !== undefined) return known
  const { id } = createAttempt(tx, order, { gateway, kind: 'invoice', livemode }, now)
  updateAttempt(tx, id, { gatewayStatus: 'paid', outcome: 'paid', settledAt: now }, now)
  const { userId, email } = order
  if (userId !== null && email !== null)
    tx.orm
      .insert(gatewayCustomers)
      .values({
        userId,
        gateway,
        livemode,
        customerId: customer,
        createKey: `customer-${randomToken()}`,
        email,
        createdAt: now
      })
      .onConflictDoNothing()
      .run()
  return getAttempt(tx, id)
}

async function findCreated(
  stripe: Stripe,
  customer: string,
  { token }: AttemptRow
): Promise<Stripe.Subscription | undefined> {
  for await (const subscription of stripe.subscriptions.list({ customer, status: 'all', limit: 100 }))
    if (attemptTokenOf(subscription.metadata) === token) return subscription
  return undefined
}

async function create(
  shop: ShopContext,
  stripe: Stripe,
  attempt: AttemptRow,
  { customer, paymentMethod, name, amountMinor, currency, interval, endsAt, ...due }: TakeOver
): Promise<Stripe.Subscription> {
  const seconds = (at: number): number => Math.floor(at / 1000)
  const anchor = seconds(firstChargeAt(due, shop.clock.now()))
  const price = await stripe.prices.create(
    {
      currency: currency.toLowerCase(),
      unit_amount: amountMinor,
      recurring: { interval },
      product_data: { name: name.slice(0, 250) }
    },
    { idempotencyKey: `take-over-price-${attempt.token}` }
  )
  return stripe.subscriptions.create(
    {
      customer,
      default_payment_method: paymentMethod,
      items: [{ price: price.id, quantity: 1 }],
      billing_cycle_anchor: anchor,
      // The other shop was paid for the time until then.
      proration_behavior: 'none',
      off_session: true,
      ...(endsAt === null ? {} : { cancel_at: seconds(endsAt) }),
      description: `Order ${attempt.orderId}`,
      metadata: metadataOf(shop, attempt)
    },
    { idempotencyKey: `take-over-${attempt.token}-${anchor}` }
  )
}
