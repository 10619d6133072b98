import type { App } from '../../src/app.ts'

export type OrderBook = {
  id: number
  status: string
  totalMinor: number
  refundedMinor: number
  renewalOf: number | null
  intent: string
}
export type SubscriptionBook = {
  gatewayId: string
  currentPeriodEnd: number
  pastDueSince: number | null
  cancelAtPeriodEnd: 0 | 1
  cancelledAt: number | null
}
export type WarningBook = { kind: string; objectId: string; isOpen: 0 | 1 }
export type RefundBook = { orderId: number; state: string; gatewayKey: string; amountMinor: number; intent: string }

/** What the shop believes about money: its database, read without the shop's own code. */
export type Books = {
  /** Orders that a card paid, with the payment's intent. */
  paid: OrderBook[]
  refunds: RefundBook[]
  subscriptions: SubscriptionBook[]
  /** Subscriptions that the shop believes have ended at the gateway. */
  ended: Set<string>
  warnings: WarningBook[]
}

/** Reads the books. */
export function readBooks({ db: { sqlite } }: App): Books {
  const all = <Row>(sql: string): Row[] => sqlite.prepare<[], Row>(sql).all()
  return {
    paid: all(`SELECT o.id, o.status, o.total_minor AS totalMinor, o.refunded_minor AS refundedMinor,
        o.renewal_of AS renewalOf, a.payment_intent_id AS intent
      FROM orders o JOIN payment_attempts a ON a.order_id = o.id WHERE a.outcome = 'paid' AND o.paid_at IS NOT NULL`),
    refunds: all(`SELECT r.order_id AS orderId, r.state, r.gateway_key AS gatewayKey, r.amount_minor AS amountMinor,
        a.payment_intent_id AS intent
      FROM refunds r JOIN payment_attempts a ON a.id = r.attempt_id`),
    subscriptions: all(`SELECT g.gateway_id AS gatewayId, s.current_period_end AS currentPeriodEnd,
        s.past_due_since AS pastDueSince, s.cancel_at_period_end AS cancelAtPeriodEnd, s.cancelled_at AS cancelledAt
      FROM gateway_subscriptions g JOIN subscriptions s ON s.order_id = g.order_id`),
    ended: new Set(
      all<{ id: string }>('SELECT gateway_id AS id FROM gateway_subscriptions WHERE ended_at IS NOT NULL').map(
        ({ id }) => id
      )
    ),
    warnings: all('SELECT kind, object_id AS objectId, resolved_at IS NULL AS isOpen FROM payment_warnings')
  }
}
