import type { Browser } from '../../support/browser.ts'

/** How a customer will pay. */
export type PaymentPlan =
  | { strategy: 'token_handoff'; card: string; bank: 'not required' | 'approves' | 'refuses' }
  | { strategy: 'redirect_to_store'; cards: readonly string[] }

/** The last response to a purchase. */
export type CheckoutReply = { status: number; orderId: number | null; paymentStatus: string | null; text: string }

/** One cart with one Idempotency-Key, as recorded by its buyer. */
export type Purchase = {
  key: string
  plan: PaymentPlan
  product: string
  body: object
  /** Null when there was no response. */
  reply: CheckoutReply | null
  /** The payment page or the bank's page confirmed the payment. */
  paidOnPage: boolean
}

/** An account, as recorded by its owner. */
export type Account = {
  email: string
  browser: Browser
  /** A response of 2xx confirmed it. */
  acknowledged: boolean
  purchases: Purchase[]
}

/** A refund that an operator requested, and its result. */
export type RefundRequest = {
  orderId: number
  /** Null for a full refund. */
  amountMinor: number | null
  outcome: 'done' | 'refused' | 'unanswered'
  text: string
}

/** Everything that the clients recorded. */
export type ClientRecords = { accounts: Account[]; refunds: RefundRequest[] }

/** Whether the buyer got a confirmation of the payment. */
export function isReportedPaid({ reply, paidOnPage }: Purchase): boolean {
  return paidOnPage || (reply?.status === 200 && reply.paymentStatus === 'succeeded')
}
