// The storefront's scripts import this file as it is (pages/browser-module.ts), so it imports nothing itself.

export type Tone = 'good' | 'wait' | 'bad'

type StateRow<To extends string> = {
  /** The states that an order in this one may move to. */
  to: readonly To[]
  /** The buyer has what was paid for, or is about to get it. */
  paid: boolean
  /** The order holds no stock and no coupon use. */
  released: boolean
  /** How pages colour the state. */
  tone: Tone
  /** The state in a list of the buyer's orders. */
  label: string
  /** What the order's own page says. */
  title: string
  text: string
}

const states = {
  pending: {
    to: ['processing', 'completed', 'on-hold', 'failed', 'cancelled'],
    paid: false,
    released: false,
    tone: 'wait',
    label: 'Waiting for payment',
    title: 'Your order is not paid yet',
    text: 'If you have just paid, it can take a moment until the payment arrives here.'
  },
  'on-hold': {
    to: ['processing', 'completed', 'failed', 'cancelled', 'refunded'],
    paid: false,
    released: false,
    tone: 'wait',
    label: 'On hold',
    title: 'Your order is on hold',
    text: 'Its payment has to be settled first. We will write to you.'
  },
  processing: {
    to: ['completed', 'on-hold', 'cancelled', 'refunded'],
    paid: true,
    released: false,
    tone: 'good',
    label: 'Paid, being packed',
    title: 'Thank you for your order',
    text: 'Your payment has arrived.'
  },
  completed: {
    to: ['on-hold', 'refunded'],
    paid: true,
    released: false,
    tone: 'good',
    label: 'Completed',
    title: 'Thank you for your order',
    text: 'Your payment has arrived.'
  },
  failed: {
    to: ['pending', 'processing', 'completed', 'on-hold', 'cancelled'],
    paid: false,
    released: true,
    tone: 'bad',
    label: 'Payment did not go through',
    title: 'The payment did not go through',
    text: 'Nothing was charged. Please try again with another card or another way to pay.'
  },
  cancelled: {
    to: ['processing', 'completed', 'on-hold'],
    paid: false,
    released: true,
    tone: 'bad',
    label: 'Cancelled',
    title: 'This order was cancelled',
    text: 'You are welcome to order again.'
  },
  refunded: {
    to: [],
    paid: false,
    released: true,
    tone: 'good',
    label: 'Refunded',
    title: 'This order was refunded',
    text: 'The money goes back the way you paid. Banks can take a few days until it shows.'
  }
} as const satisfies Record<string, StateRow<string>>

export type OrderStatus = keyof typeof states
export type OrderState = StateRow<OrderStatus>

/** Every order state with all that depends on it alone: to add a state is to add a row, and a migration for its CHECK. */
export const orderStates: Readonly<Record<OrderStatus, OrderState>> = states

const names = Object.keys(states) as [OrderStatus, ...OrderStatus[]]

/** In the order of the table. */
export const orderStatuses: readonly [OrderStatus, ...OrderStatus[]] = names

/** The states of an order that holds no stock and no coupon use. */
export const releasedStatuses: readonly OrderStatus[] = names.filter(isReleasedStatus)

/** A cancelled order comes back only by a payment that really arrived after all (`latePayment`). */
export function mayMove(from: OrderStatus, to: OrderStatus, latePayment: boolean): boolean {
  return orderStates[from].to.includes(to) && (from !== 'cancelled' || latePayment)
}

/** Whether orders in this state are paid and not given up. */
export function isPaidStatus(status: OrderStatus): boolean {
  return orderStates[status].paid
}

/** Whether orders in this state hold no stock and no coupon use. */
export function isReleasedStatus(status: OrderStatus): boolean {
  return orderStates[status].released
}
