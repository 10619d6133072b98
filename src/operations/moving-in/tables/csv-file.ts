import { createReadStream, openSync, readSync, closeSync } from 'node:fs'
import { basename } from 'node:path'
import { CsvError, parse } from 'csv-parse'
import { AppError } from '../../../errors.ts'
import {
  delimiterOf,
  hasUtf8Sequence,
  notUtf8,
  unescapeFormula,
  utf16Of
} from '../../../shop/catalog/import/csv-table.ts'
import { formatFileError } from '../../../shop/catalog/import/report.ts'

/** A row of a table. `line` is the physical line on which it starts. */
export type CsvRow = {
  line: number
  /** The cell of a field, trimmed; empty for a column that the file does not have. */
  cell: (field: string) => string
  /** Whether the row has more cells than the header. */
  isTooLong: boolean
}

/** A CSV file that is read row by row, so that a large one needs little memory. */
export type CsvFile = {
  name: string
  /** The names of the columns in the file. */
  columns: readonly string[]
  has(field: string): boolean
  /** The name that the column of a field has in the file. */
  titleOf(field: string): string
  rows(): AsyncGenerator<CsvRow>
}

/** The titles that the column of a field can have, apart from the name of the field itself. */
export type Fields = Readonly<Record<string, readonly string[]>>

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
const headBytes = 65_536

/**
 * Opens a CSV file of another shop. Columns have the name of a field, one of its titles, or are named by `map`.
 *
 * @throws AppError NOT_FOUND for a file that cannot be read; USAGE for a map that does not fit; VALIDATION_FAILED for a file
 *   that is empty or not a table, with what to pass instead
 */
export async function openCsv(
  path: string,
  fields: Fields,
  map: Readonly<Record<string, string>> = {}
): Promise<CsvFile> {
  const name = basename(path)
  const encoding = await encodingOf(path, name)
  const head = new TextDecoder(encoding).decode(readHead(path)).replace(/\r\n?/g, '\n')
  refuseOther(name, head)
  const [first = '', declared] = /^"?sep=([^"\n])"?\n/i.exec(head) ?? []
  const reading = {
    path,
    name,
    encoding,
    delimiter: declared ?? delimiterOf(head.slice(first.length)),
    skip: first.length
  }
  const header = await headerOf(reading)
  const places = placesOf(header, fields, map)
  return {
    name,
    columns: header,
    has: (field) => places.has(field),
    titleOf: (field) => header[places.get(field) ?? -1] ?? field,
    async *rows() {
      let isHeader = true
      for await (const { cells, line } of recordsOf(reading)) {
        if (isHeader) isHeader = false
        else if (cells.some((cell) => cell.trim() !== ''))
          yield {
            line,
            cell: (field) => unescapeFormula(cells[places.get(field) ?? -1] ?? ''),
            isTooLong: cells.slice(header.length).some((cell) => cell.trim() !== '')
          }
      }
    }
  }
}

function placesOf(
  header: readonly string[],
  fields: Fields,
  map: Readonly<Record<string, string>>
): ReadonlyMap<string, number> {
  const titles = header.map((title) => title.toLowerCase())
  const places = new Map<string, number>()
  for (const [field, known] of Object.entries(fields))
    for (const title of [field, ...known]) {
      const at = titles.indexOf(title.toLowerCase())
      if (at !== -1 && !places.has(field)) places.set(field, at)
    }
  for (const [column, field] of Object.entries(map)) {
    const at = titles.indexOf(column.trim().toLowerCase())
    if (at === -1)
      throw new AppError('USAGE', `The file has no column ${column}. Its columns are ${header.join(', ')}.`)
    if (!(field in fields))
      throw new AppError('USAGE', `${field} is not a field. Fields are ${Object.keys(fields).join(', ')}.`)
    places.set(field, at)
  }
  return places
}

type CsvRecord = { cells: string[]; line: number }
type Reading = { path: string; name: string; encoding: Encoding; delimiter: string; skip: number }

async function headerOf(reading: Reading): Promise<string[]> {
  for await (const { cells } of recordsOf(reading)) {
    const titles = cells.map((cell) => cell.trim())
    if (titles.some((title) => title !== '')) return titles
    break
  }
  throw new AppError('VALIDATION_FAILED', `${reading.name}: The file is empty.`)
}

