import type { Browser } from '../../support/browser.ts'

/** How a customer means to buy. */
export type Way =
  | { strategy: 'token_handoff'; card: string; bank: 'not asked' | 'approves' | 'refuses' }
  | { strategy: 'redirect_to_store'; cards: readonly string[] }

/** What the customer was told of a purchase at last; null when no answer ever came. */
export type Told = { status: number; orderId: number | null; paymentStatus: string | null; text: string }

/** One cart under one Idempotency-Key, as its buyer remembers it. */
export type Purchase = {
  key: string
  way: Way
  product: string
  body: object
  told: Told | null
  /** The payment page, or the bank's, said that it was paid. */
  paidOnPage: boolean
}

/** An account as its owner remembers it. */
export type Account = {
  email: string
  browser: Browser
  /** A 2xx said that it was made. */
  acknowledged: boolean
  purchases: Purchase[]
}

/** What an operator asked for and was told: the clients' record of the other side of the counter. */
export type RefundAsked = {
  orderId: number
  /** Null for all that is left. */
  amountMinor: number | null
  outcome: 'done' | 'refused' | 'unanswered'
  text: string
}

/** Everything that somebody outside the shop remembers. */
export type Memory = { accounts: Account[]; refunds: RefundAsked[] }

/** Whether its buyer was told that the money was taken. */
export function wasToldPaid({ told, paidOnPage }: Purchase): boolean {
  return paidOnPage || (told?.status === 200 && told.paymentStatus === 'succeeded')
}
