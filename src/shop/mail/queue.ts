import { mails } from './schema.ts'
import { and, asc, eq, gt, isNull, lte, or, sql, desc } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree, statement } from '../../platform/db/database.ts'
import { setBackMs } from '../../platform/clock.ts'
import { AppError } from '../../errors.ts'
import { setting } from '../settings/settings.ts'

export type MailRow = typeof mails.$inferSelect

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/**
 * The delay after each failed attempt: nine attempts over more than three days. The first delay is longer than an
 * attempt can take (60 s), so an email is never claimed again while it is being sent.
 */
const retryDelaysMs = [2 * minuteMs, 5 * minuteMs, 30 * minuteMs, ...[2, 6, 12, 24, 30].map((hours) => hours * hourMs)]
const maxAttempts = retryDelaysMs.length + 1
const longestDelayMs = Math.max(...retryDelaysMs)
const retentionMs = 30 * 24 * hourMs

/** The first of the queued emails that match. Each condition is a range of an index, however many emails wait. */
const firstQueued = (isDue: SQL | undefined, by: SQLiteColumn) =>
  statement((orm) =>
    orm
      .select()
      .from(mails)
      .where(and(sql`state = 'queued'`, isDue))
      .orderBy(asc(by), asc(mails.id))
      .limit(1)
      .prepare()
  )
const nextDue = firstQueued(lte(mails.nextAttemptAt, sql.placeholder('now')), mails.nextAttemptAt)
// The clock may have been ahead when the row was queued or tried, and set back since: do not wait for that time.
const triedLater = firstQueued(gt(mails.nextAttemptAt, sql.placeholder('longest')), mails.nextAttemptAt)
const queuedLater = firstQueued(and(sql`attempts = 0`, gt(mails.createdAt, sql.placeholder('future'))), mails.createdAt)

function findDue(db: Db, now: number): MailRow | undefined {
  return (
    nextDue(db).get({ now }) ??
    triedLater(db).get({ longest: now + longestDelayMs }) ??
    queuedLater(db).get({ future: now + setBackMs })
  )
}

/** Takes the next email that is due and records the attempt; undefined when none is due. */
export async function claimNext(db: Db, now: number): Promise<MailRow | undefined> {
  if (findDue(db, now) === undefined) return undefined
  return writeWhenFree(db, (tx) => {
    for (;;) {
      // Read again under the lock: another process may have taken the row meanwhile.
      const due = findDue(tx, now)
      if (due === undefined) return undefined
      if (due.attempts < maxAttempts) return countAttempt(tx, due, now)
      // A crash interrupted the last attempt.
      change(tx, due.id, { state: 'failed', lastError: due.lastError ?? 'gave up' })
    }
  })
}

/** Whether an email is being sent for the first time, or is due. */
export function isMailUnderWay(db: Db, now: number): boolean {
  const isDue = or(gt(mails.attempts, 0), lte(mails.nextAttemptAt, now))
  const first = and(eq(mails.state, 'queued'), isNull(mails.lastError), isDue)
  return db.orm.select({ id: mails.id }).from(mails).where(first).limit(1).get() !== undefined
}

function countAttempt(tx: Tx, mail: MailRow, now: number): MailRow {
  const claimed = { attempts: mail.attempts + 1, nextAttemptAt: now + (retryDelaysMs[mail.attempts] ?? hourMs) }
  change(tx, mail.id, claimed)
  return { ...mail, ...claimed }
}

/** Records that the transport accepted an email; it is not sent again. */
export async function markSent(db: Db, id: number, now: number): Promise<void> {
  await writeWhenFree(db, (tx) => change(tx, id, { state: 'sent', sentAt: now, lastError: null }))
}

/**
 * Records why an attempt failed.
 *
 * @param reason without addresses and secrets, since operators see it
 * @param permanent the server refused the email in a way that no retry can change
 * @returns true when there will be no further attempt
 */
export async function recordFailure(db: Db, mail: MailRow, reason: string, permanent: boolean): Promise<boolean> {
  const final = permanent || mail.attempts >= maxAttempts
  await writeWhenFree(db, (tx) => change(tx, mail.id, { state: final ? 'failed' : 'queued', lastError: reason }))
  return final
}

