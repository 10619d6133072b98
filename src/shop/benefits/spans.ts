/** A period of one benefit; `key` names what it is a period of. */
export type Period = { key: string; startedAt: number; endsAt: number | null; ended: boolean }

/**
 * Joins periods that follow on each other into one, as a customer sees them who has bought the same thing again: the
 * first one's record with the last one's end. Periods that were taken back stand for themselves.
 *
 * @param periods by their start, the earliest first; the answer is in the same order.
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
