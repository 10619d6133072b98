import type Stripe from 'stripe'
import { formatMoney } from '../../platform/money.ts'
import { readGatewayError } from './gateway.ts'
import type { GatewayFailure } from './gateway.ts'
import type { AttemptRow } from './rows.ts'
import type { ShopContext } from '../context.ts'
import { z } from 'zod'
import { parseWith } from '../../platform/http/validation.ts'
import type { UnitOfWork } from './warnings.ts'

/** The gateway's state of one attempt, reduced to the fields that the shop decides by. */
export type GatewayState = {
  objectId: string
  paymentIntentId: string | null
  /** `open`: the buyer can still pay; `waiting`: the bank decides; `action`: the buyer must authenticate at the bank. */
  verdict: 'paid' | 'open' | 'waiting' | 'action' | 'failed' | 'expired'
  /** The status in the gateway's own vocabulary. */
  status: string
  amountMinor: number
  currency: string
  livemode: boolean
  /** The attempt's token as the object carries it. */
  token: string | null
  email: string | null
  /**
   * What the gateway gives for the number of the card, the same for each payment with it, and the country of the bank that
   * issued it; null if it is not a card.
   */
  card: { fingerprint: string | null; country: string | null } | null
  /** Where the buyer authenticates at the bank. */
  redirectUrl: string | null
  url: string | null
  /** Why the last payment failed. */
  failure: GatewayFailure | null
  /** The subscription that the payment started, and the end of its paid period (epoch ms). */
  subscription: { id: string; periodEnd: number } | null
}

const intentVerdicts: Readonly<Record<string, GatewayState['verdict']>> = {
  succeeded: 'paid',
  processing: 'waiting',
  requires_capture: 'waiting',
  requires_action: 'action',
  requires_confirmation: 'open',
  canceled: 'failed'
} satisfies Partial<Record<Stripe.PaymentIntent.Status, GatewayState['verdict']>>

/** Reads a PaymentIntent. */
export function stateOfIntent(intent: Stripe.PaymentIntent): GatewayState {
  return {
    objectId: intent.id,
    paymentIntentId: intent.id,
    verdict: intentVerdict(intent),
    status: intent.status,
    amountMinor: intent.status === 'succeeded' ? intent.amount_received : intent.amount,
    currency: intent.currency.toUpperCase(),
    livemode: intent.livemode,
    token: attemptTokenOf(intent.metadata),
    email: intent.receipt_email ?? objectOf(intent.payment_method)?.billing_details?.email ?? null,
    card: cardOf(intent.payment_method),
    redirectUrl: intent.next_action?.redirect_to_url?.url ?? null,
    url: null,
    failure: intent.last_payment_error ? readGatewayError(intent.last_payment_error) : null,
    subscription: null
  }
}

function cardOf(method: Stripe.PaymentIntent['payment_method'] | undefined): GatewayState['card'] {
  const card = objectOf(method)?.card
  return card === undefined ? null : { fingerprint: card.fingerprint ?? null, country: card.country ?? null }
}

/** An intent without a payment method was declined or not tried yet; its last error tells which. */
function intentVerdict({ status, last_payment_error: lastError }: Stripe.PaymentIntent): GatewayState['verdict'] {
  if (status === 'requires_payment_method') return lastError ? 'failed' : 'open'
  return intentVerdicts[status] ?? 'waiting'
}

/** Whether the last known state of a payment is that the bank decides. */
export function isAtTheBank({ gatewayStatus }: Pick<AttemptRow, 'gatewayStatus'>): boolean {
  return gatewayStatus === 'complete' || intentVerdicts[gatewayStatus ?? ''] === 'waiting'
}

/** Reads a Checkout Session; its payment method, `subscription` and `invoice.payments` should be expanded. */
export function stateOfSession(session: Stripe.Checkout.Session): GatewayState {
  return {
    objectId: session.id,
    paymentIntentId: idOf(session.payment_intent) ?? firstPaymentOf(session.invoice),
    verdict: sessionVerdict(session),
    status: session.payment_status === 'paid' ? 'paid' : (session.status ?? session.payment_status),
    amountMinor: session.amount_total ?? 0,
    currency: (session.currency ?? '').toUpperCase(),
    livemode: session.livemode,
    token: attemptTokenOf(session.metadata),
    email: session.customer_details?.email ?? session.customer_email,
    card:
      cardOf(objectOf(session.payment_intent)?.payment_method) ??
      cardOf(objectOf(session.subscription)?.default_payment_method),
    redirectUrl: null,
    url: session.url,
    failure: null,
    subscription: subscriptionOf(session.subscription)
  }
}

