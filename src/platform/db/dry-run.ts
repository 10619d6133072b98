import { writeWhenFree, write } from './database.ts'
import type { Db, Tx } from './database.ts'

/**
 * Runs `work` in a transaction and rolls it back; returns its result. A dry run executes the same code as the real run,
 * so the two cannot differ.
 */
export function dryRun<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  const { run, resultAfter } = rehearsal(work)
  try {
    return write<never>(db, run)
  } catch (error) {
    return resultAfter(error)
  }
}

/** Like `dryRun`, but waits for another process's lock as `writeWhenFree` does. */
export async function dryRunWhenFree<T>(
  db: Db,
  work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  const { run, resultAfter } = rehearsal(work)
  try {
    return await writeWhenFree<never>(db, run)
  } catch (error) {
    return resultAfter(error)
  }
}

/** `run` always throws, so that its transaction is rolled back. `resultAfter` returns what its work returned. */
function rehearsal<T>(work: (tx: Tx) => T): { run: (tx: Tx) => never; resultAfter: (error: unknown) => T } {
  let done: { result: T } | undefined
  const rollback = new Error('Rolled back after a dry run.')
  return {
    run: (tx) => {
      done = { result: work(tx) }
      throw rollback
    },
    resultAfter: (error) => {
      if (error !== rollback || done === undefined) throw error
      return done.result
    }
  }
}
