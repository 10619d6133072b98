import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'

/**
 * Runs `work` in a transaction and rolls it back; returns its result. A dry run executes the same code as the real run,
 * so the two cannot differ.
 */
export function dryRun<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  const results: T[] = []
  const rollback = new Error('Rolled back after a dry run.')
  try {
    write(db, (tx) => {
      results.push(work(tx))
      throw rollback
    })
  } catch (error) {
    if (error !== rollback) throw error
  }
  const [result] = results
  if (result === undefined) throw rollback
  return result
}
