import type { Writable } from 'node:stream'
import { createConsola } from 'consola'
import { toIso } from './iso-time.ts'
import type { Environment, LogLevel } from './config/config.ts'
import { onceFor } from './once-for.ts'

/** The fields that a log line may have besides its message. The logger drops all others. */
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
  'routes',
  'stack',
  'status',
  'step',
  'template',
  'times',
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
/** Receives one field, with secrets removed from its value. */
type WriteField = (name: LogField, value: NonNullable<LogFields[LogField]> | null) => void

/**
 * A logger that writes plain lines in development and JSON lines elsewhere. It writes to standard error, so that the
 * output of `--json` stays clean. A line contains only allowed fields, and no secret or email address, even if an
 * error's message repeats one.
 */
export function createLogger(options: { env: Environment; level: LogLevel; output?: Writable }): Logger {
  const output = options.output ?? process.stderr
  const write = options.env === 'development' ? humanLines(output) : jsonLines(output)
  const line =
    (type: LineType) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels[type] <= levels[options.level]) write(type, withoutSecrets(message), fields)
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

function humanLines(output: Writable): WriteLine {
  // consola reads only the width of its streams, so any Writable is enough.
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
    writeAllowed(fields, (name, value) => (line += ` ${name}=${String(value)}`))
    console[type](line)
  }
}

function jsonLines(output: Writable): WriteLine {
  return (level, message, fields) => {
    const line: Record<string, unknown> = { time: toIso(Date.now()), level, message }
    writeAllowed(fields, (name, value) => (line[name] = value))
    output.write(`${JSON.stringify(line)}\n`)
  }
}

const names: ReadonlySet<string> = new Set(allowedFields)
/** Ids that are random or already validated, so a run of digits in them is not a card number. */
const ids: ReadonlySet<LogField> = new Set<LogField>(['requestId', 'correlationId', 'gatewayRequestId'])

function isAllowed(name: string): name is LogField {
  return names.has(name)
}

function writeAllowed(fields: LogFields, writeField: WriteField): void {
  for (const name of Object.keys(fields)) {
    if (!isAllowed(name)) continue
    const value = fields[name]
    if (value !== undefined)
      writeField(name, typeof value === 'string' && !ids.has(name) ? withoutSecrets(value) : value)
  }
}

const secrets: readonly [pattern: RegExp, instead: string][] = [
  [/(:\/\/)[^\s/@]+@/g, '$1[secret]@'],
  // Emails, including Unicode ones. A package such as @node-rs/argon2 in a stack has no domain after its @.
  [/[\p{L}\p{N}.!#$%&'*+=?^_`{|}~-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu, '[address]'],
  [
    /\b(?:sk|rk)_(?:live|test)_\w+|\bwhsec_[\w+/=-]+|\b\w{1,64}_secret_\w+|\$(?:argon2|wp\$2|2[aby]\$|[PH]\$)\S+/g,
    '[secret]'
  ],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 [secret]'],
  [/([?&#](?:token|key|secret|signature|password)=)[^\s&#"']+/gi, '$1[secret]'],
  [/(shopstead_(?:session|device)=)[^\s;,"']+/g, '$1[secret]'],
  // Card numbers. Epoch milliseconds have one digit less than the shortest card number.
  [/\b\d(?:[ -]?\d){13,18}\b/g, '[number]']
]

/** Limits the length of a text, so that another service's answer does not determine how much is searched and written. */
const longest = 4_000

/** Removes secrets and personal data from a text, because more people read the log than the database. */
function withoutSecrets(text: string): string {
  // Most texts contain no secret; this test skips the expensive patterns.
  if (!/[@_=$]|\d{4}|bearer|basic/i.test(text)) return text
  return secrets.reduce((text, [pattern, instead]) => text.replaceAll(pattern, instead), text.slice(0, longest))
}

/** An error for the log: name, message and its chain of causes, without other properties. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : ` <- ${describeError(error.cause)}`
  return `${error.name}: ${error.message}${cause}`
}

/** A logger for lines that a client can cause with each request. */
export type ClientLog = Pick<Logger, 'warn' | 'error'>

const periodMs = 60_000
/** Different lines in one period. Further ones are counted together. */
const maxDifferent = 100
/** What differs between two requests that fail for the same reason. */
const ofOneRequest: ReadonlySet<string> = new Set(['requestId', 'correlationId', 'stack'])

type Repeat = { times: number; write: (times: number) => void }

/**
 * Writes each line once, counts the same line for a minute, and then writes how often it was repeated (`times`). A
 * client can therefore not fill the disk with lines, and not hide another line among them. Every request has a line of
 * its own at level info.
 */
export const clientLog = onceFor((log: ClientLog): ClientLog => {
  const repeats = new Map<string, Repeat>()

  const line =
    (level: keyof ClientLog) =>
    (message: string, fields: LogFields = {}): void => {
      const [key, write] = keyOf(level, message, fields)
      const known = repeats.get(key)
      if (known !== undefined) known.times += 1
      else if (repeats.size < maxDifferent) {
        log[level](message, fields)
        begin(key, (times) => log[level](message, { ...write, times }))
      } else count('others', (times) => log.warn('further lines about failed requests were left out', { times }))
    }

  function count(key: string, write: Repeat['write']): void {
    const known = repeats.get(key) ?? begin(key, write)
    known.times += 1
  }

  function begin(key: string, write: Repeat['write']): Repeat {
    const repeat = { times: 0, write }
    repeats.set(key, repeat)
    setTimeout(() => end(key, repeat), periodMs).unref()
    return repeat
  }

  function end(key: string, { times, write }: Repeat): void {
    repeats.delete(key)
    if (times > 0) write(times)
  }

  return { warn: line('warn'), error: line('error') }
})

/** What makes two lines the same, and the fields that both have. */
function keyOf(level: string, message: string, fields: LogFields): [key: string, common: LogFields] {
  const common = Object.fromEntries(Object.entries(fields).filter(([name]) => !ofOneRequest.has(name)))
  return [JSON.stringify([level, message, common]), common]
}
