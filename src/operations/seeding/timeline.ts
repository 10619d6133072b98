import { mails } from '../../shop/mail/schema.ts'
import { gt, max } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'

export const dayMs = 24 * 60 * 60_000

/** One entry of the shop's history, at a time in epoch milliseconds. */
export type TimelineEntry = { at: number; apply: (tx: Tx, at: number) => void }

/**
 * Applies the entries in the order of their times, so that ids, audit rows and ledgers grow as in a real shop. It deletes
 * the emails that they queue, because this history did not happen.
 */
export function replay(tx: Tx, entries: readonly TimelineEntry[]): void {
  const newest =
    tx.orm
      .select({ id: max(mails.id) })
      .from(mails)
      .get()?.id ?? 0
  for (const { at, apply } of entries.toSorted((a, b) => a.at - b.at)) apply(tx, at)
  tx.orm.delete(mails).where(gt(mails.id, newest)).run()
}
