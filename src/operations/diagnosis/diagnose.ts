import { existsSync } from 'node:fs'
import { createApp, databaseFile } from '../../app.ts'
import type { App, Overrides } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import { migrationStatus } from '../../platform/db/migrate.ts'
import { isDamage } from '../../platform/db/storage-errors.ts'
import { describeError } from '../../platform/log.ts'
import { isFollower } from '../replica/role.ts'
import { failed, runCheck } from './check.ts'
import type { Check, CheckResult, CheckStatus } from './check.ts'
import { databaseCheck, databaseChecks } from './database-checks.ts'
import { feedCheck } from './feed-check.ts'
import { fileChecks, folderChecks } from './folder-checks.ts'
import { networkChecks } from './network-checks.ts'
import { paymentChecks } from './payment-checks.ts'
import { followerChecks, replicaCheck } from './replica-check.ts'
import { mailChecks, settingChecks, taxChecks } from './setting-checks.ts'
import { serverChecks, workChecks } from './work-checks.ts'

type HealthReport = { status: CheckStatus; checks: CheckResult[] }

/**
 * Runs every check of `shopstead health`, each after the checks that it depends on. It reports failures and does not
 * throw. The report has the status of its worst check.
 *
 * @param options.isDeep reads all of a large database, too
 * @param options.onCheck called with the name of each check before it runs
 */
export async function diagnose(
  config: Config,
  overrides: Overrides = {},
  { isDeep = false, onCheck = () => undefined }: { isDeep?: boolean; onCheck?: (name: string) => void } = {}
): Promise<HealthReport> {
  if (isFollower(config.dataDir)) return diagnoseFollower(config, onCheck)
  const checks: CheckResult[] = []
  for (const check of [...folderChecks, replicaCheck]) {
    onCheck(check.name)
    checks.push(await runCheck(config, check))
    if (createsOnOpen(config, check.name) && checks.at(-1)?.status === 'failed') return report(checks)
  }
  const app = openApp(config, overrides)
  if ('status' in app) return report([...checks, app])
  try {
    for (const check of [databaseCheck({ isDeep }), ...checksFor(app)]) {
      onCheck(check.name)
      checks.push(await runCheck(app, check))
    }
  } finally {
    app.close()
  }
  return report(checks)
}

/**
 * What the checks of an open shop warn of that ask no other machine and do not read the whole database: for a page, while
 * buyers are served.
 */
export async function quickFindings(app: App): Promise<CheckResult[]> {
  const found: CheckResult[] = []
  for (const check of [...settingChecks, ...taxChecks, ...mailChecks, ...workChecks]) {
    found.push(await runCheck(app, check))
  }
  return found.filter(({ status }) => status !== 'ok')
}

async function diagnoseFollower(config: Config, onCheck: (name: string) => void): Promise<HealthReport> {
  const inFolder = folderChecks.filter(({ name }) => name !== 'secret')
  const checks: CheckResult[] = []
  for (const check of [...inFolder, ...followerChecks]) {
    onCheck(check.name)
    checks.push(await runCheck(config, check))
  }
  return report(checks)
}

/** Opening the shop would create a missing folder, or a new key for its database, and health must not change anything. */
function createsOnOpen(config: Config, name: string): boolean {
  return name === 'data folder' || (name === 'secret' && existsSync(databaseFile(config)))
}

/** A database at another schema version lacks tables that the other checks read. */
function checksFor(app: App): readonly Check[] {
  if (!isCurrent(app)) return databaseChecks
  return [
    ...databaseChecks,
    ...settingChecks,
    ...taxChecks,
    ...mailChecks,
    feedCheck,
    ...fileChecks,
    ...serverChecks,
    ...networkChecks,
    ...paymentChecks,
    ...workChecks
  ]
}

function isCurrent({ db }: App): boolean {
  try {
    const { pending, other } = migrationStatus(db)
    return pending.length === 0 && other === null
  } catch {
    // The file is too damaged to read its version. The database checks report the damage.
    return false
  }
}

/** The open shop, or the failed check that says why it does not open. */
function openApp(config: Config, overrides: Overrides): App | CheckResult {
  try {
    return createApp(config, { database: 'any' }, overrides)
  } catch (error) {
    const advice =
      error instanceof AppError && !isDamage(error)
        ? 'Follow the message, or pass another data folder with --data-dir.'
        : 'Stop the server and run "shopstead backup restore FILE" with the newest backup.'
    const message = error instanceof AppError ? error.message : `The database does not open: ${describeError(error)}.`
    return { name: 'database', ...failed(message, advice) }
  }
}

function report(checks: CheckResult[]): HealthReport {
  const worst = (['failed', 'warning'] as const).find((status) => checks.some((check) => check.status === status))
  return { status: worst ?? 'ok', checks }
}
