import type { App } from '../../app.ts'
import { describeError } from '../../platform/log.ts'

export type CheckStatus = 'ok' | 'warning' | 'failed'

/** One line of `shopstead health`: what was found, and what to do when it is not well. */
export type CheckResult = { name: string; status: CheckStatus; message: string; advice: string }

/** What a check finds; its name is added by whoever runs it. */
export type Finding = Omit<CheckResult, 'name'>

export type Check = { name: string; run: (app: App) => Finding | Promise<Finding> }

export const ok = (message: string): Finding => ({ status: 'ok', message, advice: '' })
export const warning = (message: string, advice: string): Finding => ({ status: 'warning', message, advice })
export const failed = (message: string, advice: string): Finding => ({ status: 'failed', message, advice })

/** A check that cannot even be made has failed; the others go on. */
export async function runCheck(app: App, check: Check): Promise<CheckResult> {
  try {
    return { name: check.name, ...(await check.run(app)) }
  } catch (error) {
    return {
      name: check.name,
      ...failed(describeError(error), 'Look at the message; the folder or the database may be damaged.')
    }
  }
}
