import type { Tx } from '../../platform/db/database.ts'
import { insertStatement, rawStatement } from '../../platform/db/statements.ts'
import { events, mails } from './schema.ts'

/** Everything a shop would want to hear of (CONTRACT 9), with what each says. Ids, states and sums: no person's address. */
export type ShopEvents = {
  'account.registered': { userId: number }
  'account.verified': { userId: number }
  'account.deactivated': { userId: number }
  'order.created': { orderId: number; totalMinor: number; currency: string }
  'order.paid': { orderId: number; totalMinor: number; currency: string }
  'order.status_changed': { orderId: number; from: string; to: string }
  'order.refunded': { orderId: number; amountMinor: number; currency: string; full: boolean }
  'order.disputed': { orderId: number; disputeId: string; status: string }
  'referral.created': ReferralFacts
  'referral.accepted': ReferralFacts
  'referral.rejected': ReferralFacts & { reason: string }
  'referral.paid': ReferralFacts & { payoutId: number }
  'affiliate.applied': { affiliateId: number }
  'affiliate.approved': { affiliateId: number }
  'affiliate.rejected': { affiliateId: number }
  'affiliate.terms_accepted': { affiliateId: number; version: string }
  'membership.started': { membershipId: number; userId: number; plan: string }
  'membership.ended': { membershipId: number; userId: number; plan: string }
  'subscription.started': { subscriptionId: number; userId: number }
  'subscription.renewed': { subscriptionId: number; userId: number; currentPeriodEnd: string }
  'subscription.ended': { subscriptionId: number; userId: number }
  'donation.received': { donationId: number; orderId: number | null; amountMinor: number; currency: string }
}
type ReferralFacts = { referralId: number; affiliateId: number; orderId: number; amountMinor: number; currency: string }
export type ShopEventType = keyof ShopEvents

const insertEvent = insertStatement(events)

/** Exactly the endpoints that exist at this moment hear of it: none of what was before it was added, all since. */
const queueDeliveries = rawStatement<[{ eventId: number; type: string; now: number }]>(`
  INSERT INTO webhook_deliveries (endpoint_id, event_id, state, attempts, next_attempt_at, created_at)
  SELECT id, @eventId, 'queued', 0, @now, @now FROM webhook_endpoints
  WHERE active = 1 AND (types IS NULL OR EXISTS (SELECT 1 FROM json_each(types) WHERE value = @type))`)

/**
 * Writes what happened into the outbox, and a delivery for each endpoint that wants to hear of it, in the transaction
 * that made it happen; returns the event's id.
 */
export function emit<T extends ShopEventType>(tx: Tx, type: T, payload: ShopEvents[T], now: number): number {
  const eventId = insertEvent(tx, { type, payload, createdAt: now })
  queueDeliveries(tx).run({ eventId, type, now })
  return eventId
}

/** What each message needs beside its recipient. Links are derived when it is written, so no token is stored. */
export type MailData = {
  verify_email: { userId: number; tokenId: number }
  reset_password: { userId: number; tokenId: number }
  password_changed: { userId: number }
  order_receipt: { orderId: number }
  order_refunded: { orderId: number; amountMinor: number }
  affiliate_decision: { affiliateId: number; approved: boolean }
}
export type MailTemplate = keyof MailData

/** Queues a message in the transaction whose effect it tells of; the mailer sends it once that has been committed. */
export function queueMail<T extends MailTemplate>(
  tx: Tx,
  mail: { template: T; recipient: string; data: MailData[T]; eventId?: number },
  now: number
): void {
  tx.orm
    .insert(mails)
    .values({
      template: mail.template,
      recipient: mail.recipient,
      data: mail.data,
      eventId: mail.eventId ?? null,
      state: 'queued',
      nextAttemptAt: now,
      createdAt: now
    })
    .run()
}
