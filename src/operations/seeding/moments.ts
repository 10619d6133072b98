import { mails } from '../../shop/mail/schema.ts'
import { gt, max } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'

export const dayMs = 24 * 60 * 60_000

/** One entry of the shop's history, at a time in epoch milliseconds. */
export type Moment = { at: number; happens: (tx: Tx, at: number) => void }

/**
 * Applies the entries in the order of their times, so that ids, audit rows and ledgers grow as in a real shop. It deletes
 * the emails that they queue, because this history did not happen.
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