async function* recordsOf(reading: Reading): AsyncGenerator<CsvRecord> {
  const { name, delimiter, skip } = reading
  const before = skip > 0 ? 1 : 0
  let lastLine = before
  let found: CsvRecord[] = []
  const parser = parse({
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    on_record: (cells: string[], { lines }) => {
      found.push({ cells, line: lastLine + 1 })
      lastLine = before + lines
      return null
    }
  })
  const failed = new Promise<Error | undefined>((resolve) => {
    parser.on('error', resolve)
    parser.on('end', () => resolve(undefined))
  })
  parser.resume()
  for await (const text of textOf(reading)) {
    const error = await new Promise<Error | null | undefined>((resolve) => parser.write(text, resolve))
    yield* found
    found = []
    if (error) break
  }
  parser.end()
  const error = await failed
  yield* found
  if (error === undefined) return
  if (!(error instanceof CsvError)) throw error
  const cause = 'The row is not valid CSV: a quote is not closed, or not doubled within a quoted cell.'
  throw new AppError('VALIDATION_FAILED', `${name}: ${formatFileError({ line: lastLine + 1, column: null, cause })}`)
}

/** The text of a file in parts. Line ends become \n first, because the parser counts \r\n in quotes twice. */
async function* textOf({ path, encoding, skip }: Reading): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  let held = ''
  let left = skip
  for await (const chunk of createReadStream(path)) {
    const text = held + decoder.decode(Buffer.from(chunk), { stream: true })
    held = text.endsWith('\r') ? '\r' : ''
    const lines = text.slice(0, text.length - held.length).replace(/\r\n?/g, '\n')
    yield lines.slice(left)
    left = Math.max(0, left - lines.length)
  }
}

/** UTF-16, or UTF-8 if the whole file is; otherwise the encoding of older spreadsheets. */
async function encodingOf(path: string, name: string): Promise<Encoding> {
  const head = readHead(path)
  if (head[0] === 0x50 && head[1] === 0x4b)
    throw new AppError('VALIDATION_FAILED', `${name} is a ZIP archive or a spreadsheet. Unpack it, or save it as CSV.`)
  const utf16 = utf16Of(head)
  if (utf16 !== undefined) return utf16
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of createReadStream(path)) decoder.decode(Buffer.from(chunk), { stream: true })
    decoder.decode()
    return 'utf-8'
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    await refusePartlyUtf8(path, name)
    return 'windows-1252'
  }
}

/** Refuses UTF-8 with a wrong byte: as Windows-1252, all its accents would be wrong. */
async function refusePartlyUtf8(path: string, name: string): Promise<void> {
  const [utf8, other] = [new TextDecoder(), new TextDecoder('windows-1252')]
  let [line, isBad, isUtf8, last] = [1, false, false, '']
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.from(chunk)
    if (!isBad) {
      const [good = '', rest] = utf8.decode(bytes, { stream: true }).split('\uFFFD', 2)
      line += good.split('\n').length - 1
      isBad = rest !== undefined
    }
    // A letter of two bytes can be at the end of a part.
    const text = last + other.decode(bytes)
    isUtf8 ||= hasUtf8Sequence(text)
    last = text.slice(-1)
  }
  if (!isUtf8) return
  throw new AppError('VALIDATION_FAILED', `${name}: ${formatFileError({ line, column: null, cause: notUtf8 })}`)
}

function readHead(path: string): Uint8Array {
  try {
    const descriptor = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(headBytes)
      return bytes.subarray(0, readSync(descriptor, bytes))
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    throw new AppError('NOT_FOUND', `${path} cannot be read.`, {}, { cause })
  }
}

const instead =
  'It has neither all parts of orders nor passwords. Write the database of the old shop to a file ("wp db export shop.sql") and pass that: shopstead import wordpress shop.sql'

/** What the beginning of a dump of WooCommerce or WordPress looks like, and what to do with it. */
const others: readonly { begins: RegExp; is: string; remedy: string }[] = [
  {
    begins: /^(?:--|\/\*)[^\n]*(?:mysql|mariadb) dump|^\s*(?:create table|insert into|drop table) /i,
    is: 'is a SQL dump',
    remedy: 'Pass it to the import of WordPress: shopstead import wordpress FILE'
  },
  { begins: /^\s*<\?xml|^\s*<rss/i, is: 'is an export of the WordPress importer', remedy: instead },
  { begins: /^\s*[[{]/, is: 'is JSON, as the REST API of WooCommerce and WP-CLI write it', remedy: instead },
  { begins: /^\+-+\+/, is: 'is a table of WP-CLI', remedy: instead },
  {
    begins: /^"?(?:id\b[^\n]*[,\t]"?(?:date_created_gmt|meta_data)\b|ID"?,"?user_login"?,)/,
    is: 'is a CSV of WP-CLI',
    remedy: instead
  }
]

/** Refuses what a shop may have of its data instead of a table. */
function refuseOther(name: string, head: string): void {
  const text = head.replace(/^\uFEFF/, '')
  if (text.trim() === '') throw new AppError('VALIDATION_FAILED', `${name}: The file is empty.`)
  const found = others.find(({ begins }) => begins.test(text))
  if (found !== undefined) throw new AppError('VALIDATION_FAILED', `${name} ${found.is}. ${found.remedy}.`)
}
