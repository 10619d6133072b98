import type Stripe from 'stripe'
import type { Booking } from './booking.ts'

/** What Stripe is asked to send here, and what is listed where it could not (20 types at most go into one list). */
export const handledTypes: readonly Stripe.Event.Type[] = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.processing',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.refunded',
  'charge.refund.updated',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed'
]

/** What an event comes to, once everything has been fetched. */
export type Effect = (booking: Booking) => 'applied' | 'ignored'

/** The fields of an event's object that say what it is about; some of Stripe's events carry none at all. */
type EventObject = {
  id?: string
  metadata?: Record<string, string> | null
  client_reference_id?: string | null
  payment_intent?: string | { id: string } | null
  parent?: Stripe.Invoice.Parent | null
}

export function objectOf(event: Stripe.Event): EventObject {
  return (event.data as Stripe.Event.Data | undefined)?.object ?? {}
}
