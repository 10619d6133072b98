import { and, desc, eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { setting } from '../settings/settings.ts'
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
  /** To the new address of an account, with the link that makes it the account's. */
  confirm_email: { userId: number; tokenId: number }
  /** To the old address, when the change is requested and when it is done. */
  email_changed: { userId: number; step: 'requested' | 'done' }
  password_changed: { userId: number; billingEmailRemoved?: true }
  /** What the order waits for: a transfer by the buyer, the buyer's bank, or an operator who looks at the payment. */
  order_received: { orderId: number; waitsFor: 'transfer' | 'bank' | 'shop' }
  order_receipt: { orderId: number }
  order_shipped: { orderId: number; shipmentId: number; isPart: boolean }
  /** `moveId` is the row of the order's history that says that the payment failed. */
  payment_failed: { orderId: number; moveId: number }
  order_refunded: { orderId: number; amountMinor: number }
  refund_failed: { orderId: number; amountMinor: number }
  /** About an order that an operator entered for the buyer. */
  payment_link: { orderId: number }
  payment_reminder: { orderId: number; endsAt: number }
  renewal_failed: RenewalFailure
  subscription_cancelled: { orderId: number }
  subscription_ended: { orderId: number }
  affiliate_decision: { affiliateId: number; approved: boolean }
  shop_new_order: { orderId: number }
  /** About all open payment warnings from this one on. */
  shop_payment_warning: { warningId: number }
}
export type MailTemplate = keyof MailData

/** An email without its recipient. */
export type QueuedMail<T extends MailTemplate> = {
  template: T
  data: MailData[T]
  /** The event that caused it. */
  eventId?: number
  /** Not before this time (epoch ms): until then, it can become obsolete. */
  sendAt?: number
}

/**
 * Queues an email in the transaction that it reports on, unless the setting `emails.off` names its template. The mailer
 * sends it after the commit.
 */
export function queueMail<T extends MailTemplate>(
  tx: Tx,
  mail: QueuedMail<T> & { recipient: string },
  now: number
): void {
  const off: readonly MailTemplate[] = setting(tx, 'emails.off')
  if (off.includes(mail.template)) return
  tx.orm
    .insert(mails)
    .values({
      template: mail.template,
      recipient: mail.recipient,
      data: mail.data,
      eventId: mail.eventId ?? null,
      state: 'queued',
      nextAttemptAt: mail.sendAt ?? now,
      createdAt: now
    })
    .run()
}

/** Queues an email to the shop itself, if `shop.notifyEmail` is set. */
export function queueMailToShop<T extends MailTemplate>(tx: Tx, mail: QueuedMail<T>, now: number): void {
  const recipient = setting(tx, 'shop.notifyEmail')
  if (recipient !== '') queueMail(tx, { ...mail, recipient }, now)
}

/** Whether an email of a template is queued whose content is not composed yet. */
export function isQueued(tx: Tx, template: MailTemplate): boolean {
  const untried = and(eq(mails.state, 'queued'), eq(mails.template, template), eq(mails.attempts, 0))
  return tx.orm.select({ id: mails.id }).from(mails).where(untried).get() !== undefined
}

/**
 * The newest email of a template about an order or an account. Emails are stored for 30 days.
 *
 * @throws AppError CONFLICT when none is stored
 */
export function lastMail<T extends MailTemplate>(
  tx: Tx,
  template: T,
  about: { orderId: number } | { userId: number }
): { data: MailData[T]; recipient: string } {
  const [[name, id] = ['', 0]] = Object.entries(about)
  const row = tx.orm
    .select()
    .from(mails)
    .where(and(eq(mails.template, template), sql`${mails.data} ->> ${name} = ${id}`))
    .orderBy(desc(mails.id))
    .limit(1)
    .get()
  if (row === undefined)
    throw new AppError('CONFLICT', `The shop has not sent the email ${template} about this in the last 30 days.`)
  return { data: row.data as MailData[T], recipient: row.recipient }
}
