import type { App } from '../../app.ts'
import { runCheck } from './check.ts'
import type { CheckResult, CheckStatus } from './check.ts'
import { databaseChecks } from './database-checks.ts'
import { deploymentChecks } from './deployment-checks.ts'
import { paymentChecks } from './payment-checks.ts'

export type HealthReport = { status: CheckStatus; checks: CheckResult[] }

/** Every check there is, in the order of what depends on what. The worst of them is the whole's status. */
export async function diagnose(app: App): Promise<HealthReport> {
  const checks: CheckResult[] = []
  for (const check of [...databaseChecks, ...deploymentChecks, ...paymentChecks])
    checks.push(await runCheck(app, check))
  const worst = (['failed', 'warning'] as const).find((status) => checks.some((check) => check.status === status))
  return { status: worst ?? 'ok', checks }
}
