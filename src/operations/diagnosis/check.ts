import type { App } from '../../app.ts'
import { describeError } from '../../platform/log.ts'

export type CheckStatus = 'ok' | 'warning' | 'failed'

/** One line of `shopstead health`: what the check found, and what to do about it (empty for `ok`). */
export type CheckResult = { name: string; status: CheckStatus; message: string; advice: string }

/** The result of a check, without the name, which runCheck adds. */
export type Finding = Omit<CheckResult, 'name'>

/** A check of an open shop, or of another `Subject`, such as the configuration. */
export type Check<Subject = App> = { name: string; run: (subject: Subject) => Finding | Promise<Finding> }

export const ok = (message: string): Finding => ({ status: 'ok', message, advice: '' })
export const warning = (message: string, advice: string): Finding => ({ status: 'warning', message, advice })
export const failed = (message: string, advice: string): Finding => ({ status: 'failed', message, advice })

/** Runs one check. A check that throws has failed; the remaining checks still run. */
export async function runCheck<Subject>(subject: Subject, check: Check<Subject>): Promise<CheckResult> {
  try {
    return { name: check.name, ...(await check.run(subject)) }
  } catch (error) {
    return {
      name: check.name,
      ...failed(describeError(error), 'The check itself failed: the data folder or the database may be damaged.')
    }
  }
}

/** A size for the report, such as `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

/** A duration for the report, in one rounded unit: `40 minutes`, `3 hours`, `12 days`. */
export function span(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 120) return `${minutes} minutes`
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} hours`
  return `${Math.round(minutes / 60 / 24)} days`
}

const timeoutMs = 5_000

/** Sends a request and returns the response, or why there is none. It does not follow redirects. */
export async function ask(url: string, init: RequestInit = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error && cause.name !== 'TimeoutError'
      ? cause
      : new Error(`no answer within ${timeoutMs / 1000} s`)
  }
}
