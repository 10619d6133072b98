import { existsSync, statSync } from 'node:fs'
import { databaseFile } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { findOwnGeneration } from '../replica/other-machine.ts'
import { findRivals, listedGenerations } from '../replica/generations.ts'
import { findLitestream, installLitestream, listGenerations } from '../replica/litestream.ts'
import type { Generation } from '../replica/litestream.ts'
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
    if (findRivals(generations).length > 0) return split(replica, generations)
    const own = findOwnGeneration(config.dataDir)
    if (own !== null && !generations.some(({ id }) => id === own)) return withoutCopy(replica)
    return judge(replica, generations[0], changedAt)
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

function judge({ address }: Replica, newest: Generation | undefined, changedAt: number): Finding {
  if (newest === undefined)
    return failed(`There is no replica at ${address}.`, 'Start the replication: "systemctl start shopstead-replica".')
  const behindMs = changedAt - newest.updatedAt
  if (behindMs > staleAfterMs)
    return warning(
      `The replica at ${address} lacks the changes of the last ${span(behindMs)}.`,
      'Look at "systemctl status shopstead-replica" and "journalctl -u shopstead-replica -n 50".'
    )
  const age = span(Math.max(0, Date.now() - newest.updatedAt))
  return ok(`It has every change; the newest is from ${age} ago.`)
}

/** When the database changed, in epoch milliseconds. */
function lastChange(file: string): number {
  const times = [file, `${file}-wal`].filter((path) => existsSync(path)).map((path) => statSync(path).mtimeMs)
  return Math.max(0, ...times)
}
