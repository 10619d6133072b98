import Table from 'cli-table3'
import { AppError } from '../errors.ts'
import { storageUnavailable } from '../platform/db/storage-errors.ts'
import type { Terminal } from './terminal.ts'

/** The result of a command: as one JSON document, and as text for a person. */
export type Answer = {
  json: unknown
  human: string | readonly string[]
  /** Set by commands that can succeed and still report a failure, such as health. */
  exitCode?: number
}

/** Prints a result to standard output, without a log level. */
export function printAnswer(terminal: Terminal, answer: Answer, asJson: boolean): void {
  const { json, human, exitCode } = answer
  const text = asJson ? JSON.stringify(json) : [human].flat().join('\n')
  terminal.stdout.write(`${text}\n`)
  if (exitCode !== undefined) terminal.exitCode = exitCode
}

/** Prints an error and sets its exit code. */
export function printError(terminal: Terminal, error: unknown, asJson: boolean): void {
  const known = error instanceof AppError ? error : toAppError(error)
  if (asJson) {
    const { code, message, details } = known
    terminal.stdout.write(`${JSON.stringify({ error: { code, message, details } })}\n`)
  } else {
    terminal.messages.fail(known.message)
    for (const line of detailLines(known)) terminal.messages.log(line)
  }
  terminal.exitCode = known.exitCode
}

/** Operators see the cause of an unexpected error; visitors of the shop do not. */
function toAppError(error: unknown): AppError {
  const { code, message } = storageUnavailable(error) ?? { code: 'INTERNAL_SERVER_ERROR' as const, message: '' }
  return new AppError(code, [message, describeUnforeseen(error)].filter(Boolean).join(' '), {}, { cause: error })
}

function describeUnforeseen(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

function detailLines(error: AppError): string[] {
  const fields = error.details.fieldErrors
  if (typeof fields !== 'object' || fields === null) return []
  return Object.entries(fields).map(([field, problems]) => `  ${field}: ${[problems].flat().join(' ')}`)
}

/** Untrusted text without control characters: it must not move the cursor, change colours or the writing direction. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, ' ')
}

/** A table that fits 80 columns: columns two spaces apart, without borders; a wide cell continues on the next line. */
export function table(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const all = [head, ...rows.map((row) => row.map((cell) => (cell === null ? '-' : String(cell))))]
  const longest = (column: number, lengthOf: (cell: string) => number): number =>
    Math.max(...all.map((row) => lengthOf(row[column] ?? '')))
  const widths = narrowed(
    head.map((_title, column) => longest(column, (cell) => cell.length)),
    head.map((_title, column) => longest(column, (cell) => Math.max(...cell.split(' ').map((word) => word.length))))
  )
  const plain = new Table({
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap },
    chars: Object.fromEntries(borders.map((part) => [part, '']))
  })
  for (const row of all) plain.push(row.map((cell, column) => broken(cell, widths[column] ?? cell.length)))
  return plain
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

const gap = 2
export const mostColumns = 80
const borders = [
  ...['top', 'bottom'].flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]),
  'left',
  'left-mid',
  'mid',
  'mid-mid',
  'right',
  'right-mid',
  'middle'
]

/** Narrows the widest columns until all fit. A column gets narrower than its longest word only when all others are. */
function narrowed(widths: readonly number[], words: readonly number[]): number[] {
  const left = [...widths]
  const width = (): number => left.reduce((sum, one) => sum + one + gap, -gap)
  while (width() > mostColumns) {
    const breakable = left.map((one, column) => (one > (words[column] ?? 0) ? one : 0))
    const from = breakable.some((one) => one > 0) ? breakable : left
    const widest = from.indexOf(Math.max(...from))
    left[widest] = (left[widest] ?? 0) - 1
  }
  return left
}

/** Breaks a cell between words, and within a word only when it is longer than a line. */
function broken(cell: string, width: number): string {
  const lines: string[] = []
  let rest = cell
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width)
    lines.push(space > 0 ? rest.slice(0, space) : rest.slice(0, width))
    rest = space > 0 ? rest.slice(space + 1) : rest.slice(width)
  }
  return [...lines, rest].join('\n')
}

/**
 * Breaks a line between words so that it fits 80 columns, with `margin` before the other lines; a long word stays
 * whole, to be copied.
 */
export function wrap(line: string, margin: string): string[] {
  const lines: string[] = []
  let rest = line
  while (rest.length > mostColumns) {
    const space = rest.lastIndexOf(' ', mostColumns)
    const end = space > margin.length ? space : rest.indexOf(' ', mostColumns)
    if (end < 0) break
    lines.push(rest.slice(0, end))
    rest = margin + rest.slice(end + 1)
  }
  return [...lines, rest]
}
