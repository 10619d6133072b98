import { and, eq, ne, sum } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { creditsOf } from '../orders/credits.ts'
import type { OrderRow } from '../orders/find.ts'
import { splitRefund } from '../orders/refund-lines.ts'
import type { RefundOfThings } from '../orders/refund-lines.ts'
import { findPayingAttempt } from './attempts.ts'
import type { AttemptRow } from './rows.ts'
import { refunds } from './schema.ts'

/** A card payment that pays an order, and how much of it can go back. */
type Tender = { attempt: AttemptRow; leftMinor: number }

/** A part of a refund and the card payment that it returns; null for what the operator pays back. */
export type RefundPart = { refund: RefundOfThings; attempt: AttemptRow | null }

/**
 * Divides a refund by what paid the order: its own card payment first, then those of the orders whose credits it has, and the
 * rest by hand.
 */
export function divideRefund(db: Db, order: OrderRow, refund: RefundOfThings): RefundPart[] {
  const parts: RefundPart[] = []
  let rest = refund
  for (const { attempt, leftMinor } of tendersOf(db, order.id)) {
    if (rest.amountMinor === 0 || leftMinor <= 0) continue
    const [part, others] = splitRefund(rest, Math.min(leftMinor, rest.amountMinor))
    parts.push({ refund: part, attempt })
    rest = others
  }
  return rest.amountMinor > 0 || parts.length === 0 ? [...parts, { refund: rest, attempt: null }] : parts
}

function tendersOf(db: Db, orderId: number): Tender[] {
  const own = findPayingAttempt(db, orderId)
  const credits = creditsOf(db, orderId).filter(({ credit }) => credit.state === 'spent')
  // What is left of the order limits its refunds, unless another order has paid a part of it.
  if (credits.length === 0) return own === undefined ? [] : [{ attempt: own, leftMinor: Number.POSITIVE_INFINITY }]
  const others = credits.flatMap(({ credit, refund }) =>
    tendersOf(db, refund.orderId).map(({ attempt }) => ({
      attempt,
      leftMinor: Math.min(credit.amountMinor, leftOf(db, attempt))
    }))
  )
  return own === undefined ? others : [{ attempt: own, leftMinor: leftOf(db, own) }, ...others]
}

/** What the gateway can still return of a payment. */
function leftOf(db: Db, { id, amountMinor }: AttemptRow): number {
  const row = db.orm
    .select({ minor: sum(refunds.amountMinor).mapWith(Number) })
    .from(refunds)
    .where(and(eq(refunds.attemptId, id), ne(refunds.state, 'failed')))
    .get()
  return amountMinor - (row?.minor ?? 0)
}
