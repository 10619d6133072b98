import { createConsola } from 'consola'
import Table from 'cli-table3'
import { AppError } from '../errors.ts'

/** Messages to the operator go to standard error, so that what is piped on is the result alone. */
export const messages = createConsola({
  level: 3,
  stdout: process.stderr,
  stderr: process.stderr,
  throttle: 0,
  formatOptions: { date: false }
})
/** Results are written as they are: no mark, no level that an environment (CI, NODE_ENV=test) could turn down. */
const results = createConsola({
  level: 3,
  throttle: 0,
  reporters: [{ log: ({ args }) => void process.stdout.write(`${args.join(' ')}\n`) }]
})

/** What a command has to say: one JSON document, or the same for a person. */
export type Answer = {
  json: unknown
  human: string | readonly string[]
  /** For commands whose answer can be a failure, such as health. */
  exitCode?: number
}

export function printAnswer(answer: Answer, asJson: boolean): void {
  if (asJson) process.stdout.write(`${JSON.stringify(answer.json)}\n`)
  else results.log(typeof answer.human === 'string' ? answer.human : answer.human.join('\n'))
  if (answer.exitCode !== undefined) process.exitCode = answer.exitCode
}

/** Prints a refusal and sets the exit code that belongs to it. */
export function printError(error: unknown, asJson: boolean): void {
  const known =
    error instanceof AppError
      ? error
      : new AppError('INTERNAL_SERVER_ERROR', describeUnforeseen(error), {}, { cause: error })
  if (asJson) {
    const { code, message, details } = known
    process.stdout.write(`${JSON.stringify({ error: { code, message, details } })}\n`)
  } else {
    messages.error(known.message)
    for (const line of detailLines(known)) messages.log(line)
  }
  process.exitCode = known.exitCode
}

function describeUnforeseen(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

function detailLines(error: AppError): string[] {
  const fields = error.details.fieldErrors
  if (typeof fields !== 'object' || fields === null) return []
  return Object.entries(fields).map(([field, problems]) => `  ${field}: ${[problems].flat().join(' ')}`)
}

/** A table that fits 80 columns: plain columns two spaces apart, no lines drawn. */
export function table(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const plain = new Table({
    head: [...head],
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    chars: Object.fromEntries(
      [
        'top',
        'top-mid',
        'top-left',
        'top-right',
        'bottom',
        'bottom-mid',
        'bottom-left',
        'bottom-right',
        'left',
        'left-mid',
        'mid',
        'mid-mid',
        'right',
        'right-mid',
        'middle'
      ].map((part) => [part, ''])
    )
  })
  for (const row of rows) plain.push(row.map((cell) => (cell === null ? '-' : String(cell))))
  return plain
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** A reader that went away (`shopstead orders list | head`) ends the command quietly. */
export function endQuietlyOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}
