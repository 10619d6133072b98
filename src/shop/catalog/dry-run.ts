import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'

/**
 * What `work` would answer, without its writes: it is done and taken back, so that a dry run and the real one can never
 * differ.
 */
export function dryRun<T>(db: Db, work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): T {
  const answers: T[] = []
  const takeBack = new Error('Only a rehearsal.')
  try {
    write(db, (tx) => {
      answers.push(work(tx))
      throw takeBack
    })
  } catch (error) {
    if (error !== takeBack) throw error
  }
  const [answer] = answers
  if (answer === undefined) throw takeBack
  return answer
}
