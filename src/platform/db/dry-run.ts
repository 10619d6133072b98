import { write } from './database.ts'
import type { Db, Tx } from './database.ts'

/**
 * Runs `work` in a transaction and rolls it back; returns its result. A dry run executes the same code as the real run,
 * so the two cannot differ.
 */
export function dryRun<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  let done: { result: T } | undefined
  const rollback = new Error('Rolled back after a dry run.')
  try {
    write(db, (tx) => {
      done = { result: work(tx) }
      throw rollback
    })
  } catch (error) {
    if (error !== rollback || done === undefined) throw error
    return done.result
  }
  throw rollback
}
