import { readSnapshot } from './database.ts'
import type { Db } from './database.ts'

/** The rows that are read at once, from one snapshot of the database. */
const part = 500

/**
 * A list that is too long for memory: its rows are read in parts of some hundred, each when the caller has used the one
 * before.
 *
 * @param next at most `limit` rows that follow `last`, or the first rows; fewer only at the end of the list
 * @param view what the list shows of the rows of a part, read from the same snapshot as they are
 * @param most the most rows of the list
 */
export function* inParts<Row, Shown>(
  db: Db,
  next: (last: Row | undefined, limit: number) => Row[],
  view: (rows: Row[]) => readonly Shown[],
  most = Infinity
): Generator<Shown, void> {
  let last: Row | undefined
  let left = most
  while (left > 0) {
    const limit = Math.min(part, left)
    const { rows, shown } = readSnapshot(db, () => {
      const rows = next(last, limit)
      return { rows, shown: view(rows) }
    })
    yield* shown
    if (rows.length < limit) return
    last = rows.at(-1)
    left -= rows.length
  }
}

/**
 * Like `inParts`, for a list whose ids are in memory, because its order needs all of them.
 *
 * @param view what the list shows of some hundred rows
 */
export function inPartsById<Shown>(
  db: Db,
  ids: readonly number[],
  view: (ids: number[]) => readonly Shown[]
): Generator<Shown, void> {
  let at = 0
  return inParts(db, (_last: number | undefined, limit) => ids.slice(at, (at += limit)), view)
}
