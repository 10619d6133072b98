import { keysOf } from '../../platform/typed.ts'
export type Tone = 'good' | 'wait' | 'bad'

type StateRow<To extends string> = {
  /** The states that an order in this state may move to. */
  to: readonly To[]
  /** The order is paid and in force. */
  paid: boolean
  /** The order holds no stock and no coupon use. */
  released: boolean
  /** The colour of the state on pages. */
  tone: Tone
}

const states = {
  pending: {
    to: ['processing', 'completed', 'on-hold', 'failed', 'cancelled'],
    paid: false,
    released: false,
    tone: 'wait'
  },
  'on-hold': {
    to: ['processing', 'completed', 'failed', 'cancelled', 'refunded'],
    paid: false,
    released: false,
    tone: 'wait'
  },
  processing: {
    to: ['completed', 'on-hold', 'cancelled', 'refunded'],
    paid: true,
    released: false,
    tone: 'good'
  },
  completed: {
    to: ['on-hold', 'refunded'],
    paid: true,
    released: false,
    tone: 'good'
  },
  failed: {
    to: ['pending', 'processing', 'completed', 'on-hold', 'cancelled'],
    paid: false,
    released: true,
    tone: 'bad'
  },
  cancelled: {
    to: ['processing', 'completed', 'on-hold'],
    paid: false,
    released: true,
    tone: 'bad'
  },
  refunded: {
    to: [],
    paid: false,
    released: true,
    tone: 'good'
  }
} as const satisfies Record<string, StateRow<string>>

export type OrderStatus = keyof typeof states
export type OrderState = StateRow<OrderStatus>

/** Every order state with its properties. A new state needs a row here, and a migration for its CHECK. */
export const orderStates: Readonly<Record<OrderStatus, OrderState>> = states

const names = keysOf(states)

/** In the order of the table. */
export const orderStatuses: readonly [OrderStatus, ...OrderStatus[]] = names

/** The states of an order that holds no stock and no coupon use. */
export const releasedStatuses: readonly OrderStatus[] = names.filter(isReleasedStatus)

/** The states of an order that holds stock or coupon uses without being paid. */
export const unpaidStatuses: readonly OrderStatus[] = names.filter(
  (status) => !isPaidStatus(status) && !isReleasedStatus(status)
)

/**
 * Whether an order may move between two states. A cancelled order moves only when a payment arrived late
 * (`latePayment`).
 */
export function mayMove(from: OrderStatus, to: OrderStatus, latePayment: boolean): boolean {
  return orderStates[from].to.includes(to) && (from !== 'cancelled' || latePayment)
}

/** Whether orders in this state are paid and in force. */
export function isPaidStatus(status: OrderStatus): boolean {
  return orderStates[status].paid
}

/** Whether orders in this state hold no stock and no coupon use. */
export function isReleasedStatus(status: OrderStatus): boolean {
  return orderStates[status].released
}
