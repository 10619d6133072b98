import { AppError } from '../../errors.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { toIso } from '../../platform/iso-time.ts'
import type { Generation } from './litestream.ts'

/** The times of a replica come from one clock, to the second. */
const precisionMs = 2_000

/**
 * The generations that got changes after the newest one began. One machine leaves none behind, because Litestream ends a
 * generation before it begins the next. So these are another machine's.
 *
 * @param generations the one that began last first, as `listGenerations` returns them
 */
export function findRivals(generations: readonly Generation[]): Generation[] {
  const [newest, ...others] = generations
  return others.filter(({ updatedAt }) => updatedAt > (newest?.startedAt ?? 0) + precisionMs)
}

/**
 * The generation to restore: the wanted one, or the one that began last.
 *
 * @throws AppError NOT_FOUND when the replica does not have it; CONFLICT without a wanted one when two machines have
 *   written to the replica
 */
export function chooseGeneration(
  { address }: Replica,
  generations: readonly Generation[],
  wanted: string | null
): Generation {
  const chosen = wanted === null ? generations[0] : generations.find(({ id }) => id === wanted)
  if (chosen === undefined) {
    const what = wanted === null ? 'copy of a shop' : `generation ${wanted}`
    throw new AppError('NOT_FOUND', `There is no ${what} at ${address}.${listedGenerations(generations)}`)
  }
  if (wanted !== null || findRivals(generations).length === 0) return chosen
  throw new AppError(
    'CONFLICT',
    `Two machines have written to ${address}, so it is not known which one has the shop. Stop both, and pass ` +
      `--generation with the one to restore:${listedGenerations(generations)}`
  )
}

/** A line for each generation; empty without one. */
export function listedGenerations(generations: readonly Generation[]): string {
  return generations
    .map(({ id, startedAt, updatedAt }) => `\n${id}: began ${toIso(startedAt)}, last change ${toIso(updatedAt)}`)
    .join('')
}
