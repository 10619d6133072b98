import { eq, sql } from 'drizzle-orm'
import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { statement, write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { findAttemptByObject, findAttemptByToken } from './attempts.ts'
import { applyDispute, disputeOf } from './disputes.ts'
import { applyRefunds, refundsOf } from './gateway-refunds.ts'
import { readyGateway } from './gateway.ts'
import { lookUp } from './look-up.ts'
import type { AttemptRow } from './rows.ts'
import { webhookInbox } from './schema.ts'
import { applyGatewayState } from './settle.ts'
import { warn } from './warnings.ts'

const toleranceSeconds = 300

const inboxEntry = statement((orm) =>
  orm
    .select({ eventId: webhookInbox.eventId })
    .from(webhookInbox)
    .where(eq(webhookInbox.eventId, sql.placeholder('id')))
    .prepare()
)

/** What applying an event did; `known` had been applied before. */
export type WebhookOutcome = 'applied' | 'ignored' | 'known'

/**
 * Takes one delivery of the gateway's: the signature first, then the object itself is fetched, then the inbox row and
 * all that follows are one transaction. The event's own copy of the object decides nothing: it may be old.
 *
 * @throws AppError WEBHOOK_SIGNATURE_INVALID; anything else is trouble of our own, after which the gateway sends again.
 */
export async function receiveWebhook(
  shop: ShopContext,
  rawBody: string,
  signature: string | null
): Promise<WebhookOutcome> {
  const stripe = await readyGateway(shop).client()
  const event = verify(shop, stripe, rawBody, signature)
  return applyEvent(shop, stripe, event, 'webhook')
}

function verify(shop: ShopContext, stripe: Stripe, rawBody: string, signature: string | null): Stripe.Event {
  const secret = shop.cards?.webhookSecret
  if (secret === undefined) throw new AppError('CHECKOUT_GATEWAY_NOT_CONFIGURED', 'The webhook secret is not set.')
  const nowSeconds = Math.floor(shop.clock.now() / 1000)
  try {
    assertNotAhead(signature ?? '', nowSeconds)
    return stripe.webhooks.constructEvent(rawBody, signature ?? '', secret, toleranceSeconds, undefined, nowSeconds)
  } catch (error) {
    throw new AppError('WEBHOOK_SIGNATURE_INVALID', 'The signature does not fit.', {}, { cause: describeError(error) })
  }
}

/** stripe-node refuses what is old but takes what comes from the future. */
function assertNotAhead(signature: string, nowSeconds: number): void {
  const signedAt = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature)?.[1] ?? Number.NaN)
  if (!(signedAt - nowSeconds <= toleranceSeconds)) throw new Error('the timestamp is missing or ahead of the clock')
}

/** Applies one event, whether it was delivered or found in the gateway's list of what never was. */
export async function applyEvent(
  shop: ShopContext,
  stripe: Stripe,
  event: Stripe.Event,
  by: string
): Promise<WebhookOutcome> {
  if (isKnown(shop.db, event.id)) return 'known'
  const effect = await effectOf(shop, stripe, event, by)
  const outcome = write(shop.db, (tx): WebhookOutcome => {
    if (isKnown(tx, event.id)) return 'known'
    const now = shop.clock.now()
    const done = effect?.(tx, now) ?? 'ignored'
    tx.orm
      .insert(webhookInbox)
      .values({
        eventId: event.id,
        type: event.type,
        objectId: objectIdOf(event) ?? null,
        outcome: done,
        eventCreatedAt: event.created * 1000,
        appliedAt: now
      })
      .run()
    return done
  })
  shop.log.info('a gateway event', { event: event.id, type: event.type, outcome, by })
  return outcome
}

function isKnown(db: Db, eventId: string): boolean {
  return inboxEntry(db).get({ id: eventId }) !== undefined
}

type Effect = (tx: Tx, now: number) => 'applied' | 'ignored'

