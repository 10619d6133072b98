import type { App } from '../../app.ts'
import { restAfter } from '../../platform/clock.ts'
import { syncWrites, writeUnsynced } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { MovedRows } from '../../shop/moved/moved-rows.ts'
import { SubjectTally } from './report.ts'
import type { SubjectReport } from './report.ts'

/** What the subjects of an import share. */
export type Move = {
  /** The shop, or a copy of it in a dry run. */
  shop: App
  moved: MovedRows
  isDryRun: boolean
  now: number
  signal: AbortSignal | undefined
  /** Shows what is being done. */
  step(text: string): void
}

/** Rows in one transaction. Checkouts wait for the lock while it runs. */
const batchRows = 10
/** The share of the time in which an import holds the lock. */
const share = 1 / 2

/**
 * Writes rows in small transactions, and leaves the lock to the shop between them. An import can be repeated, so only its end
 * waits for the disk.
 */
export async function writeInBatches<T>(move: Move, rows: readonly T[], writeRow: (tx: Tx, row: T) => void) {
  for (let from = 0; from < rows.length; from += batchRows) {
    move.signal?.throwIfAborted()
    const startedAt = performance.now()
    writeUnsynced(move.shop.db, (tx) => {
      for (const row of rows.slice(from, from + batchRows)) writeRow(tx, row)
    })
    if (!move.isDryRun) await restAfter(startedAt, share)
  }
}

/** Runs the import of one subject, shows its progress and returns its report. */
export async function moveSubject(
  move: Move,
  subject: string,
  work: (tally: SubjectTally) => AsyncIterable<unknown>
): Promise<SubjectReport> {
  const tally = new SubjectTally(subject)
  move.step(subject)
  for await (const _part of work(tally)) move.step(`${subject}: ${tally.done}`)
  syncWrites(move.shop.db)
  return tally.build()
}