/** Gives an email back that was not sent because the shop stops: the attempt does not count, and the next start sends it. */
export async function returnMail(db: Db, { id, attempts }: MailRow, now: number): Promise<void> {
  await writeWhenFree(db, (tx) => change(tx, id, { attempts: attempts - 1, nextAttemptAt: now }))
}

/** Deletes an obsolete email, so that it does not count as failed. */
export async function deleteMail(db: Db, id: number): Promise<void> {
  await writeWhenFree(db, (tx) => void tx.orm.delete(mails).where(eq(mails.id, id)).run())
}

/** Deletes sent and failed emails, addresses included, 30 days after they were queued, at most `limit`; returns how many. */
export function purgeMails(tx: Tx, now: number, limit: number): number {
  return tx.orm
    .delete(mails)
    .where(and(sql`${mails.state} <> 'queued'`, lte(mails.createdAt, now - retentionMs)))
    .limit(limit)
    .run().changes
}

function change(tx: Tx, id: number, values: Partial<MailRow>): void {
  tx.orm.update(mails).set(values).where(eq(mails.id, id)).run()
}

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

export const removedFields = ['address', 'billingEmail', 'emailChange'] as const
type RemovedField = (typeof removedFields)[number]

export const affiliateDecisions = ['approve', 'reject', 'deactivate'] as const
export type AffiliateDecision = (typeof affiliateDecisions)[number]
export const referralDecisions = ['accepted', 'rejected', 'credited'] as const
export type ReferralDecision = (typeof referralDecisions)[number]

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
  /** `tokenId` of the link that undoes a change that is done. */
  email_changed: { userId: number; step: 'requested' | 'done'; tokenId?: number }
  /** What a reset removed, because an intruder may have left it. */
  password_changed: { userId: number; removed?: readonly RemovedField[] }
  /** 30 days before the account is erased. */
  account_dormant: { userId: number }
  /** What the order waits for: a transfer by the buyer, the buyer's bank, or an operator who looks at the payment. */
  order_received: { orderId: number; waitsFor: 'transfer' | 'bank' | 'shop' }
  order_receipt: { orderId: number }
  /** To a guest whose order has something that only an account can use. */
  claim_order: { orderId: number }
  /** To a guest who asks to end a subscription, with the link that does it. */
  end_subscription: { orderId: number }
  /** A code that proves the recipient's mailbox. It is derived from the recipient. */
  /** `language` is that of the page that asked for the code. */
  mailbox_code: { language?: string }
  order_shipped: { orderId: number; shipmentId: number; isPart: boolean }
  /** `moveId` is the row of the order's history that says that the payment failed. */
  payment_failed: { orderId: number; moveId: number }
  /** `changeId` is what an operator changed in the order. */
  order_changed: { orderId: number; changeId: number }
  /** What should have been added to an order was not paid for in time. */
  change_dropped: { orderId: number; additionId: number }
  /** Goods of an order are to come back. */
  return_expected: { orderId: number; returnId: number }
  /** `toCard`: it went back to the gift card that paid the order. */
  order_refunded: { orderId: number; amountMinor: number; toCard?: boolean }
  refund_failed: { orderId: number; amountMinor: number }
  /** About an order that an operator entered for the buyer. */
  payment_link: { orderId: number }
  payment_reminder: { orderId: number; endsAt: number }
  renewal_failed: RenewalFailure
  subscription_cancelled: { orderId: number }
  subscription_ended: { orderId: number }
  /** To a buyer who withdraws from a contract or cancels a subscription. */
  declaration_received: { declarationId: number }
  /** The code is derived when the email is composed. */
  gift_card: { giftCardId: number }
  affiliate_decision: { affiliateId: number; decision: AffiliateDecision }
  /** The affiliate's rate in basis points from a time (epoch ms) on. */
  affiliate_rate: { affiliateId: number; rateBps: number; from: number }
  /** About referrals that an operator decided about, or credited the affiliate with. */
  affiliate_referrals: {
    affiliateId: number
    referralIds: readonly number[]
    decision: ReferralDecision
    /** In the operator's words. */
    reason: string | null
  }
  affiliate_bonus: { affiliateId: number; amountMinor: number; currency: string; reason: string }
  affiliate_payout: { affiliateId: number; payoutId: number; step: 'paid' | 'failed' }
  /** To a person of the desk, with the link by which they make a passkey. */
  desk_invitation: { invitationId: number }
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
  const untried = and(sql`state = 'queued' AND attempts = 0`, eq(mails.template, template))
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