/** Fetches what the event is about and answers with what is to be done; undefined for what concerns us nothing. */
async function effectOf(
  shop: ShopContext,
  stripe: Stripe,
  event: Stripe.Event,
  by: string
): Promise<Effect | undefined> {
  if (event.livemode !== shop.cards?.livemode) return () => 'ignored'
  if (/^(checkout\.session|payment_intent)\./.test(event.type)) return paymentEffect(shop, stripe, event, by)
  if (/^(charge\.refund|refund\.|charge\.refunded)/.test(event.type)) return refundEffect(shop, stripe, event, by)
  if (event.type.startsWith('charge.dispute.')) return disputeEffect(shop, stripe, event, by)
  return undefined
}

async function paymentEffect(shop: ShopContext, stripe: Stripe, event: Stripe.Event, by: string): Promise<Effect> {
  const attempt = findAttempt(shop.db, event)
  if (attempt === undefined) return foreign(event)
  const state = await lookUp(stripe, { ...attempt, objectId: attempt.objectId ?? sessionOrIntent(attempt, event) })
  if (state === undefined) return () => 'ignored'
  return (tx, now) => {
    applyGatewayState(tx, attempt.id, state, by, now)
    return 'applied'
  }
}

/** The event may be quicker than the answer that would have told us the object's id. */
function sessionOrIntent(attempt: AttemptRow, event: Stripe.Event): string | null {
  const isSession = event.type.startsWith('checkout.session.')
  return (attempt.kind === 'checkout_session') === isSession ? (objectIdOf(event) ?? null) : null
}

function findAttempt(db: Db, event: Stripe.Event): AttemptRow | undefined {
  const object = event.data.object as { id?: string; metadata?: Record<string, string> | null }
  const byId = object.id === undefined ? undefined : findAttemptByObject(db, object.id)
  return byId ?? (object.metadata?.attempt === undefined ? undefined : findAttemptByToken(db, object.metadata.attempt))
}

/** An object that names an order of ours without the token that only we know is worth a look; others are not ours. */
function foreign(event: Stripe.Event): Effect {
  const object = event.data.object as { id?: string; metadata?: Record<string, string> | null }
  if (object.metadata?.order_id === undefined || object.id === undefined) return () => 'ignored'
  const objectId = object.id
  const message = `${objectId} names an order of this shop but was not started by it.`
  return (tx, now) => {
    warn(tx, { orderId: null, kind: 'foreign_object', objectId, message }, now)
    return 'ignored'
  }
}

async function refundEffect(
  shop: ShopContext,
  stripe: Stripe,
  event: Stripe.Event,
  by: string
): Promise<Effect | undefined> {
  const intentId = intentOf(event)
  const attempt = intentId === undefined ? undefined : findAttemptByObject(shop.db, intentId)
  if (attempt === undefined || intentId === undefined) return undefined
  const found = await refundsOf(stripe, intentId)
  return (tx, now) => applyRefunds(tx, attempt, found, by, now)
}

async function disputeEffect(
  shop: ShopContext,
  stripe: Stripe,
  event: Stripe.Event,
  by: string
): Promise<Effect | undefined> {
  const intentId = intentOf(event)
  const attempt = intentId === undefined ? undefined : findAttemptByObject(shop.db, intentId)
  const disputeId = objectIdOf(event)
  if (attempt === undefined || disputeId === undefined) return undefined
  const dispute = disputeOf(await stripe.disputes.retrieve(disputeId))
  return (tx, now) => applyDispute(tx, attempt.orderId, dispute, by, now)
}

function objectIdOf(event: Stripe.Event): string | undefined {
  return (event.data.object as { id?: string }).id
}

/** The PaymentIntent beneath a charge, a refund or a dispute. */
function intentOf(event: Stripe.Event): string | undefined {
  const { payment_intent: intent } = event.data.object as { payment_intent?: string | { id: string } | null }
  return typeof intent === 'string' ? intent : intent?.id
}