/** A page that is complete but unpaid waits for the bank until its payment fails. */
function sessionVerdict(session: Stripe.Checkout.Session): GatewayState['verdict'] {
  if (session.payment_status === 'paid' || session.payment_status === 'no_payment_required') return 'paid'
  if (session.status === 'expired') return 'expired'
  if (session.status !== 'complete') return 'open'
  const intent = objectOf(session.payment_intent)
  const gaveUp = objectOf(session.subscription)?.status === 'incomplete_expired'
  return gaveUp || (intent !== undefined && intentVerdict(intent) === 'failed') ? 'failed' : 'waiting'
}

function subscriptionOf(reference: Stripe.Checkout.Session['subscription']): GatewayState['subscription'] {
  const subscription = objectOf(reference)
  return subscription === undefined ? null : { id: subscription.id, periodEnd: periodEndOf(subscription) }
}

/** The end of the current period, epoch ms. */
export function periodEndOf(subscription: Stripe.Subscription): number {
  return Math.max(...subscription.items.data.map((item) => item.current_period_end), 0) * 1000
}

/** The first payment of a subscription belongs to its invoice. */
function firstPaymentOf(reference: Stripe.Checkout.Session['invoice']): string | null {
  return idOf(objectOf(reference)?.payments?.data[0]?.payment.payment_intent ?? null)
}

/** The id of a reference, expanded or not. */
export function idOf(reference: string | { id: string } | null | undefined): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null)
}

/** The expanded object of a reference; undefined when it is only an id. */
function objectOf<T extends object>(reference: string | T | null | undefined): T | undefined {
  return typeof reference === 'string' || reference === null ? undefined : reference
}

/**
 * Why an object cannot be the payment of an attempt, for the operator. Another `amount` can be accepted or returned,
 * another `currency` can be returned, and a `foreign` object is another payment.
 */
export type Mismatch = { kind: 'amount' | 'currency' | 'foreign'; reason: string }

/** Compares an object with its attempt; undefined when it matches. */
export function mismatch(attempt: AttemptRow, state: GatewayState): Mismatch | undefined {
  if (state.token !== attempt.token) return { kind: 'foreign', reason: 'it does not carry the token of this payment' }
  if (state.livemode !== attempt.livemode) {
    const reason = state.livemode ? 'it is a live payment in a test shop' : 'it is a test payment in a live shop'
    return { kind: 'foreign', reason }
  }
  if (state.currency !== attempt.currency)
    return { kind: 'currency', reason: `it is in ${state.currency}, the order in ${attempt.currency}` }
  if (state.amountMinor === attempt.amountMinor) return undefined
  const [theirs, ours] = [
    formatMoney(state.amountMinor, state.currency),
    formatMoney(attempt.amountMinor, attempt.currency)
  ]
  return { kind: 'amount', reason: `its amount is ${theirs}, the order's is ${ours}` }
}

type Metadata = Stripe.Metadata | null | undefined

/**
 * The names under which Shopstead marks its objects at Stripe. Other software uses the same Stripe account with names
 * such as WooCommerce's `order_id`, and a second Shopstead uses these very names: `shopstead_shop` tells the two apart.
 */
const names = {
  shop: 'shopstead_shop',
  order: 'shopstead_order',
  attempt: 'shopstead_attempt',
  refund: 'shopstead_refund',
  user: 'shopstead_user'
} as const

/** The metadata of everything that pays an order: which shop, which order, and the payment attempt's secret token. */
export function metadataOf({ keys }: Pick<ShopContext, 'keys'>, attempt: AttemptRow): Stripe.MetadataParam {
  return { [names.shop]: keys.shopId, [names.order]: String(attempt.orderId), [names.attempt]: attempt.token }
}

/** The metadata of an account's customer at Stripe. */
export function customerMetadataOf({ keys }: Pick<ShopContext, 'keys'>, userId: number): Stripe.MetadataParam {
  return { [names.shop]: keys.shopId, [names.user]: String(userId) }
}

/** The metadata of a refund that this shop requests; `key` finds our row again. */
export function refundMetadataOf(
  { keys }: Pick<ShopContext, 'keys'>,
  { orderId, key }: { orderId: number; key: string }
): Stripe.MetadataParam {
  return { [names.shop]: keys.shopId, [names.order]: String(orderId), [names.refund]: key }
}

