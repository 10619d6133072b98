import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { App } from '../app.ts'
import { describeError } from '../platform/log.ts'

/** The jobs of the server whose last run failed or is behind, with the reason and the time (epoch milliseconds). */
const schema = z.record(z.string(), z.object({ error: z.string(), at: z.number() }))
type FailedJobs = z.output<typeof schema>

const fileOf = (dataDir: string): string => join(dataDir, 'failed-jobs.json')

/** The jobs whose last run failed, by their names. The server writes them to a file, for `shopstead health`. */
export function readFailedJobs(dataDir: string): FailedJobs {
  try {
    return schema.parse(JSON.parse(readFileSync(fileOf(dataDir), 'utf8')))
  } catch {
    // No job has failed yet.
    return {}
  }
}

/** Records the result of a job's run: its error, or null. */
export function recordJob(
  { config: { dataDir }, clock, log }: Pick<App, 'config' | 'clock' | 'log'>,
  job: string,
  error: string | null
): void {
  const { [job]: before, ...others } = readFailedJobs(dataDir)
  if (error === null && before === undefined) return
  const failed = error === null ? others : { ...others, [job]: { error, at: clock.now() } }
  const draft = `${fileOf(dataDir)}.draft`
  try {
    writeFileSync(draft, JSON.stringify(failed), { mode: 0o600 })
    renameSync(draft, fileOf(dataDir))
  } catch (problem) {
    // The record is only for `health`, and the disk may be what made the job fail.
    log.warn('the result of a job could not be recorded', { job, error: describeError(problem) })
  }
}
