import { z } from 'zod'
import { parseWith } from '../../platform/http/validation.ts'
import type { UnitOfWork } from './warnings.ts'

/** The event types that the webhook endpoint asks Stripe for, and that the reconciler lists (Stripe takes 20 types at most in one list). */
export const handledTypes = [
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
] as const

/**
 * What the shop reads of a Stripe event: ids only. The object inside an event is rendered at the API version of the
 * endpoint or of the account, which may be years old (docs.stripe.com/webhooks/versioning), and may be out of date; the
 * object itself is fetched at the version that this code is written for.
 */
export type GatewayEvent = {
  id: string
  type: string
  livemode: boolean
  /** Epoch milliseconds. */
  createdAt: number
  /** Null for the few events whose object has no id, such as `balance.available`. */
  objectId: string | null
}

/** What an event changes, once everything it needs has been fetched. */
export type Effect = (unit: UnitOfWork) => 'applied' | 'ignored'

const text = z
  .string()
  .max(5_000)
  .refine((value) => value.isWellFormed())

const eventShape = z.looseObject({
  id: text.min(1),
  type: text.min(1),
  livemode: z.boolean(),
  created: z.int().min(0).max(100_000_000_000),
  data: z.looseObject({ object: z.looseObject({ id: text.nullish() }).nullish() }).nullish()
})

/** @throws AppError VALIDATION_FAILED for anything that is not a Stripe event. */
export function readEvent(raw: unknown): GatewayEvent {
  const { id, type, livemode, created, data } = parseWith(eventShape, raw)
  return { id, type, livemode, createdAt: created * 1000, objectId: data?.object?.id ?? null }
}
