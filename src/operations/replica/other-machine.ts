import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { litestreamFolder } from '../backup/restore.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { describeError } from '../../platform/log.ts'
import type { Logger } from '../../platform/log.ts'
import { databaseFile } from '../../app.ts'
import { shopIdOfFile } from '../../platform/db/database-id.ts'
import { missingDatabase, requireSameShop } from '../../platform/shop-id.ts'
import { listGenerations, listSnapshots, restoreReplica } from './litestream.ts'
import type { Generation } from './litestream.ts'

/** The clocks of two machines and of the replica differ by less. */
const clockSkewMs = 5_000

/**
 * Refuses to serve a database that another machine has continued, see `requireNewestMachine`. A replica that cannot be
 * read is logged and does not stop the shop.
 *
 * @throws AppError CONFLICT when another machine has continued the replica
 */
export async function refuseOldMachine(config: Config, log: Pick<Logger, 'warn'>): Promise<void> {
  const { replica } = config
  if (replica === null) return
  try {
    await requireNewestMachine(config, replica)
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') throw error
    log.warn('the replica could not be asked whether another machine has continued the shop', {
      error: describeError(error)
    })
  }
}

/**
 * Refuses a database that another machine has continued: the shop was restored there from the replica, and selling here
 * too would split it. Litestream writes down here when it began the generation of this machine; a generation that began
 * later at the replica is another machine's. A restore deletes what Litestream wrote.
 *
 * The replication asks before each start, because Litestream begins a new generation on a machine that comes back. That
 * generation would be the newest, with the old machine's data.
 *
 * @throws AppError CONFLICT when another machine has continued the replica; DEPENDENCY_UNAVAILABLE when that is not known
 */
export async function requireNewestMachine(config: Config, replica: Replica): Promise<void> {
  const own = findOwnGeneration(config.dataDir)
  if (own === null) return
  const began = statSync(generationFile(config.dataDir)).mtimeMs
  if ((await findNewestOther(config, replica, own)) <= began + clockSkewMs) return
  throw new AppError(
    'CONFLICT',
    `Another machine has continued this shop: the replica ${replica.address} has a copy that began after this ` +
      "machine's. Do not sell on two machines. If this machine is to take over, stop the other one and run " +
      '"shopstead restore --from-replica" here. "shopstead serve --read-only" makes it follow the other one.'
  )
}

/**
 * Refuses a replica of another shop, and a data folder without one: Litestream would begin a generation there, and delete
 * the ones of the real shop in time. Only the database of the replica says whose it is, so it is fetched.
 *
 * @throws AppError CONFLICT; DEPENDENCY_UNAVAILABLE when the replica cannot be read
 */
export async function requireSameReplica(config: Config, replica: Replica): Promise<void> {
  const file = databaseFile(config)
  if (!existsSync(file)) throw missingDatabase(config, file)
  const id = shopIdOfFile(file)
  requireSameShop(config, id, `The database ${file}`)
  const other = await findOtherReplica(config, replica, id, await listGenerations(config, replica))
  if (other !== null)
    throw new AppError('CONFLICT', `The replica ${replica.address} belongs to ${other}. ${otherReplicaAdvice}`)
}

/** What an operator does about a replica of another shop. */
export const otherReplicaAdvice =
  'If the database of this machine was lost, restore it with "shopstead restore --from-replica". A new shop needs a ' +
  'replica of its own: set SHOPSTEAD_REPLICA to another address.'

/** The shop to which a replica belongs, in words; null for the shop `id`, and for a replica without a copy. */
export async function findOtherReplica(
  config: Config,
  replica: Replica,
  id: string | null,
  generations: Generation[]
): Promise<string | null> {
  const own = findOwnGeneration(config.dataDir)
  const [newest] = generations
  if (newest === undefined || generations.some((generation) => generation.id === own)) return null
  const theirs = await shopIdOfReplica(config, replica, newest)
  return theirs === id ? null : `the shop ${theirs}, and this database to the shop ${id}`
}

async function shopIdOfReplica(config: Config, replica: Replica, { id }: Generation): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-replica-'))
  try {
    const file = join(folder, 'shopstead.db')
    await restoreReplica(config, replica, { id, file })
    return shopIdOfFile(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** When the youngest generation of the replica besides this machine's began, epoch ms; 0 when there is none. */
async function findNewestOther(config: Config, replica: Replica, own: string): Promise<number> {
  const others = (await listSnapshots(config, replica)).filter(({ generation }) => generation !== own)
  const starts = [...Map.groupBy(others, ({ generation }) => generation).values()].map((snapshots) =>
    Math.min(...snapshots.map(({ createdAt }) => createdAt))
  )
  return Math.max(0, ...starts)
}

/** The generation that Litestream began for a data folder; null when it has not run since a restore. */
export function findOwnGeneration(dataDir: string): string | null {
  const file = generationFile(dataDir)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}

function generationFile(dataDir: string): string {
  return join(dataDir, litestreamFolder, 'generation')
}
