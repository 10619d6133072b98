import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import { listFolder } from '../../platform/files.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { codeOf } from '../../platform/typed.ts'
import { toIso } from '../../platform/iso-time.ts'
import { listCopies } from '../replica/follow.ts'
import type { Copy } from '../replica/follow.ts'
import {
  findRivals,
  listedGenerations,
  findLitestream,
  installLitestream,
  listGenerations
} from '../replica/litestream.ts'
import type { Generation } from '../replica/litestream.ts'
import { shopIdOfFile } from '../../platform/db/database-id.ts'
import { findOtherReplica, findOwnGeneration, otherReplicaAdvice } from '../replica/other-machine.ts'
import { isServerRunning } from '../server-lock.ts'
import { failed, ok, span, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const staleAfterMs = 3 * 60_000

/** Whether the replica has the newest changes. It runs before the checks that write to the database. */
export const replicaCheck: Check<Config> = { name: 'replica', run: checkReplica }

async function checkReplica(config: Config): Promise<Finding> {
  const { replica } = config
  if (replica === null)
    return ok('SHOPSTEAD_REPLICA is not set: only backups protect the shop from the loss of this machine.')
  if (findLitestream(config) === undefined)
    return failed('Litestream is not installed, so nothing is replicated from here.', installLitestream)
  const changedAt = lastChange(databaseFile(config))
  try {
    const generations = await listGenerations(config, replica)
    const file = databaseFile(config)
    const id = existsSync(file) ? shopIdOfFile(file) : null
    const other = await findOtherReplica(config, replica, id, generations)
    if (other !== null) return failed(`The replica ${replica.address} belongs to ${other}.`, otherReplicaAdvice)
    if (findRivals(generations).length > 0) return split(replica, generations)
    const own = findOwnGeneration(config.dataDir)
    if (own !== null && !generations.some(({ id }) => id === own)) return withoutCopy(replica)
    return judge(replica, generations[0], changedAt, runsLitestream(file))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return failed(error.message, 'Check SHOPSTEAD_REPLICA and its credentials. Litestream must be of version 0.3.')
  }
}

function split({ address }: Replica, generations: Generation[]): Finding {
  return failed(
    `Two machines have written to the replica ${address}:${listedGenerations(generations)}`,
    'Stop the shop and the replication on the machine that must not sell. Delete its generation at the replica, or ' +
      'wait a day: until then, "shopstead restore" asks for --generation.'
  )
}

/** Litestream stores changes only after its first whole copy. Until then, the newest generation is another machine's. */
function withoutCopy({ address }: Replica): Finding {
  return failed(
    `There is no whole copy from this machine at ${address} yet.`,
    'Wait until "journalctl -u shopstead-replica" says "snapshot written". If it does not run: "systemctl start shopstead-replica".'
  )
}

function judge({ address }: Replica, newest: Generation | undefined, changedAt: number, runs: boolean): Finding {
  if (newest === undefined)
    return failed(`There is no replica at ${address}.`, 'Start the replication: "systemctl start shopstead-replica".')
  const behindMs = changedAt - newest.updatedAt
  if (behindMs > staleAfterMs)
    return warning(
      `The replica at ${address} lacks the changes of the last ${span(behindMs)}.${runs ? '' : ' Litestream does not run on this machine.'}`,
      'Look at "systemctl status shopstead-replica" and "journalctl -u shopstead-replica -n 50".'
    )
  if (!runs)
    return failed(
      'Litestream does not run on this machine: the next change is not copied.',
      'Start it: "systemctl start shopstead-replica". "journalctl -u shopstead-replica -n 50" says why it ended.'
    )
  const age = span(Math.max(0, Date.now() - newest.updatedAt))
  return ok(`It has every change; the newest is from ${age} ago.`)
}

/**
 * Whether a process of this machine replicates a database: it has the file open. True where processes cannot be listed
 * (other systems than Linux), and for a Litestream of another user, whose files are not visible.
 */
function runsLitestream(database: string): boolean {
  const processes = listFolder('/proc').filter((name) => /^\d+$/.test(name))
  const replicating = processes.filter((id) => /litestream\0replicate\0/.test(commandLineOf(id)))
  return processes.length === 0 || replicating.some((id) => hasOpen(id, realpathSync(database)))
}

function hasOpen(id: string, file: string): boolean {
  try {
    const folder = `/proc/${id}/fd`
    return readdirSync(folder).some((descriptor) => readlinkSync(join(folder, descriptor)) === file)
  } catch (error) {
    // EACCES for another user's process; the others have ended meanwhile.
    return codeOf(error) === 'EACCES'
  }
}

/** Empty for a process that has ended, or belongs to another user. */
function commandLineOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** When the database changed, in epoch milliseconds. */
function lastChange(file: string): number {
  const times = [file, `${file}-wal`].filter((path) => existsSync(path)).map((path) => statSync(path).mtimeMs)
  return Math.max(0, ...times)
}

/** A copy is restored again after ten times the duration of its restore. */
const restoresBehind = 15

/** The checks of a machine that follows a replica, besides those of its folder. It has no shop to check. */
export const followerChecks: readonly Check<Config>[] = [
  { name: 'role', run: checkRole },
  { name: 'copy', run: checkCopy },
  { name: 'secret', run: checkSecret }
]

function checkRole({ replica, dataDir }: Config): Finding {
  const role = `This machine follows ${replica?.address ?? 'a replica'} and serves only the catalog.`
  if (isServerRunning(dataDir)) return ok(`${role} "shopstead promote" makes it the shop.`)
  return failed(
    `${role} Its server does not run.`,
    'Start it: "systemctl start shopstead". If it does not stay up, "journalctl -u shopstead -n 50" says why.'
  )
}

async function checkCopy(config: Config): Promise<Finding> {
  const { replica, dataDir } = config
  if (replica === null)
    return failed('SHOPSTEAD_REPLICA is not set, so the server does not start.', 'Set it to the replica of the shop.')
  const [copy] = listCopies(dataDir)
  const state =
    copy === undefined ? 'There is no copy yet.' : `The copy has the changes until ${toIso(copy.updatedAt)}.`
  try {
    const generations = await listGenerations(config, replica)
    if (findRivals(generations).length > 0)
      return failed(
        `${state} Two machines have written to the replica ${replica.address}:${listedGenerations(generations)}`,
        'Stop the shop and the replication on the machine that must not sell.'
      )
    const [newest] = generations
    if (newest === undefined)
      return failed(
        `${state} There is no replica at ${replica.address}.`,
        'Start the replication on the first machine.'
      )
    return judgeFollower(state, copy, newest.updatedAt)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return failed(
      `${state} ${error.message}`,
      'Check SHOPSTEAD_REPLICA and its credentials. Litestream must be of version 0.3.'
    )
  }
}

function judgeFollower(state: string, copy: Copy | undefined, updatedAt: number): Finding {
  const seeLog = '"journalctl -u shopstead -n 50" says why. After an upgrade of the first machine, upgrade this one.'
  if (copy === undefined) return failed(state, seeLog)
  // Another generation may have older changes, after a restore on the first machine.
  const behindMs = Math.abs(updatedAt - copy.updatedAt)
  const isLate = behindMs > Math.max(staleAfterMs, restoresBehind * copy.restoreMs)
  if (isLate && Date.now() - copy.readAt > staleAfterMs)
    return warning(`${state} The replica is ${span(behindMs)} ahead.`, seeLog)
  return ok(`${state} The newest change at the replica is from ${toIso(updatedAt)}.`)
}

function checkSecret({ secret, dataDir }: Config): Finding {
  if (secret !== null || existsSync(join(dataDir, 'secret.key'))) return ok('It is here for a promotion.')
  return warning(
    "The first machine's secret key is not here.",
    'Copy secret.key to the data folder, or have it ready for "shopstead promote --secret-key FILE".'
  )
}
