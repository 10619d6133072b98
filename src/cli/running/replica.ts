import { lostNotes } from './backup.ts'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { databaseFile } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { toIso } from '../../platform/iso-time.ts'
import type { Restored } from '../../operations/backup/restore.ts'
import type { ShopCommand, FileWork } from '../run.ts'
import type { Answer } from '../terminal/output.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, confirmOrRefuse, runsOnFiles } from '../run.ts'
import type { Config } from '../../platform/config/config.ts'
import { parseReplica, replicaRule } from '../../platform/config/replica.ts'

type RestoreOptions = { secretKey?: string; newSecret?: boolean; generation?: string }
type Options = RestoreOptions & { fromReplica?: string | true; yes?: boolean }

export function defineRestore(program: ShopCommand): void {
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
  const { restoreFromReplica } = await import('../../operations/replica/restore.ts')
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
function addRestoreOptions(command: ShopCommand, aboutKey: string): void {
  command
    .option('--secret-key <file>', aboutKey)
    .option('--new-secret', 'go on without the secret key')
    .option('--generation <id>', 'restore this generation of the replica (default: the one that began last)')
}

/** What `restoreFromReplica` needs, from those options. @throws AppError NOT_FOUND when the key cannot be read */
function requestOf({ config, options, now }: FileWork<RestoreOptions>, replica: Replica) {
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
function humanLines({ createdAt, kept, invoicePrefix, lostPayouts }: Done, start: string): string[] {
  return [
    `The shop has been restored. The newest change at the replica is from ${toIso(createdAt)}.`,
    ...(kept === null ? [] : [`The previous database: ${kept}`]),
    ...lostNotes({ lostPayouts }),
    'Do this next:',
    '1. Copy downloads/, media/, law/, mail-templates/ and texts/ to the data folder: a replica does not contain them. "shopstead offers images retry" fetches missing pictures.',
    '2. Make sure that the lost machine does not start again.',
    `3. New invoices begin with ${invoicePrefix}, because the lost machine may have used the next numbers of the old series. To choose another prefix, set invoice.prefix to one that was never used.`,
    `4. ${start}`,
    '5. Run "shopstead orders reconcile" and "shopstead health". It names each charge whose order is missing.'
  ]
}

export function defineReplicate(program: ShopCommand): void {
  const command = addCommand(
    program,
    'replicate',
    "print Litestream's configuration, which copies each change of the shop to another machine",
    'replicate --to s3://bucket/shop > /etc/shopstead/litestream.yml'
  )
    .option('--to <address>', `${replicaRule} (default: SHOPSTEAD_REPLICA)`)
    .option(
      '--check',
      'print no configuration, and fail when the replica is of another shop or another machine has continued it'
    )
  runsOnFiles(command, print)
}

async function print({ config, options }: FileWork<{ to?: string; check?: boolean }>): Promise<Answer> {
  const replica = replicaOf(config, options.to, '--to')
  if (options.check) {
    const { requireNewestMachine, requireSameReplica } = await import('../../operations/replica/other-machine.ts')
    await requireSameReplica(config, replica)
    await requireNewestMachine(config, replica)
    return {
      json: { mayReplicate: true },
      human: 'This machine may replicate: the replica is its own, and no other machine has continued the shop.'
    }
  }
  const { litestreamConfig } = await import('../../operations/replica/litestream.ts')
  const configuration = litestreamConfig(databaseFile(config), replica)
  return { json: { configuration }, human: configuration.trimEnd() }
}

/**
 * The replica at an address, by default that of SHOPSTEAD_REPLICA.
 *
 * @throws AppError USAGE for an address that is not valid, and without one
 */
function replicaOf({ replica }: Config, address: string | undefined, option: string): Replica {
  const chosen = address === undefined ? replica : parseReplica(address)
  if (chosen) return chosen
  const missing = address === undefined ? ' or SHOPSTEAD_REPLICA' : ''
  throw new AppError('USAGE', `${option}${missing} must be ${replicaRule}.`)
}

/** The replica that this machine follows. @throws AppError USAGE without SHOPSTEAD_REPLICA */
export function followedReplica({ replica }: Config): Replica {
  if (replica !== null) return replica
  throw new AppError('USAGE', `To follow another machine, set SHOPSTEAD_REPLICA to ${replicaRule}.`)
}

type PromoteOptions = { secretKey?: string; newSecret?: boolean; generation?: string; yes?: boolean }

export function definePromote(program: ShopCommand): void {
  const command = addCommand(
    program,
    'promote',
    'make the machine that follows the replica the shop, when the first one is lost',
    'promote --secret-key secret.key'
  )
  addRestoreOptions(command, "a copy of the first machine's secret.key")
  command.option('--yes', 'do not ask for confirmation')
  runsOnFiles(command, makeShop)
}

async function makeShop(work: FileWork<PromoteOptions>): Promise<Answer> {
  const { config, options, now, terminal } = work
  const { promote, recentChange } = await import('../../operations/replica/restore.ts')
  const replica = followedReplica(config)
  const agoMs = await recentChange(config, replica, now)
  const aliveSeconds = agoMs === undefined ? null : Math.round(agoMs / 1000)
  if (aliveSeconds !== null)
    terminal.messages.warn(
      `The replica received a change ${aliveSeconds} seconds ago: the first machine seems to be alive. ` +
        'Switch it off first. What it sells from now on is lost here.'
    )
  await confirmOrRefuse(terminal, `Make this machine the shop, with the data of ${replica.address}?`, options)
  const progress = showProgress(work)
  const done = await promote({ ...requestOf(work, replica), onStep: progress.step }).finally(progress.done)
  const human = humanLines(done, sellsNow)
  return { json: { ...done, promoted: true, aliveSeconds, createdAt: toIso(done.createdAt) }, human }
}

const sellsNow =
  'The server that follows sells in a moment ("shopstead health"). If none runs, start it. Start the replication from this machine.'
