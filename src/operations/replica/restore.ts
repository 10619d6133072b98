import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { deleteUnfinished, unfinishedPath } from '../../platform/files.ts'
import { describeError } from '../../platform/log.ts'
import { restore } from '../backup/backups.ts'
import { finishCopy, readSecret } from '../backup/create.ts'
import type { Restored } from '../backup/restore.ts'
import { chooseGeneration, listedGenerations, listGenerations, restoreReplica } from './litestream.ts'
import type { Generation } from './litestream.ts'
import { isPromoted, markPromoted } from './role.ts'

type Request = {
  config: Config
  replica: Replica
  /** The content of the lost machine's secret.key; null to use what the environment or the data folder has. */
  secret: string | null
  /** Whether to go on when there is no secret at all. */
  withoutSecret: boolean
  /** The generation to restore; null for the one that began last. */
  generation: string | null
  now: number
  onStep?: (step: string) => void
}

/**
 * Brings the shop's database back from its replica: into a draft, which is verified like a backup before it replaces
 * anything (see `restoreBackup`). `createdAt` of the result is the newest change at the replica, to the second. Invoices get
 * another series (`invoicePrefix`).
 *
 * @throws AppError USAGE without a secret; NOT_FOUND when the replica does not have the generation; DEPENDENCY_UNAVAILABLE when Litestream is
 *   missing or cannot read the replica; CONFLICT when two machines have written to the replica, for a database that
 *   fails verification, or while another process uses the present one
 */
export async function restoreFromReplica(request: Request): Promise<Restored & { invoicePrefix: string }> {
  const { config, replica, now, onStep } = request
  const { dataDir } = config
  const secret = chooseSecret(request)
  onStep?.('looking at the replica')
  const generations = await listGenerations(config, replica)
  const chosen = chooseGeneration(replica, generations, request.generation)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  deleteUnfinished(dataDir)
  const folder = unfinishedPath(dataDir)
  mkdirSync(folder, { mode: 0o700 })
  try {
    onStep?.('fetching the database')
    const file = join(folder, 'shopstead.db')
    await fetchDatabase(request, { chosen, generations, file })
    const invoicePrefix = finish(file, { updatedAt: chosen.updatedAt, secret, now })
    return {
      ...(await restore(config, { file, what: `The replica ${replica.address}` }, now, onStep)),
      file: replica.address,
      invoicePrefix
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A generation whose first snapshot was interrupted cannot be restored, but the one before it can. */
async function fetchDatabase(
  { config, replica }: Request,
  { chosen, generations, file }: { chosen: Generation; generations: Generation[]; file: string }
): Promise<void> {
  try {
    await restoreReplica(config, replica, { id: chosen.id, file })
    if (!existsSync(file)) throw new AppError('NOT_FOUND', `Litestream restored nothing from ${replica.address}.`)
  } catch (error) {
    const others = generations.filter(({ id }) => id !== chosen.id)
    if (!(error instanceof AppError) || others.length === 0) throw error
    const message = `${error.message} To restore an older generation, pass --generation:${listedGenerations(others)}`
    throw new AppError(error.code, message, {}, { cause: error })
  }
}

type Copy = { updatedAt: number; secret: string | null; now: number }

function finish(file: string, { updatedAt, secret, now }: Copy): string {
  try {
    const invoicePrefix = beginInvoiceSeries(file, now)
    finishCopy(file, updatedAt, secret)
    return invoicePrefix
  } catch (error) {
    const message = `What the replica has is not a shop's database: ${describeError(error)}.`
    throw new AppError('CONFLICT', message, {}, { cause: error })
  }
}

/** The secret that is restored with the database; null when it stays where it is. */
function chooseSecret({ config, secret, withoutSecret }: Request): string | null {
  if (secret !== null && secret.trim().length < 32)
    throw new AppError('USAGE', 'The secret key has fewer than 32 characters. Pass the copy of secret.key.')
  if (secret !== null || config.secret !== null || readSecret(config.dataDir) !== null || withoutSecret) return secret
  throw new AppError(
    'USAGE',
    "A replica does not contain the secret key. Pass a copy of the lost machine's secret.key with --secret-key FILE, or " +
      'set SHOPSTEAD_SECRET if the shop had its secret there. Each backup contains it, too. Without it, links in sent ' +
      'emails stop working, and the shop does not recognize payments of orders that the replica does not have. If the ' +
      'key is lost, pass --new-secret.'
  )
}

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

const longestPrefix = 20

/**
 * Sets another `invoice.prefix` in the file of a database that continues a lost one, and returns it. The lost machine may
 * have issued invoices that the copy does not have, and the law forbids issuing a number twice. The numbers themselves
 * have no gaps, so they cannot skip those. The minute of the restore makes the prefix unique: a second restore of the
 * same state must not repeat the numbers of the first.
 *
 * @throws Error for a file that is not a shop's database
 */
function beginInvoiceSeries(file: string, now: number): string {
  const sqlite = new Database(file)
  try {
    const stored = sqlite.prepare("SELECT value FROM settings WHERE key = 'invoice.prefix'").pluck().get()
    const prefix = nextPrefix(typeof stored === 'string' ? String(JSON.parse(stored)) : '', now)
    const set = `INSERT INTO settings (key, value, updated_at) VALUES ('invoice.prefix', ?, ?)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
    sqlite.prepare(set).run(JSON.stringify(prefix), now)
    return prefix
  } finally {
    sqlite.close()
  }
}

/** `TL-` becomes `TL-R2611232204-`; a prefix that leaves no room is dropped. */
function nextPrefix(before: string, now: number): string {
  const minute = new Date(now).toISOString().replaceAll(/\D/g, '').slice(2, 12)
  const prefix = `${before.replace(/R\d{10}-$/, '')}R${minute}-`
  return prefix.length <= longestPrefix ? prefix : `R${minute}-`
}
