import { mails } from '../../shop/mail/schema.ts'
import { gt, max } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'

export const dayMs = 24 * 60 * 60_000

/** Something that happened to the shop at a certain time. */
export type Moment = { at: number; happens: (tx: Tx, at: number) => void }

/**
 * Lets them happen in the order of their times, so that ids, audit rows and ledgers grow as they would have. Nobody is
 * written to about a history that never was: the messages it queues are dropped.
 */
export function relive(tx: Tx, moments: readonly Moment[]): void {
  const newest =
    tx.orm
      .select({ id: max(mails.id) })
      .from(mails)
      .get()?.id ?? 0
  for (const { at, happens } of moments.toSorted((a, b) => a.at - b.at)) happens(tx, at)
  tx.orm.delete(mails).where(gt(mails.id, newest)).run()
}
