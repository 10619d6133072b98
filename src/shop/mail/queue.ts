import { mails } from './schema.ts'
import { and, asc, eq, gt, lte, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { statement } from '../../platform/db/statements.ts'

export type MailRow = typeof mails.$inferSelect

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/**
 * How long after each try the next one follows: nine tries over a good three days. The first is longer than one try can
 * take, so that a claim is never made while an earlier one is still being worked off.
 */
const nextTryMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 6 * hourMs, 12 * hourMs, 24 * hourMs, 30 * hourMs]
const mostTries = nextTryMs.length + 1
const longestPauseMs = Math.max(...nextTryMs)
const keptMs = 30 * 24 * hourMs

const firstDue = statement((orm) =>
  orm
    .select()
    .from(mails)
    .where(
      and(
        eq(mails.state, 'queued'),
        // What was queued or tried by a clock that was ahead does not wait until then.
        or(
          lte(mails.nextAttemptAt, sql.placeholder('now')),
          gt(mails.nextAttemptAt, sql.placeholder('longest')),
          eq(mails.attempts, 0)
        )
      )
    )
    .orderBy(asc(mails.nextAttemptAt), asc(mails.id))
    .limit(1)
    .prepare()
)

/** The next message that is due, its try written down; undefined when there is none. */
export async function claimNext(db: Db, now: number): Promise<MailRow | undefined> {
  const times = { now, longest: now + longestPauseMs }
  if (firstDue(db).get(times) === undefined) return undefined
  return writeWhenFree(db, (tx) => {
    for (;;) {
      // Read again under the lock: another process may have taken it meanwhile.
      const due = firstDue(tx).get(times)
      if (due === undefined) return undefined
      if (due.attempts < mostTries) return countTry(tx, due, now)
      // The last try was cut short by a crash.
      change(tx, due.id, { state: 'failed', lastError: due.lastError ?? 'gave up' })
    }
  })
}

function countTry(tx: Tx, mail: MailRow, now: number): MailRow {
  const claimed = { attempts: mail.attempts + 1, nextAttemptAt: now + (nextTryMs[mail.attempts] ?? hourMs) }
  change(tx, mail.id, claimed)
  return { ...mail, ...claimed }
}

export async function markSent(db: Db, id: number, now: number): Promise<void> {
  await writeWhenFree(db, (tx) => change(tx, id, { state: 'sent', sentAt: now, lastError: null }))
}

/** Remembers why a try failed; true when there will be no further one. `reason` holds no address and no secret. */
export async function noteFailure(db: Db, mail: MailRow, reason: string, permanent: boolean): Promise<boolean> {
  const final = permanent || mail.attempts >= mostTries
  await writeWhenFree(db, (tx) => change(tx, mail.id, { state: final ? 'failed' : 'queued', lastError: reason }))
  return final
}

/** Forgets a message that nobody is to get any more: it has not failed. */
export async function forgetMail(db: Db, id: number): Promise<void> {
  await writeWhenFree(db, (tx) => void tx.orm.delete(mails).where(eq(mails.id, id)).run())
}

/** Forgets messages a month after they were queued, with the addresses they went to; those that still wait stay. */
export function purgeMails(tx: Tx, now: number): number {
  return tx.orm
    .delete(mails)
    .where(and(sql`${mails.state} <> 'queued'`, lte(mails.createdAt, now - keptMs)))
    .run().changes
}

function change(tx: Tx, id: number, values: Partial<MailRow>): void {
  tx.orm.update(mails).set(values).where(eq(mails.id, id)).run()
}
