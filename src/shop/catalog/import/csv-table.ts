import { CsvError, parse } from 'csv-parse/sync'
import { refuseFile } from './file-errors.ts'

/** A record of the file. `line` is the physical line it starts on; `cell` returns '' for a column that does not exist. */
export type Row = { line: number; cells: string[]; cell: (column: string) => string }
export type Table = {
  columns: string[]
  has: (column: string) => boolean
  /** The name that a column has in the file, which differs for a renamed one. Undefined names are returned unchanged. */
  titleOf: (column: string) => string
  rows: Row[]
}

const causes: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quoted cell that starts in this row is not closed.',
  CSV_INVALID_CLOSING_QUOTE: 'A quote inside a quoted cell must be doubled.',
  INVALID_OPENING_QUOTE: 'A cell that contains a quote must be quoted.'
}

/**
 * Parses CSV text. The first record contains the column names, which are matched ignoring case. The separator is the
 * comma, or the semicolon or tab when the header has more of those, or the one of a first line such as `sep=;`, which
 * Excel writes. Empty rows are dropped.
 *
 * @throws AppError VALIDATION_FAILED for text that is not valid CSV
 */
export function readTable(text: string): Table {
  // csv-parse counts \r\n within quotes as two lines, so all line ends become \n first.
  const lines = text.replace(/\r\n?/g, '\n')
  const [first = '', declared] = /^"?sep=([^"\n])"?\n/i.exec(lines) ?? []
  const rest = lines.slice(first.length)
  const records = readRecords(rest, declared ?? delimiterOf(rest), first === '' ? 0 : 1)
  const [header, ...body] = records
  if (!header || header.cells.every((name) => name.trim() === '')) refuseFile(1, null, 'The file is empty.')
  const columns = distinct(header.cells.map((name, index) => name.trim() || `Column ${index + 1}`))
  const rows = body.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  for (const { line, cells } of rows) {
    const extra = cells.slice(columns.length).some((cell) => cell.trim() !== '')
    if (extra)
      refuseFile(line, null, 'The row has more cells than the header. A cell that contains a separator must be quoted.')
  }
  return toTable(columns, columns, rows)
}

/**
 * Gives columns other names. Their cells are found by the new name; messages show the one of the file. Two columns of the
 * same name stay distinct.
 */
export function renameColumns(table: Table, rename: (column: string) => string): Table {
  const titles = table.columns.map(table.titleOf)
  return toTable(
    distinct(table.columns.map(rename)),
    titles,
    table.rows.map(({ line, cells }) => ({ line, cells }))
  )
}

type CsvRecord = { line: number; cells: string[] }

function toTable(columns: string[], titles: readonly string[], records: readonly CsvRecord[]): Table {
  const places = new Map(columns.map((name, index) => [name.toLowerCase(), index]))
  const placeOf = (column: string): number => places.get(column.toLowerCase()) ?? -1
  return {
    columns,
    has: (column) => placeOf(column) !== -1,
    titleOf: (column) => titles[placeOf(column)] ?? column,
    rows: records.map(({ line, cells }) => ({
      line,
      cells,
      cell: (column) => unescapeFormula(cells[placeOf(column)] ?? '')
    }))
  }
}

function readRecords(text: string, delimiter: string, linesBefore: number): CsvRecord[] {
  const records: CsvRecord[] = []
  let lastLine = 0
  try {
    parse(text, {
      delimiter,
      record_delimiter: '\n',
      relax_column_count: true,
      on_record: (cells: string[], { lines }) => {
        records.push({ line: linesBefore + lastLine + 1, cells })
        lastLine = lines
        return null
      }
    })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    refuseFile(linesBefore + lastLine + 1, null, causes[error.code] ?? 'The row is not valid CSV.')
  }
  return records
}

/** The separator that the header has most of, outside of quotes. */
function delimiterOf(text: string): string {
  const end = text.indexOf('\n')
  const header = (end === -1 ? text : text.slice(0, end)).replaceAll(/"[^"]*"/g, '')
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).delimiter
}

/** A repeated column name becomes `Name (2)`, so that its cells are reported as ignored. */
function distinct(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map((name) => {
    const count = (seen.get(name.toLowerCase()) ?? 0) + 1
    seen.set(name.toLowerCase(), count)
    return count === 1 ? name : `${name} (${count})`
  })
}

/** WooCommerce writes an apostrophe before a cell that a spreadsheet would run as a formula (`'-5`, `'=…`). */
function unescapeFormula(cell: string): string {
  return /^'[=+\-@\t]/.test(cell) ? cell.slice(1).trim() : cell.trim()
}
