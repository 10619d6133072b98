import type Stripe from 'stripe'
import { z } from 'zod'
import { parseWith } from '../../platform/http/zod-errors.ts'
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
  id?: string | null
  metadata?: Record<string, string> | null
  client_reference_id?: string | null
  payment_intent?: string | { id: string } | null
  parent?: Stripe.Invoice.Parent | null
}

const text = z
  .string()
  .max(5_000)
  .refine((value) => value.isWellFormed())
const reference = z.union([text, z.looseObject({ id: text })]).nullish()

const anyEvent = z.looseObject({
  id: text.min(1),
  type: text.min(1),
  livemode: z.boolean(),
  created: z.int().min(0).max(100_000_000_000),
  data: z.looseObject({ object: z.looseObject({ id: text.nullish() }).nullish() }).nullish()
})

const subject = z.looseObject({
  id: text.nullish(),
  metadata: z.record(z.string(), text).nullish(),
  client_reference_id: text.nullish(),
  payment_intent: reference,
  parent: z.looseObject({ subscription_details: z.looseObject({ subscription: reference }).nullish() }).nullish()
})

const handledEvent = z.looseObject({ data: z.looseObject({ object: subject }) })

/**
 * What is known to have been signed, as an event: of those that are applied, all that is read. Others may be about
 * anything.
 *
 * @throws VALIDATION_FAILED
 */
export function readEvent(signed: unknown): Stripe.Event {
  const { type } = parseWith(anyEvent, signed)
  if (handledTypes.some((handled) => handled.split('.')[0] === type.split('.')[0])) parseWith(handledEvent, signed)
  return signed as Stripe.Event
}

export function objectOf(event: Stripe.Event): EventObject {
  return (event.data as Partial<Stripe.Event.Data> | null | undefined)?.object ?? {}
}