/** The token of the payment attempt that an object belongs to. */
export function attemptTokenOf(metadata: Metadata): string | null {
  return metadata?.[names.attempt] ?? null
}

/** The key of the refund row that an object belongs to. */
export function refundKeyOf(metadata: Metadata): string | null {
  return metadata?.[names.refund] ?? null
}

/** The payment attempt and the order that an object of this shop names; null when another shop or software made it. */
export function ownership(
  { keys }: Pick<ShopContext, 'keys'>,
  metadata: Metadata
): { token: string; orderId: string } | null {
  const token = attemptTokenOf(metadata)
  const orderId = metadata?.[names.order]
  if (token === null || orderId === undefined || metadata?.[names.shop] !== keys.shopId) return null
  return { token, orderId }
}

type Options = { timeout?: number }

type GatewayObject = {
  read: (stripe: Stripe, id: string, options: Options) => Promise<GatewayState>
  /** Ends it, so that it can no longer be charged. */
  end: (stripe: Stripe, id: string, options: Options) => Promise<GatewayState>
}

/** The kind of object that an attempt's `objectId` names at the gateway; null if there is nothing to read or end. */
const objects: Readonly<Record<AttemptRow['kind'], GatewayObject | null>> = {
  checkout_session: {
    async read(stripe, id, options) {
      const expand = ['payment_intent.payment_method', 'subscription.default_payment_method', 'invoice.payments']
      return stateOfSession(await stripe.checkout.sessions.retrieve(id, { expand }, options))
    },
    end: async (stripe, id, options) => stateOfSession(await stripe.checkout.sessions.expire(id, {}, options))
  },
  payment_intent: {
    async read(stripe, id, options) {
      return stateOfIntent(await stripe.paymentIntents.retrieve(id, { expand: ['payment_method'] }, options))
    },
    end: async (stripe, id, options) => stateOfIntent(await stripe.paymentIntents.cancel(id, {}, options))
  },
  // The attempt of a renewal is created after its invoice was paid.
  invoice: null,
  manual: null,
  none: null
}

/** The gateway's state of an attempt; undefined when the attempt has no object at the gateway yet. */
export async function lookUp(
  stripe: Stripe,
  { objectId, kind }: Pick<AttemptRow, 'objectId' | 'kind'>,
  options: Options = {}
): Promise<GatewayState | undefined> {
  return objectId === null ? undefined : objects[kind]?.read(stripe, objectId, options)
}

/**
 * Expires a page or cancels an intent, so that it cannot be charged any more, and returns its state: `paid` when the buyer
 * was faster. Undefined when the gateway does not know the object.
 */
export async function callOff(
  stripe: Stripe,
  attempt: Pick<AttemptRow, 'objectId' | 'kind'>,
  options: Options = {}
): Promise<GatewayState | undefined> {
  const { objectId, kind } = attempt
  if (objectId === null) return undefined
  try {
    return await objects[kind]?.end(stripe, objectId, options)
  } catch (error) {
    const { missing, answered } = readGatewayError(error)
    if (missing) return undefined
    if (!answered) throw error
    // The gateway refuses when the object is paid or over; its state tells which.
    const state = await lookUp(stripe, attempt, options)
    if (state?.verdict === 'open' || state?.verdict === 'action') throw error
    return state
  }
}

/** The gateway's answer; undefined for an object that the gateway does not know. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (readGatewayError(error).missing) return undefined
    throw error
  }
}

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

/** An event of Stripe's second kind, a thin event: its object is only named, and its time is text. */
const thinShape = z.looseObject({
  object: z.literal('v2.core.event'),
  id: text.min(1),
  type: text.min(1),
  livemode: z.boolean().default(false),
  created: z.iso.datetime().transform((at) => Date.parse(at)),
  related_object: z.looseObject({ id: text.nullish() }).nullish()
})

/** @throws AppError VALIDATION_FAILED for anything that is not a Stripe event. */
export function readEvent(raw: unknown): GatewayEvent {
  const thin = thinShape.safeParse(raw)
  if (thin.success) {
    const { id, type, livemode, created: createdAt, related_object: object } = thin.data
    return { id, type, livemode, createdAt, objectId: object?.id ?? null }
  }
  const { id, type, livemode, created, data } = parseWith(eventShape, raw)
  return { id, type, livemode, createdAt: created * 1000, objectId: data?.object?.id ?? null }
}
