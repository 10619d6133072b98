import type { Tx } from '../../platform/db/database.ts'
import { mails } from './schema.ts'

/**
 * A failed try to charge a renewal of the subscription that an order started. `payUrl` is the gateway's page of the
 * invoice, which only the gateway knows; null when it has none. `nextTryAt` is null after the last try.
 */
export type RenewalFailure = {
  orderId: number
  amountMinor: number
  currency: string
  payUrl: string | null
  nextTryAt: number | null
}

/**
 * What each email template needs, besides the recipient. Links of the shop are derived when the email is composed, so
 * no token of the shop is stored.
 */
export type MailData = {
  verify_email: { userId: number; tokenId: number }
  reset_password: { userId: number; tokenId: number }
  password_changed: { userId: number; billingEmailRemoved?: true }
  order_receipt: { orderId: number }
  order_refunded: { orderId: number; amountMinor: number }
  payment_reminder: { orderId: number; endsAt: number }
  renewal_failed: RenewalFailure
  subscription_ended: { orderId: number }
  affiliate_decision: { affiliateId: number; approved: boolean }
}
export type MailTemplate = keyof MailData

/**
 * Queues an email in the transaction that it reports on. The mailer sends it after the commit.
 *
 * @param mail.eventId the event that caused it
 */
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
