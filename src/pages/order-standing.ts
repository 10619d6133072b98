import type { Db } from '../platform/db/database.ts'
import { historyOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { attemptsOf } from '../shop/payments/attempts.ts'
import type { AttemptRow } from '../shop/payments/rows.ts'

/** How an order stands in its buyer's eyes. */
export type Standing =
  | 'paid'
  /** The buyer has to transfer the money himself. */
  | 'awaiting_money'
  /** The bank has not decided yet. */
  | 'awaiting_bank'
  /** On hold for another reason: a dispute, a payment that came late. */
  | 'in_question'
  | 'unpaid'
  | 'declined'
  /** Not paid in time. */
  | 'expired'
  | 'cancelled'
  | 'refunded'

/** Stripe's words for a payment that the bank still has in its hands. */
const waitingWords = new Set(['processing', 'requires_capture', 'complete'])

export function standingOf(db: Db, order: OrderRow, now: number): Standing {
  const [newest] = attemptsOf(db, order.id)
  switch (order.status) {
    case 'processing':
    case 'completed':
      return 'paid'
    case 'refunded':
      return 'refunded'
    case 'failed':
      return 'declined'
    case 'on-hold':
      return newest?.kind === 'manual' && order.paidAt === null ? 'awaiting_money' : 'in_question'
    case 'cancelled':
      return wasLeft(db, order, newest) ? 'expired' : 'cancelled'
    case 'pending':
      return standingOfPending(order, newest, now)
    default:
      return order.status satisfies never
  }
}

function standingOfPending(order: OrderRow, newest: AttemptRow | undefined, now: number): Standing {
  if (isOpen(newest) && waitingWords.has(newest.gatewayStatus ?? '')) return 'awaiting_bank'
  // The job that ends holds may not have come round yet.
  return order.holdEndsAt !== null && order.holdEndsAt <= now ? 'expired' : 'unpaid'
}

/** Nobody called it off: the time to pay it ran out. */
function wasLeft(db: Db, order: OrderRow, newest: AttemptRow | undefined): boolean {
  return order.paidAt === null && (newest?.outcome === 'expired' || historyOf(db, order.id).at(-1)?.by === 'hold')
}

function isOpen(attempt: AttemptRow | undefined): attempt is AttemptRow {
  return attempt !== undefined && attempt.outcome === null
}

/** The gateway's page that was opened for this order and can still be paid on. */
export function openPageOf(db: Db, orderId: number): AttemptRow | undefined {
  const [newest] = attemptsOf(db, orderId)
  return isOpen(newest) && newest.kind === 'checkout_session' ? newest : undefined
}
