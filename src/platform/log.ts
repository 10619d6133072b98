import { createConsola } from 'consola'
import type { ConsolaReporter } from 'consola'
import type { Environment, LogLevel } from './config/config.ts'

/** Values that a log line may carry; what is named nowhere is written nowhere. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export type Logger = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const levels: Record<LogLevel, number> = { silent: -999, error: 0, warn: 1, info: 3, debug: 4 }

/** Human lines in development, JSON lines in production; always on standard error, so that `--json` stays clean. */
export function createLogger(options: { env: Environment; level: LogLevel }): Logger {
  const console = createConsola({
    level: levels[options.level],
    throttle: 0,
    stdout: process.stderr,
    stderr: process.stderr,
    ...(options.env === 'production' ? { reporters: [jsonLines] } : { formatOptions: { date: false } })
  })
  const line =
    (type: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields?: LogFields): void =>
      options.env === 'production' ? console[type](message, fields ?? {}) : console[type](readable(message, fields))
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

const jsonLines: ConsolaReporter = {
  log(entry) {
    const [message, fields] = entry.args as [string, LogFields | undefined]
    process.stderr.write(
      `${JSON.stringify({ time: entry.date.toISOString(), level: entry.type, message, ...fields })}\n`
    )
  }
}

function readable(message: string, fields: LogFields = {}): string {
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(value)}`)
  return [message, ...parts].join(' ')
}

/** An error in words for the log: name, message and the causes beneath, without its properties. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : ` <- ${describeError(error.cause)}`
  return `${error.name}: ${error.message}${cause}`
}
