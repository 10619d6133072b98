import type { OrderStatus } from './schema.ts'

/** Every move that an order can make; what is not here is refused. `mayMove` adds what a late payment alone may do. */
export const transitions: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ['processing', 'completed', 'on-hold', 'failed', 'cancelled'],
  failed: ['pending', 'processing', 'completed', 'on-hold', 'cancelled'],
  'on-hold': ['processing', 'completed', 'failed', 'cancelled', 'refunded'],
  processing: ['completed', 'on-hold', 'cancelled', 'refunded'],
  completed: ['on-hold', 'refunded'],
  cancelled: ['processing', 'completed', 'on-hold'],
  refunded: []
}

/** A cancelled order comes back only by a payment that really arrived after all. */
export function mayMove(from: OrderStatus, to: OrderStatus, latePayment: boolean): boolean {
  return transitions[from].includes(to) && (from !== 'cancelled' || latePayment)
}

/** The buyer has what was paid for, or is about to get it. */
export function isPaidStatus(status: OrderStatus): boolean {
  return status === 'processing' || status === 'completed'
}

/** The order keeps no stock and no coupon use. */
export function isReleasedStatus(status: OrderStatus): boolean {
  return status === 'failed' || status === 'cancelled' || status === 'refunded'
}

/** Where a payment takes an order: processing while something has to be shipped, else completed. */
export function paidStatus(items: readonly { type: 'physical' | 'digital' }[]): 'processing' | 'completed' {
  return items.some((item) => item.type === 'physical') ? 'processing' : 'completed'
}
