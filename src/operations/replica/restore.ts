import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { restore } from '../backup/backups.ts'
import { finishCopy, readSecret } from '../backup/create.ts'
import type { Restored } from '../backup/restore.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { describeError } from '../../platform/log.ts'
import { deleteUnfinished, unfinishedPath } from '../../platform/files.ts'
import { chooseGeneration, listedGenerations } from './generations.ts'
import { beginInvoiceSeries } from './invoice-series.ts'
import { listGenerations, restoreReplica } from './litestream.ts'
import type { Generation } from './litestream.ts'

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
    return { ...(await restore(config, file, now, onStep)), file: replica.address, invoicePrefix }
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
