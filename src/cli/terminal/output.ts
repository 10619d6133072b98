import type { Writable } from 'node:stream'
import { AppError } from '../../errors.ts'
import { storageUnavailable } from '../../platform/db/storage-errors.ts'
import { coloured } from './terminal.ts'
import { Table, tableLines } from './table.ts'
import type { Terminal } from './terminal.ts'

/** A text, such as a CSV file, that is too long for memory. Its parts have their line breaks. */
export class TextParts {
  readonly parts: Iterable<string>

  constructor(parts: Iterable<string>) {
    this.parts = parts
  }
}

/** Lines and tables for a person. */
type Shown = string | Table | TextParts | readonly (string | Table | TextParts)[]

/** The result of a command: as one JSON document, and as text for a person. */
export type Answer = {
  /** A `JsonList` is written while its rows are read. */
  json: unknown
  human: Shown
  /** Set by commands that can succeed and still report a failure, such as health. */
  exitCode?: number
}

/** A JSON object with a list that is too long for memory, and further fields, which are read after the last row. */
export class JsonList {
  readonly name: string
  readonly rows: Iterable<unknown>
  readonly rest: () => object

  /** `new JsonList('offers', rows, () => ({ nextCursor }))` is written as `{"offers": […], "nextCursor": …}`. */
  constructor(name: string, rows: Iterable<unknown>, rest: () => object = () => ({})) {
    this.name = name
    this.rows = rows
    this.rest = rest
  }
}

/** The line under a page of a list that has further rows. */
export function moreLines(nextCursor: string | null): string[] {
  return nextCursor === null ? [] : [`There are more: add --cursor ${nextCursor} for the next page.`]
}

/** Prints a result to standard output, without a log level. */
export async function printAnswer(terminal: Terminal, answer: Answer, asJson: boolean): Promise<void> {
  const { json, human, exitCode } = answer
  if (exitCode !== undefined) terminal.exitCode = exitCode
  await writePieces(terminal.stdout, asJson ? jsonPieces(json) : humanPieces(human, terminal))
}

function* jsonPieces(json: unknown): Generator<string, void> {
  if (!(json instanceof JsonList)) {
    yield `${JSON.stringify(json)}\n`
    return
  }
  yield `{${JSON.stringify(json.name)}:[`
  let separator = ''
  for (const row of json.rows) {
    yield separator + JSON.stringify(row)
    separator = ','
  }
  const rest = JSON.stringify(json.rest()).slice(1)
  yield `]${rest === '}' ? '' : ','}${rest}\n`
}

/** A terminal of unknown width has 80 columns. Without a terminal a row is one line, for grep and awk. */
function* humanPieces(human: Shown, terminal: Terminal): Generator<string, void> {
  const { stdout } = terminal
  const columns = stdout.isTTY ? stdout.columns || mostColumns : Infinity
  const styleHead = (line: string): string => coloured(terminal, 'bold', line)
  for (const part of [human].flat()) {
    if (part instanceof TextParts) yield* part.parts
    else for (const line of part instanceof Table ? tableLines(part, columns, { styleHead }) : [part]) yield `${line}\n`
  }
}

const writtenAtOnce = 64 * 1024

/** Writes pieces in larger parts, each after the one before it was taken, so that a slow reader fills no memory. */
async function writePieces(stdout: Writable, pieces: Iterable<string>): Promise<void> {
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length < writtenAtOnce) continue
    await writeAll(stdout, text)
    text = ''
  }
  await writeAll(stdout, text)
}

async function writeAll(stdout: Writable, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
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

export const mostColumns = 80

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

type Progress = { step: (text: string) => void; done: () => void }

/** The parts of a command's work that decide whether its progress is shown. */
export type Watched = { terminal: Terminal; json: boolean }

/**
 * Shows on a terminal what a long command is doing, on one line that the next step overwrites. It shows nothing when
 * standard error is not a terminal or the answer is JSON.
 */
export function showProgress({ terminal: { stderr }, json }: Watched): Progress {
  const shows = stderr.isTTY && !json
  const clear = '\r\u001B[K'
  // A line that wrapped could not be cleared. A terminal that does not know its width reports 0.
  const fitting = (text: string): string => text.slice(0, (stderr.columns || 80) - 3)
  let isShown = false
  return {
    step: (text) => {
      if (!shows) return
      isShown = true
      stderr.write(`${clear}${fitting(text)} …`)
    },
    done: () => void (isShown && stderr.write(clear))
  }
}

/** Shows `text` while `work` runs, and clears it before anything else is printed. */
export function whileShowing<T>(watched: Watched, text: string, work: () => T): T {
  const progress = showProgress(watched)
  progress.step(text)
  try {
    return work()
  } finally {
    progress.done()
  }
}
