import { emailKey } from '../../platform/text.ts'
import type { Tx } from '../../platform/db/database.ts'
import { evaluateCart, sentCodes } from '../../shop/checkout/cart.ts'
import type { CheckoutQuery } from '../../shop/checkout/input.ts'
import { assertSellable, cartRefusals } from '../../shop/checkout/refusals.ts'
import { decideAttribution } from '../../shop/orders/attribution.ts'
import { insertOrder } from '../../shop/orders/create-order.ts'
import { getOrder } from '../../shop/orders/find.ts'
import { payOrder, moveOrder, recordRefund } from '../../shop/orders/transition.ts'
import type { OrderRow } from '../../shop/orders/find.ts'
import type { Address, OrderContact } from '../../shop/orders/address.ts'
import type { OrderStatus } from '../../shop/orders/states.ts'
import { setting } from '../../shop/settings/settings.ts'
import { dayMs } from './timeline.ts'
import type { TimelineEntry } from './timeline.ts'

/** What a buyer sent to the checkout. */
export type Purchase = {
  userId: number | null
  email: string
  contact: OrderContact
  billingAddress: Address | null
  notes: string | null
  items: readonly { productId: number; variationId: number | undefined; quantity: number }[]
  couponCodes: string[]
  query: CheckoutQuery
}

/** What becomes of an order. */
export type Outcome = {
  state: OrderStatus
  /** A partial refund after completion, in minor units; the order keeps its state. */
  refundMinor?: number | undefined
  /** The actor in the order's history. */
  by: string
}

const minuteMs = 60_000
/** Unpaid seeded orders stay pending this long, so that the demo shop keeps examples of them. */
const unpaidHoldMinutes = 30 * 24 * 60

/**
 * The history of one order from checkout to its final state. The shop's own rules determine prices, coupons, stock,
 * attribution, benefits and referrals at each of its times.
 *
 * @param purchaseOf called at checkout, because the buyer may register only shortly before
 * @param at when the order is placed, in epoch milliseconds
 * @param until the time of the last possible entry, in epoch milliseconds
 */
export function orderTimeline(
  purchaseOf: (tx: Tx) => Purchase,
  outcome: Outcome,
  at: number,
  until: number
): TimelineEntry[] {
  const placed: { id?: number } = {}
  const place: TimelineEntry = {
    at,
    apply: (tx, now) => void (placed.id = placeOrder(tx, purchaseOf(tx), until, now).id)
  }
  const later = stepsTo(outcome).map(({ afterMs, take }): TimelineEntry => ({
    at: Math.min(at + afterMs, until),
    apply(tx, now) {
      if (placed.id === undefined) throw new Error('an order was moved before it was placed')
      take(tx, placed.id, now)
    }
  }))
  return [place, ...later]
}

function placeOrder(tx: Tx, purchase: Purchase, until: number, now: number): OrderRow {
  const { userId, email, contact, billingAddress, notes, items, query } = purchase
  const currency = setting(tx, 'shop.currency')
  const codes = sentCodes({ couponCode: undefined, couponCodes: purchase.couponCodes })
  const taxed = { billingAddress, shippingAddress: null, vatId: null }
  const cart = evaluateCart(tx, { items, codes, currency, taxed }, { userId, emailKey: emailKey(email) }, now)
  assertSellable(cartRefusals(cart))
  const attribution = decideAttribution(tx, query, { coupons: cart.coupons, buyer: { userId, emails: [email] } }, now)
  const draft = {
    userId,
    email,
    contact,
    ...taxed,
    vatCheck: null,
    notes,
    currency,
    shipping: null,
    attribution
  }
  const holdMinutes = Math.ceil((until - now) / minuteMs) + unpaidHoldMinutes
  const channel = {
    strategy: 'redirect_to_store',
    language: null,
    returnUrl: null,
    cancelUrl: null,
    holdMinutes
  } as const
  return insertOrder(tx, { ...draft, ...channel, lines: cart.lines, coupons: cart.coupons }, now)
}

type Step = { afterMs: number; take: (tx: Tx, orderId: number, now: number) => void }

function stepsTo({ state, refundMinor, by }: Outcome): Step[] {
  const move = (afterMs: number, to: OrderStatus, reason: string): Step => ({
    afterMs,
    take: (tx, orderId, now) => void moveOrder(tx, orderId, to, { by, reason }, now)
  })
  const refund = (afterMs: number, amountMinor?: number): Step => ({
    afterMs,
    take: (tx, orderId, now) => refundOrder(tx, orderId, amountMinor, by, now)
  })
  const paid: Step = {
    afterMs: 2 * minuteMs,
    take: (tx, orderId, now) => void payOrder(tx, orderId, { by, reason: 'paid' }, now)
  }
  const done = [paid, move(2 * dayMs, 'completed', 'sent')]
  const steps: Record<OrderStatus, Step[]> = {
    pending: [],
    failed: [move(minuteMs, 'failed', 'the card was declined')],
    cancelled: [move(60 * minuteMs, 'cancelled', 'it was not paid in time')],
    'on-hold': [move(minuteMs, 'on-hold', 'a bank transfer is awaited')],
    processing: [paid],
    completed: refundMinor === undefined ? done : [...done, refund(6 * dayMs, refundMinor)],
    refunded: [...done, refund(8 * dayMs)]
  }
  return steps[state]
}

function refundOrder(tx: Tx, orderId: number, amountMinor: number | undefined, by: string, now: number): void {
  const { totalMinor, refundedMinor } = getOrder(tx, orderId)
  recordRefund(tx, orderId, amountMinor ?? totalMinor - refundedMinor, { by, reason: 'sent back' }, now)
}
