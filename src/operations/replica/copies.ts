import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { createApp, databaseFile } from '../../app.ts'
import type { App } from '../../app.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import { migrationStatus } from '../../platform/db/migrate.ts'
import { deleteUnfinished, unfinishedPath, listFolder } from '../../platform/files.ts'
import type { Logger } from '../../platform/log.ts'
import { restoreReplica } from './litestream.ts'
import type { Generation } from './litestream.ts'
import { followFolder } from './role.ts'

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
export async function fetchCopy(
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
