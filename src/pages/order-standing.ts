import type { Db } from '../platform/db/database.ts'
import { historyOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { orderStates } from '../shop/orders/states.ts'
import type { OrderState, OrderStatus } from '../shop/orders/states.ts'
import { attemptsOf } from '../shop/payments/attempts.ts'
import type { AttemptRow } from '../shop/payments/rows.ts'

type Waiting =
  /** The buyer has to transfer the money. */
  | 'awaiting_money'
  /** The bank has not decided yet. */
  | 'awaiting_bank'
  /** Not paid in time. */
  | 'expired'

/** What an order's buyer is told: its status, or why it has that status. */
export type Standing = OrderStatus | Waiting

/** How each looks on a page, and where it leaves the order. */
export const standings: Readonly<Record<Standing, Omit<OrderState, 'label'>>> = {
  ...orderStates,
  awaiting_money: {
    to: [],
    paid: false,
    released: false,
    tone: 'wait',
    title: 'Your order is waiting for your payment',
    text: 'We will write to you when your payment has arrived.'
  },
  awaiting_bank: {
    to: [],
    paid: false,
    released: false,
    tone: 'wait',
    title: 'Your bank has not confirmed the payment yet',
    text: 'The payment has started and your bank has not confirmed it yet. You don’t need to do anything else.'
  },
  expired: {
    to: [],
    paid: false,
    released: true,
    tone: 'bad',
    title: 'This order has expired',
    text: 'It was not paid in time, so its items went back on the shelf. You are welcome to order again.'
  }
}

/** Stripe's words for a payment that the bank still has in its hands. */
const waitingWords = new Set(['processing', 'requires_capture', 'complete'])

export function standingOf(db: Db, order: OrderRow, now: number): Standing {
  const [newest] = attemptsOf(db, order.id)
  if (order.status === 'pending') return standingOfPending(order, newest, now)
  if (order.status === 'on-hold' && newest?.kind === 'manual' && order.paidAt === null) return 'awaiting_money'
  if (order.status === 'cancelled' && wasLeft(db, order, newest)) return 'expired'
  return order.status
}

/** Whether the buyer can still pay, as far as the status says: a payment starts from pending. */
export function canBePaid(standing: Standing): boolean {
  return standing === 'pending' || standings[standing].to.includes('pending')
}

function standingOfPending(order: OrderRow, newest: AttemptRow | undefined, now: number): Standing {
  if (isOpen(newest) && waitingWords.has(newest.gatewayStatus ?? '')) return 'awaiting_bank'
  // The job that ends holds may not have come round yet.
  return order.holdEndsAt !== null && order.holdEndsAt <= now ? 'expired' : 'pending'
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
