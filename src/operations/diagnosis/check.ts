import type { App } from '../../app.ts'
import { describeError } from '../../platform/log.ts'

export type CheckStatus = 'ok' | 'warning' | 'failed'

/** One line of `shopstead health`: what was found, and what to do when it is not well. */
export type CheckResult = { name: string; status: CheckStatus; message: string; advice: string }

/** What a check finds; its name is added by whoever runs it. */
export type Finding = Omit<CheckResult, 'name'>

/** A check of an opened shop, or of what `Subject` says. */
export type Check<Subject = App> = { name: string; run: (subject: Subject) => Finding | Promise<Finding> }

export const ok = (message: string): Finding => ({ status: 'ok', message, advice: '' })
export const warning = (message: string, advice: string): Finding => ({ status: 'warning', message, advice })
export const failed = (message: string, advice: string): Finding => ({ status: 'failed', message, advice })

/** A check that cannot even be made has failed; the others go on. */
export async function runCheck<Subject>(subject: Subject, check: Check<Subject>): Promise<CheckResult> {
  try {
    return { name: check.name, ...(await check.run(subject)) }
  } catch (error) {
    return {
      name: check.name,
      ...failed(describeError(error), 'Look at the message; the folder or the database may be damaged.')
    }
  }
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

/** `40 minutes`, `3 hours`, `12 days`: as exactly as an operator cares. */
export function span(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 120) return `${minutes} minutes`
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} hours`
  return `${Math.round(minutes / 60 / 24)} days`
}
