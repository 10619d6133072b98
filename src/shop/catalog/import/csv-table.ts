import { CsvError, parse } from 'csv-parse/sync'
import { refuseFile } from './file-errors.ts'

/** A record of the file. `line` is the physical line it starts on; `cell` returns '' for a column that does not exist. */
export type Row = { line: number; cell: (column: string) => string }
export type Table = { columns: string[]; has: (column: string) => boolean; rows: Row[] }

const causes: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quoted cell that starts in this row is not closed.',
  CSV_INVALID_CLOSING_QUOTE: 'A quote inside a quoted cell must be doubled.',
  INVALID_OPENING_QUOTE: 'A cell that contains a quote must be quoted.'
}

/**
 * Parses CSV text. The first record contains the column names, which are matched ignoring case. The separator is the
 * comma, or the semicolon or tab when the header has more of those. Empty rows are dropped.
 *
 * @throws AppError VALIDATION_FAILED for text that is not valid CSV
 */
export function readTable(text: string): Table {
  // csv-parse counts \r\n within quotes as two lines, so all line ends become \n first.
  const records = readRecords(text.replace(/\r\n?/g, '\n'))
  const [header, ...body] = records
  if (!header || header.cells.every((name) => name.trim() === '')) refuseFile(1, null, 'The file is empty.')
  const columns = distinct(header.cells.map((name, index) => name.trim() || `Column ${index + 1}`))
  const places = new Map(columns.map((name, index) => [name.toLowerCase(), index]))
  const rows = body.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  for (const { line, cells } of rows) {
    const extra = cells.slice(columns.length).some((cell) => cell.trim() !== '')
    if (extra)
      refuseFile(line, null, 'The row has more cells than the header. A cell that contains a separator must be quoted.')
  }
  return {
    columns,
    has: (column) => places.has(column.toLowerCase()),
    rows: rows.map(({ line, cells }) => ({
      line,
      cell: (column) => unescapeFormula(cells[places.get(column.toLowerCase()) ?? -1] ?? '')
    }))
  }
}

type CsvRecord = { line: number; cells: string[] }

function readRecords(text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let lastLine = 0
  try {
    parse(text, {
      delimiter: delimiterOf(text),
      record_delimiter: '\n',
      relax_column_count: true,
      on_record: (cells: string[], { lines }) => {
        records.push({ line: lastLine + 1, cells })
        lastLine = lines
        return null
      }
    })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    refuseFile(lastLine + 1, null, causes[error.code] ?? 'The row is not valid CSV.')
  }
  return records
}

function delimiterOf(text: string): string {
  const end = text.indexOf('\n')
  const header = end === -1 ? text : text.slice(0, end)
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
