import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import type { Logger } from '../../platform/log.ts'
import { fetchCopy } from './copies.ts'
import type { Copy } from './copies.ts'
import { findRivals } from './generations.ts'
import { listGenerations } from './litestream.ts'
import type { Generation } from './litestream.ts'

/**
 * The replica's times are to the second, and its clock may differ from ours: a change may follow in the second that a copy
 * has already. A copy that was read so long after its newest change has everything of that second.
 */
const settledAfterMs = 60_000
/** A restore takes at most this share of the time, so that a large database is not copied all the time. */
const restoreShare = 0.1

type Options = {
  config: Pick<Config, 'dataDir' | 'litestreamEnv' | 'followSeconds'>
  replica: Replica
  /** The copy that is served already. */
  present: Copy | undefined
  /** Puts a new copy in the place of the last one. If it throws, the last one stays. */
  serve: (copy: Copy) => Promise<void>
  log: Pick<Logger, 'info' | 'warn'>
}

export type Following = {
  /** When the copy that is served was last the newest state of the replica, in epoch milliseconds; null for not yet. */
  currentAt(): number | null
  stop(): Promise<void>
}

/**
 * Looks at the replica again and again, and fetches a copy when it has changed. A problem is logged when it begins, when it
 * changes and when it ends; the last copy stays in its place.
 */
export function startFollowing({ config, replica, present, serve, log }: Options): Following {
  const controller = new AbortController()
  const { signal } = controller
  let served = present
  let fetched = present
  let currentAt: number | null = null
  let problem: string | null = null

  const look = async (): Promise<void> => {
    const readAt = Date.now()
    const generation = await newestGeneration(config, replica)
    if (!isNewest(fetched, generation)) {
      fetched = await fetchCopy(config, { replica, generation, readAt, signal })
      await serve(fetched)
      served = fetched
    }
    if (fetched !== served) return
    currentAt = readAt
    if (problem !== null) log.info('the replica is followed again')
    problem = null
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await look()
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        if (!signal.aborted && reason !== problem) {
          problem = reason
          log.warn('the replica cannot be followed', { reason })
        }
      }
      const ms = Math.max(config.followSeconds * 1000, (fetched?.restoreMs ?? 0) / restoreShare)
      await pause(ms, undefined, { signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    currentAt: () => currentAt,
    async stop() {
      controller.abort()
      await running
    }
  }
}

async function newestGeneration(config: Pick<Config, 'litestreamEnv'>, replica: Replica): Promise<Generation> {
  const generations = await listGenerations(config, replica)
  if (findRivals(generations).length > 0)
    throw new AppError('CONFLICT', `Two machines have written to ${replica.address}. Stop the one that must not sell.`)
  const [newest] = generations
  if (newest === undefined)
    throw new AppError('DEPENDENCY_UNAVAILABLE', `There is no copy of a shop at ${replica.address}.`)
  return newest
}

/** Whether a copy has everything that a generation has. */
export function isNewest(copy: Omit<Copy, 'folder'> | undefined, { id, updatedAt }: Generation): boolean {
  if (copy === undefined || copy.generation !== id || copy.updatedAt !== updatedAt) return false
  return copy.readAt - copy.updatedAt > settledAfterMs
}
