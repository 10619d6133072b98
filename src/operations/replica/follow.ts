import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { z } from 'zod'
import { createApp, databaseFile } from '../../app.ts'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import { migrationStatus } from '../../platform/db/migrate.ts'
import { deleteUnfinished, unfinishedPath, listFolder } from '../../platform/files.ts'
import type { Logger } from '../../platform/log.ts'
import { findRivals, listGenerations, restoreReplica } from './litestream.ts'
import type { Generation } from './litestream.ts'
import { followFolder } from './role.ts'

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

const factsSchema = z.object({
  generation: z.string(),
  /** The newest change at the replica when it was read, in epoch milliseconds, to the second. */
  updatedAt: z.number(),
  /** When the replica was read, in epoch milliseconds. */
  readAt: z.number(),
  /** How long the restore took. */
  restoreMs: z.number()
})

/** A copy of the shop's database in a folder of its own. */
export type Copy = z.output<typeof factsSchema> & { folder: string }

const prefix = 'copy-'
const factsFile = 'copy.json'

/** The copies in a data folder, the newest first. */
export function listCopies(dataDir: string): Copy[] {
  const folders = listFolder(followFolder(dataDir)).filter((name) => name.startsWith(prefix))
  const copies = folders.flatMap((name) => readCopy(join(followFolder(dataDir), name)) ?? [])
  return copies.toSorted((a, b) => b.readAt - a.readAt)
}

function readCopy(folder: string): Copy | undefined {
  try {
    return { ...factsSchema.parse(JSON.parse(readFileSync(join(folder, factsFile), 'utf8'))), folder }
  } catch {
    // The server may be deleting it.
    return undefined
  }
}

/** Deletes the folder of a copy. */
export function deleteCopy(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Deletes all copies except one, and what killed processes left half written. */
export function deleteOtherCopies(dataDir: string, current: Copy | undefined): void {
  deleteUnfinished(followFolder(dataDir))
  for (const name of listFolder(followFolder(dataDir))) {
    const folder = join(followFolder(dataDir), name)
    if (name.startsWith(prefix) && folder !== current?.folder) deleteCopy(folder)
  }
}

type Fetch = { replica: Replica; generation: Generation; readAt: number; signal: AbortSignal }

/**
 * Restores the newest state of a generation as a new copy.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when Litestream is not installed, or cannot restore
 */
async function fetchCopy(
  { dataDir, litestreamEnv }: Pick<Config, 'dataDir' | 'litestreamEnv'>,
  { replica, generation, readAt, signal }: Fetch
): Promise<Copy> {
  const draft = unfinishedPath(followFolder(dataDir))
  mkdirSync(draft, { mode: 0o700 })
  try {
    const started = performance.now()
    const file = databaseFile({ dataDir: draft })
    await restoreReplica({ litestreamEnv }, replica, { id: generation.id, file, signal })
    if (!existsSync(file))
      throw new AppError('DEPENDENCY_UNAVAILABLE', `Litestream restored nothing from ${replica.address}.`)
    chmodSync(file, 0o600)
    leaveWal(file)
    const facts = {
      generation: generation.id,
      updatedAt: generation.updatedAt,
      readAt,
      restoreMs: Math.round(performance.now() - started)
    }
    writeFileSync(join(draft, factsFile), JSON.stringify(facts), { mode: 0o600 })
    const folder = join(followFolder(dataDir), `${prefix}${randomToken(6)}`)
    renameSync(draft, folder)
    return { ...facts, folder }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Nothing writes to a copy, so it needs no write-ahead log. */
function leaveWal(file: string): void {
  const sqlite = new Database(file)
  try {
    sqlite.pragma('journal_mode = DELETE')
  } finally {
    sqlite.close()
  }
}

/**
 * Opens a copy, so that SQLite refuses every write to it. The copy's folder is the App's data folder, because the counters
 * of the limits are files there. It has a secret of its own, because no response from a copy is signed.
 *
 * @throws AppError CONFLICT when the schema of the copy is not that of this program
 */
export function openCopy(config: Config, copy: Copy, log: Logger): App {
  const app = createApp({ ...config, dataDir: copy.folder, secret: randomToken() }, { database: 'readonly' }, { log })
  try {
    const { pending, other } = migrationStatus(app.db)
    if (other === 'newer')
      throw new AppError('CONFLICT', 'A newer version of Shopstead runs on the first machine. Upgrade this one.')
    if (other === 'older' || pending.length > 0)
      throw new AppError('CONFLICT', 'An older version of Shopstead runs on the first machine. Upgrade that one.')
    return app
  } catch (error) {
    app.close()
    throw error
  }
}
