import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { databaseFile } from '../app.ts'
import { AppError } from '../errors.ts'
import type { Replica } from '../platform/config/replica.ts'
import { toIso } from '../platform/iso-time.ts'
import type { Restored } from '../operations/backup/restore.ts'
import type { ShopCommand } from './command.ts'
import type { Answer } from './output.ts'
import { showProgress } from './progress.ts'
import { replicaOf } from './replicate.ts'
import { addCommand, confirmOrRefuse, runsOnFiles } from './run.ts'
import type { FileWork } from './run.ts'

type RestoreOptions = { secretKey?: string; newSecret?: boolean; generation?: string }
type Options = RestoreOptions & { fromReplica?: string | true; yes?: boolean }

export function define(program: ShopCommand): void {
  const command = addCommand(
    program,
    'restore',
    'bring the shop of a lost machine back from its replica',
    'restore --from-replica s3://bucket/shop --secret-key secret.key'
  ).option('--from-replica [address]', 'the replica (default: SHOPSTEAD_REPLICA)')
  addRestoreOptions(command, "a copy of the lost machine's secret.key")
  command.option('--yes', 'do not ask for confirmation before a database is replaced')
  runsOnFiles(command, bringBack)
}

async function bringBack(work: FileWork<Options>): Promise<Answer> {
  const { config, options, terminal } = work
  const { restoreFromReplica } = await import('../operations/replica/restore.ts')
  const replica = replicaOf(config, options.fromReplica === true ? undefined : options.fromReplica, '--from-replica')
  const request = requestOf(work, replica)
  if (existsSync(databaseFile(config)))
    await confirmOrRefuse(terminal, `Replace the database in ${config.dataDir} with this replica?`, options)
  const progress = showProgress(work)
  const done = await restoreFromReplica({ ...request, onStep: progress.step }).finally(progress.done)
  return { json: { ...done, restored: true, createdAt: toIso(done.createdAt) }, human: humanLines(done, startIt) }
}

const startIt = 'Run "shopstead migrate", and start the server and the replication.'

/** Adds the options of a command that restores a replica. */
export function addRestoreOptions(command: ShopCommand, aboutKey: string): void {
  command
    .option('--secret-key <file>', aboutKey)
    .option('--new-secret', 'go on without the secret key')
    .option('--generation <id>', 'restore this generation of the replica (default: the one that began last)')
}

/** What `restoreFromReplica` needs, from those options. @throws AppError NOT_FOUND when the key cannot be read */
export function requestOf({ config, options, now }: FileWork<RestoreOptions>, replica: Replica) {
  const { secretKey, newSecret: withoutSecret = false, generation = null } = options
  const secret = secretKey === undefined ? null : readFile(resolve(secretKey))
  return { config, replica, secret, withoutSecret, generation, now }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new AppError('NOT_FOUND', `The file ${file} cannot be read.`, {}, { cause })
  }
}

type Done = Restored & { invoicePrefix: string }

/** What was restored, and what the operator does next. @param start the step that starts the server */
export function humanLines({ createdAt, kept, invoicePrefix }: Done, start: string): string[] {
  return [
    `The shop has been restored. The newest change at the replica is from ${toIso(createdAt)}.`,
    ...(kept === null ? [] : [`The previous database: ${kept}`]),
    'Do this next:',
    '1. Copy downloads/, media/ and mail-templates/ to the data folder: a replica does not contain them. "shopstead offers images retry" fetches missing pictures.',
    '2. Make sure that the lost machine does not start again.',
    `3. New invoices begin with ${invoicePrefix}, because the lost machine may have used the next numbers of the old series. To choose another prefix, set invoice.prefix to one that was never used.`,
    `4. ${start}`,
    '5. Run "shopstead orders reconcile" and "shopstead health". It names each charge whose order is missing.'
  ]
}
