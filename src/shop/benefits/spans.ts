/** A period of one benefit; periods with the same `key` can be joined. */
export type Period = { key: string; startedAt: number; endsAt: number | null; ended: boolean }

/**
 * Joins consecutive periods into one, because a customer who buys the same again sees one benefit: the first record
 * with the end of the last one. Revoked periods are not joined.
 *
 * @param periods sorted by start, earliest first; the result has the same order
 */
export function joinPeriods<T extends Period>(periods: readonly T[]): T[] {
  const open = new Map<string, T>()
  const joined: T[] = []
  for (const period of periods) {
    const before = open.get(period.key)
    if (!period.ended && before !== undefined && before.endsAt === period.startedAt) {
      before.endsAt = period.endsAt
      continue
    }
    const copy = { ...period }
    joined.push(copy)
    if (!period.ended) open.set(period.key, copy)
  }
  return joined
}
