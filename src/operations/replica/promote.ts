import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { listGenerations } from './litestream.ts'
import { restoreFromReplica } from './restore.ts'
import { isPromoted, markPromoted } from './role.ts'

/** A machine that sells changes the replica at least this often, unless its shop is quiet. */
const aliveWithinMs = 60_000

/**
 * How long ago the replica received its newest change, in milliseconds, if that is so recent that the first machine seems
 * to be alive; undefined otherwise.
 *
 * @throws AppError as listGenerations
 */
export async function recentChange(config: Config, replica: Replica, now: number): Promise<number | undefined> {
  const [newest] = await listGenerations(config, replica)
  const agoMs = now - (newest?.updatedAt ?? 0)
  return agoMs < aliveWithinMs ? Math.max(0, agoMs) : undefined
}

/**
 * Makes this machine the shop: restores the newest state of the replica, and then marks the data folder. A server that
 * follows sees the mark and sells. If the process is killed before the mark, the server goes on following, and another
 * promotion begins again.
 *
 * @throws AppError CONFLICT when the data folder is promoted already, and the errors of restoreFromReplica
 */
export async function promote(
  request: Parameters<typeof restoreFromReplica>[0]
): ReturnType<typeof restoreFromReplica> {
  const { dataDir } = request.config
  if (isPromoted(dataDir))
    throw new AppError('CONFLICT', `The data folder ${dataDir} has been promoted already: start its server.`)
  const restored = await restoreFromReplica(request)
  markPromoted(dataDir, request.now)
  return restored
}
