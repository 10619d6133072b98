import { createApp } from '../../app.ts'
import type { App, Overrides } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import { migrationStatus } from '../../platform/db/migrate.ts'
import { describeError } from '../../platform/log.ts'
import { failed, runCheck } from './check.ts'
import type { Check, CheckResult, CheckStatus } from './check.ts'
import { databaseChecks } from './database-checks.ts'
import { folderChecks } from './folder-checks.ts'
import { networkChecks } from './network-checks.ts'
import { paymentChecks } from './payment-checks.ts'
import { settingChecks } from './setting-checks.ts'
import { workChecks } from './work-checks.ts'

export type HealthReport = { status: CheckStatus; checks: CheckResult[] }

/**
 * Every check there is, in the order of what depends on what; whatever is broken, it answers. The worst of them is the
 * whole's status.
 */
export async function diagnose(config: Config, overrides: Overrides = {}): Promise<HealthReport> {
  const checks: CheckResult[] = []
  for (const check of folderChecks) {
    checks.push(await runCheck(config, check))
    // Without its folder there is no shop to look at, and none shall be made.
    if (check.name === 'data folder' && checks[0]?.status === 'failed') return report(checks)
  }
  const app = openOrTell(config, overrides)
  if ('status' in app) return report([...checks, app])
  try {
    for (const check of checksFor(app)) checks.push(await runCheck(app, check))
  } finally {
    app.close()
  }
  return report(checks)
}

/** A database of another version lacks tables that the further checks would read. */
function checksFor(app: App): readonly Check[] {
  return isCurrent(app)
    ? [...databaseChecks, ...settingChecks, ...networkChecks, ...paymentChecks, ...workChecks]
    : databaseChecks
}

function isCurrent({ db }: App): boolean {
  try {
    const { pending, newer } = migrationStatus(db)
    return pending.length === 0 && !newer
  } catch {
    // Too damaged to say; the database checks tell of it.
    return false
  }
}

function openOrTell(config: Config, overrides: Overrides): App | CheckResult {
  try {
    return createApp(config, { database: 'any' }, overrides)
  } catch (error) {
    const advice =
      error instanceof AppError
        ? 'Do as it says, or name another folder with --data-dir.'
        : 'Stop the server and run "shopstead backup restore FILE" with the newest backup.'
    const message = error instanceof AppError ? error.message : `It does not open: ${describeError(error)}.`
    return { name: 'database', ...failed(message, advice) }
  }
}

function report(checks: CheckResult[]): HealthReport {
  const worst = (['failed', 'warning'] as const).find((status) => checks.some((check) => check.status === status))
  return { status: worst ?? 'ok', checks }
}
