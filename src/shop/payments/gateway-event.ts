import type Stripe from 'stripe'
import type { Booking } from './booking.ts'

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
