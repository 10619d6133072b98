import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import { toIso } from '../../platform/iso-time.ts'
import { listCopies } from '../replica/copies.ts'
import type { Copy } from '../replica/copies.ts'
import { findRivals, listedGenerations } from '../replica/generations.ts'
import { listGenerations } from '../replica/litestream.ts'
import { isServerRunning } from '../server-lock.ts'
import { failed, ok, span, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const staleAfterMs = 3 * 60_000
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
    return judge(state, copy, newest.updatedAt)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return failed(
      `${state} ${error.message}`,
      'Check SHOPSTEAD_REPLICA and its credentials. Litestream must be of version 0.3.'
    )
  }
}

function judge(state: string, copy: Copy | undefined, updatedAt: number): Finding {
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
