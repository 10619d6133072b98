import { mails } from './schema.ts'
import { and, asc, eq, gt, lte, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { setBackMs } from '../../platform/clock.ts'
import { rawStatement, statement } from '../../platform/db/statements.ts'

export type MailRow = typeof mails.$inferSelect

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/**
 * The delay after each failed attempt: nine attempts over more than three days. The first delay is longer than an
 * attempt can take, so an email is never claimed again while it is being sent.
 */
const retryDelaysMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, ...[2, 6, 12, 24, 30].map((hours) => hours * hourMs)]
const maxAttempts = retryDelaysMs.length + 1
const longestDelayMs = Math.max(...retryDelaysMs)
const retentionMs = 30 * 24 * hourMs

const firstDue = statement((orm) =>
  orm
    .select()
    .from(mails)
    .where(
      and(
        eq(mails.state, 'queued'),
        // The clock may have been ahead when the row was queued or tried, and set back since: do not wait for that time.
        or(
          lte(mails.nextAttemptAt, sql.placeholder('now')),
          gt(mails.nextAttemptAt, sql.placeholder('longest')),
          and(eq(mails.attempts, 0), gt(mails.createdAt, sql.placeholder('future')))
        )
      )
    )
    .orderBy(asc(mails.nextAttemptAt), asc(mails.id))
    .limit(1)
    .prepare()
)

/** Takes the next email that is due and records the attempt; undefined when none is due. */
export async function claimNext(db: Db, now: number): Promise<MailRow | undefined> {
  const times = { now, longest: now + longestDelayMs, future: now + setBackMs }
  if (firstDue(db).get(times) === undefined) return undefined
  return writeWhenFree(db, (tx) => {
    for (;;) {
      // Read again under the lock: another process may have taken the row meanwhile.
      const due = firstDue(tx).get(times)
      if (due === undefined) return undefined
      if (due.attempts < maxAttempts) return countAttempt(tx, due, now)
      // A crash interrupted the last attempt.
      change(tx, due.id, { state: 'failed', lastError: due.lastError ?? 'gave up' })
    }
  })
}

const underWay = rawStatement<{ now: number }, { id: number }>(
  `SELECT id FROM mails WHERE state = 'queued' AND last_error IS NULL AND (attempts > 0 OR next_attempt_at <= @now) LIMIT 1`
)

/** Whether an email is being sent for the first time, or is due. */
export function isMailUnderWay(db: Db, now: number): boolean {
  return underWay(db).get({ now }) !== undefined
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
