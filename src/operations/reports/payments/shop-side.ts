import { and, eq, gt, gte, inArray, lt } from 'drizzle-orm'
import type { Db } from '../../../platform/db/database.ts'
import type { CardGateway } from '../../../shop/context.ts'
import { getOrder } from '../../../shop/orders/find.ts'
import { isSurplus } from '../../../shop/payments/attempts.ts'
import type { AttemptRow } from '../../../shop/payments/rows.ts'
import { paymentAttempts, refunds } from '../../../shop/payments/schema.ts'
import type { Difference, Period, ShopSide, StripeSide } from './row.ts'

/** What the shop says about a payment, and what a comparison needs besides. */
export type ShopPayment = { side: ShopSide; currency: string; requestedMinor: number; isSurplus: boolean }

/** What the shop says about an attempt. */
export function readShopSide(db: Db, attempt: AttemptRow): ShopPayment {
  const { renewalOf, status } = getOrder(db, attempt.orderId)
  const rows = db.orm
    .select()
    .from(refunds)
    .where(eq(refunds.orderId, attempt.orderId))
    .all()
    .filter(({ attemptId }) => attemptId === attempt.id)
  const sum = (state: string): number =>
    rows.reduce((total, row) => total + (row.state === state ? row.amountMinor : 0), 0)
  return {
    side: {
      orderId: attempt.orderId,
      renewalOf,
      status,
      isPaid: attempt.outcome === 'paid',
      amountMinor: attempt.amountMinor,
      refundedMinor: sum('done')
    },
    currency: attempt.currency,
    requestedMinor: sum('requested'),
    isSurplus: isSurplus(db, attempt)
  }
}

/** What the shop says about a renewal that it does not know: the order that started the subscription. */
export function readUnknownRenewal(db: Db, { orderId }: AttemptRow): ShopSide {
  const { status } = getOrder(db, orderId)
  return { orderId, renewalOf: null, status, isPaid: false, amountMinor: null, refundedMinor: 0 }
}

/** How Stripe's word about a charge differs from the shop's; refunds compare with lost disputes, which the shop records as refunds. */
export function compareSides(
  { amountMinor, refundedMinor, disputeLostMinor }: StripeSide,
  currency: string,
  payment: ShopPayment | null
): Difference[] {
  if (payment === null) return ['charge_not_in_shop']
  const { side, requestedMinor } = payment
  const returnedMinor = refundedMinor + disputeLostMinor
  // A payment that did not match its order went back as a whole, and the shop knows: nothing is left to compare.
  if (!side.isPaid && returnedMinor === amountMinor && side.refundedMinor === amountMinor) return []
  const differs = amountMinor !== side.amountMinor || currency !== payment.currency
  const isStanding = payment.isSurplus && returnedMinor < amountMinor
  const found: (readonly [Difference, boolean])[] = [
    ['charge_not_in_shop', !side.isPaid],
    ['amount_differs', differs],
    ['refund_not_in_shop', returnedMinor > side.refundedMinor + requestedMinor],
    ['refund_not_at_stripe', returnedMinor < side.refundedMinor],
    ['paid_twice', isStanding]
  ]
  return found.filter(([, applies]) => applies).map(([difference]) => difference)
}

/** The card payments that the shop recorded within a period, in the gateway and mode that it uses. */
export function paidAttempts(db: Db, { name, livemode }: CardGateway, { from, to }: Period): AttemptRow[] {
  return db.orm
    .select()
    .from(paymentAttempts)
    .where(
      and(
        eq(paymentAttempts.outcome, 'paid'),
        eq(paymentAttempts.gateway, name),
        eq(paymentAttempts.livemode, livemode),
        inArray(paymentAttempts.kind, ['checkout_session', 'payment_intent', 'invoice']),
        gt(paymentAttempts.amountMinor, 0),
        gte(paymentAttempts.settledAt, from),
        lt(paymentAttempts.settledAt, to)
      )
    )
    .all()
}
