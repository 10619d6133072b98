import stringWidth from 'fast-string-width'

/** A time is shown to the minute in the time zone of the process. */
export type Cell = string | number | Date | null

/** Rows under a head. It becomes text when it is printed, because the width of the terminal decides its layout. */
export class Table {
  readonly head: readonly string[]
  readonly rows: Iterable<readonly Cell[]>
  readonly ifEmpty: string | undefined

  constructor(head: readonly string[], rows: Iterable<readonly Cell[]>, ifEmpty?: string) {
    this.head = head
    this.rows = rows
    this.ifEmpty = ifEmpty
  }
}

/**
 * A table for the answer of a command. Rows of an iterator are read while the table is printed.
 *
 * @param ifEmpty the line to print instead of a table without rows (default: only its head)
 */
export function table(head: readonly string[], rows: Iterable<readonly Cell[]>, ifEmpty?: string): Table {
  return new Table(head, rows, ifEmpty)
}

const gap = 2
/** A space, but not the one within a time. */
const betweenWords = / (?!\d\d:\d\d(?:Z|[+-]))/
/** The rows that decide the widths of the columns; a wider cell of a later row moves the cells after it. */
const measuredRows = 1000

/**
 * The lines of a table: columns two spaces apart, without borders. The time is linear in the number of rows, and only
 * the first rows are in memory.
 *
 * @param columns the width to fit. A wide cell continues on the next line, broken between words; a word such as an email
 *   address or an id stays whole, so that it can be copied. Infinity gives each row one line.
 * @param options.styleHead gives the lines of the head another look, such as bold
 * @param options.breaksWords breaks words, too, when nothing else makes the table fit; for prose
 */
export function* tableLines(
  { head, rows, ifEmpty }: Table,
  columns: number,
  { breaksWords = false, styleHead = (line: string): string => line } = {}
): Generator<string, void> {
  const first: string[][] = [[...head]]
  const rest = rows[Symbol.iterator]()
  let next = rest.next()
  if (next.done && ifEmpty !== undefined) {
    yield ifEmpty
    return
  }
  while (!next.done && first.length <= measuredRows) {
    first.push(next.value.map(toText))
    next = rest.next()
  }
  const layout = fittingLayout(first, columns, breaksWords)
  for (const line of rowLines(first[0] ?? [], layout)) yield styleHead(line)
  for (const row of first.slice(1)) yield* rowLines(row, layout)
  while (!next.done) {
    yield* rowLines(next.value.map(toText), layout)
    next = rest.next()
  }
}

function toText(cell: Cell): string {
  if (cell instanceof Date) return localTime(cell)
  return cell === null ? '-' : plain(String(cell))
}

/** The time of an ISO 8601 text or of epoch milliseconds, as a cell; null stays null. */
export function timeCell(at: string | number | null): Date | null {
  return at === null ? null : new Date(at)
}

/** The time of an ISO 8601 text or of epoch milliseconds as in a table, for a line of text. */
export function timeText(at: string | number): string {
  return localTime(new Date(at))
}

/** `2026-11-23 12:00+01:00`; with `Z` in UTC. */
function localTime(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const east = -at.getTimezoneOffset()
  const [hours, minutes] = [Math.trunc(Math.abs(east) / 60), Math.abs(east) % 60]
  const zone = east === 0 ? 'Z' : `${east < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}${zone}`
}

/** The widths of the columns, and the widths at which cells break: Infinity for a column that is not narrowed. */
type Layout = { widths: readonly number[]; limits: readonly number[]; breaksWords: boolean }

/** The widest column that can still be broken between words gives way until all fit. */
function fittingLayout(rows: readonly (readonly string[])[], columns: number, breaksWords: boolean): Layout {
  const widest = (measure: (cell: string) => number): number[] =>
    (rows[0] ?? []).map((_, column) => rows.reduce((most, row) => Math.max(most, measure(row[column] ?? '')), 0))
  const natural = widest(widthOf)
  const between = totalOf(natural) <= columns ? natural : narrowed(natural, widest(longestWord), columns)
  const isTooWide = breaksWords && totalOf(between) > columns
  const widths = isTooWide ? narrowed(between, natural.map(Math.sign), columns) : between
  const limits = widths.map((width, column) => (width < (natural[column] ?? 0) ? width : Infinity))
  return { widths, limits, breaksWords }
}

function narrowed(from: readonly number[], least: readonly number[], columns: number): number[] {
  const widths = [...from]
  let excess = totalOf(widths) - columns
  while (excess > 0) {
    const slack = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0))
    const [largest, second = 0] = slack.toSorted((a, b) => b - a)
    if (largest === undefined || largest === 0) break
    const column = slack.indexOf(largest)
    const cut = Math.min(excess, Math.max(1, largest - second), largest - (least[column] ?? 0))
    widths[column] = largest - cut
    excess -= cut
  }
  return widths
}

const totalOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + gap, -gap)

const longestWord = (cell: string): number =>
  cell.split(betweenWords).reduce((most, word) => Math.max(most, widthOf(word)), 0)

/** The columns of a text on a terminal. Most texts are ASCII, which needs no table of characters. */
function widthOf(text: string): number {
  return isAscii(text) ? text.length : stringWidth(text)
}

function* rowLines(cells: readonly string[], { widths, limits, breaksWords }: Layout): Generator<string, void> {
  const parts = cells.map((cell, column) => broken(cell, limits[column] ?? Infinity, breaksWords))
  const height = parts.reduce((most, { length }) => Math.max(most, length), 1)
  for (let line = 0; line < height; line += 1) {
    let text = ''
    let [at, start] = [0, 0]
    for (const [column, part] of parts.entries()) {
      const piece = part[line] ?? ''
      if (piece !== '') {
        const space = Math.max(column === 0 ? 0 : gap, start - at)
        text += ' '.repeat(space) + piece
        at += space + widthOf(piece)
      }
      start += (widths[column] ?? 0) + gap
    }
    yield text.trimEnd()
  }
}

/** Breaks a cell between words, and a word that is wider than the column only if asked to. */
function broken(cell: string, limit: number, breaksWords: boolean): string[] {
  if (limit === Infinity || widthOf(cell) <= limit) return [cell]
  const lines: string[] = []
  let [line, lineWidth] = ['', -1]
  // Every piece of a word but its last one fills a line, so that the next one starts a line.
  const piecesOf = (word: string): string[] => word.match(new RegExp(`.{1,${limit}}`, 'gu')) ?? ['']
  const words = cell.split(betweenWords)
  for (const word of breaksWords ? words.flatMap(piecesOf) : words) {
    const wordWidth = widthOf(word)
    if (lineWidth >= 0 && lineWidth + 1 + wordWidth > limit) {
      lines.push(line)
      ;[line, lineWidth] = [word, wordWidth]
    } else {
      line += lineWidth < 0 ? word : ` ${word}`
      lineWidth += 1 + wordWidth
    }
  }
  return [...lines, line]
}

/** Untrusted text without control characters: it must not move the cursor, change colours or the writing direction. */
export function plain(text: string): string {
  return isAscii(text) ? text : text.replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, ' ')
}

/** Whether a text has only printable ASCII characters, as most have. */
function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text)
}
