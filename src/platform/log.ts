import type { Writable } from 'node:stream'
import { createConsola } from 'consola'
import { toIso } from './iso-time.ts'
import type { Environment, LogLevel } from './config/config.ts'

/** What a log line may tell besides its message; anything else is left out, whoever hands it in. */
const allowedFields = [
  'answered',
  'apiRoot',
  'attempt',
  'by',
  'cause',
  'code',
  'correlationId',
  'delivery',
  'endpoint',
  'error',
  'event',
  'file',
  'gatewayRequestId',
  'job',
  'kind',
  'mail',
  'method',
  'ms',
  'object',
  'orderId',
  'outcome',
  'param',
  'path',
  'reason',
  'requestId',
  'stack',
  'status',
  'step',
  'template',
  'type',
  'url',
  'what'
] as const

type LogField = (typeof allowedFields)[number]
export type LogFields = Readonly<Partial<Record<LogField, string | number | boolean | null | undefined>>>

export type Logger = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const levels: Record<LogLevel, number> = { silent: -999, error: 0, warn: 1, info: 3, debug: 4 }

type LineType = Exclude<LogLevel, 'silent'>
type WriteLine = (type: LineType, message: string, fields: LogFields) => void
/** What one field tells: its own value, or that without a secret that was in it. */
type Tell = (name: LogField, value: NonNullable<LogFields[LogField]> | null) => void

/**
 * Human lines in development, JSON lines anywhere else; always on standard error, so that `--json` stays clean. No line
 * holds a field that is not allowed, a secret, or a person's address, also where an error's own words repeat one.
 */
export function createLogger(options: { env: Environment; level: LogLevel; output?: Writable }): Logger {
  const output = options.output ?? process.stderr
  const write = options.env === 'development' ? humanLines(output) : jsonLines(output)
  // However the process ends by itself, what it has to say of that is written.
  process.off('exit', writeOut).on('exit', writeOut)
  const line =
    (type: LineType) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels[type] <= levels[options.level]) write(type, withoutSecrets(message), fields)
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

function humanLines(output: Writable): WriteLine {
  // consola asks its streams for a width only; everything else of a terminal is optional to it.
  const stream = output as NodeJS.WriteStream
  const console = createConsola({
    level: levels.debug,
    throttle: 0,
    stdout: stream,
    stderr: stream,
    formatOptions: { date: false }
  })
  return (type, message, fields) => {
    let line = message
    tellAllowed(fields, (name, value) => (line += ` ${name}=${String(value)}`))
    console[type](line)
  }
}

/** Written piece by piece: there is one for every request, and an object made for JSON.stringify takes twice the time. */
function jsonLines(output: Writable): WriteLine {
  return (level, message, fields) => {
    let line = `{"time":"${toIso(Date.now())}","level":"${level}","message":${json(message)}`
    tellAllowed(fields, (name, value) => (line += `,"${name}":${json(value)}`))
    writeSoon(output, `${line}}\n`)
  }
}

function json(value: string | number | boolean | null): string {
  if (typeof value === 'string') return /^[\w ./:-]*$/.test(value) ? `"${value}"` : JSON.stringify(value)
  return Number.isFinite(value) ? String(value) : JSON.stringify(value)
}

const unwritten = new Map<Writable, string>()

/** The lines of one turn of the event loop leave in one write, which costs as much as making several of them. */
function writeSoon(output: Writable, line: string): void {
  if (unwritten.size === 0) setImmediate(writeOut)
  unwritten.set(output, (unwritten.get(output) ?? '') + line)
}

function writeOut(): void {
  const all = [...unwritten]
  unwritten.clear()
  for (const [output, lines] of all) output.write(lines)
}

const names: ReadonlySet<string> = new Set(allowedFields)
/** Random or checked where they come in; digits in a row are no card number there. */
const ids: ReadonlySet<LogField> = new Set<LogField>(['requestId', 'correlationId', 'gatewayRequestId'])

function isAllowed(name: string): name is LogField {
  return names.has(name)
}

function tellAllowed(fields: LogFields, tell: Tell): void {
  for (const name of Object.keys(fields)) {
    if (!isAllowed(name)) continue
    const value = fields[name]
    if (value !== undefined) tell(name, typeof value === 'string' && !ids.has(name) ? withoutSecrets(value) : value)
  }
}

const secrets: readonly [pattern: RegExp, instead: string][] = [
  [/(:\/\/)[^\s/@]+@/g, '$1[secret]@'],
  // Emails, Unicode ones too; a package such as @node-rs/argon2 in a stack has no domain behind its @.
  [/[\p{L}\p{N}.!#$%&'*+=?^_`{|}~-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu, '[address]'],
  [/\b(?:sk|rk)_(?:live|test)_\w+|\bwhsec_[\w+/=-]+|\b\w{1,64}_secret_\w+|\$argon2\S+/g, '[secret]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 [secret]'],
  [/([?&#](?:token|key|secret|signature|password)=)[^\s&#"']+/gi, '$1[secret]'],
  [/(shopstead_session=)[^\s;,"']+/g, '$1[secret]'],
  // Card numbers; a time in milliseconds is one digit shorter than the shortest in use.
  [/\b\d(?:[ -]?\d){13,18}\b/g, '[number]']
]

/** No answer of another service decides how much is written, or how long it is searched. */
const longest = 4_000

/** Text as it may stand in a log, which more people read than the database. */
function withoutSecrets(text: string): string {
  // Most texts are words of our own; one look spares them the rest.
  if (!/[@_=$]|\d{4}|bearer|basic/i.test(text)) return text
  return secrets.reduce((told, [pattern, instead]) => told.replaceAll(pattern, instead), text.slice(0, longest))
}

/** An error in words for the log: name, message and the causes beneath, without its properties. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : ` <- ${describeError(error.cause)}`
  return `${error.name}: ${error.message}${cause}`
}
