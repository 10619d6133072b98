import type { z } from 'zod'
import { amountCell, toCsv } from '../../platform/csv.ts'
import type { CsvCell } from '../../platform/csv.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDay, toIso } from '../../platform/iso-time.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import { assetPath } from '../../platform/package-root.ts'
import { openTemplates } from '../../platform/templates.ts'
import { csvMark } from '../../platform/text.ts'
import type { PeriodKind, PeriodOptions } from './days.ts'

export type Money = { minor: number; currency: string }
type Json = string | number | boolean | null | readonly Json[] | JsonObject
type JsonObject = { [name: string]: Json }

/** The values of a column: a time is epoch milliseconds, a percentage is in percent. */
type Kinds = {
  text: string
  count: number
  percent: number
  money: Money
  time: number
  yesNo: boolean
  words: readonly string[]
}
type Kind = keyof Kinds

/** How a kind of value looks. `ifMissing` is the text of a value that a row does not have. */
type Form<T> = {
  isNumber: boolean
  json: (value: T) => Json
  csv: (value: T) => CsvCell
  text: (value: T) => string
  ifMissing: '' | '-'
}

const same = <T>(value: T): T => value
const forms: { [K in Kind]: Form<Kinds[K]> } = {
  text: { isNumber: false, json: same, csv: same, text: same, ifMissing: '' },
  count: { isNumber: true, json: same, csv: same, text: String, ifMissing: '-' },
  percent: { isNumber: true, json: same, csv: same, text: (value) => `${value} %`, ifMissing: '-' },
  money: {
    isNumber: true,
    json: ({ minor, currency }) => toMajor(minor, currency),
    csv: ({ minor, currency }) => amountCell(minor, currency),
    text: ({ minor, currency }) => formatMoney(minor, currency),
    ifMissing: '-'
  },
  time: { isNumber: false, json: toIso, csv: toIso, text: toDay, ifMissing: '-' },
  yesNo: {
    isNumber: false,
    json: same,
    csv: (value) => (value ? 'yes' : 'no'),
    text: (value) => (value ? 'yes' : 'no'),
    ifMissing: '-'
  },
  words: {
    isNumber: false,
    json: same,
    csv: (value) => value.join(' '),
    text: (value) => value.join(' '),
    ifMissing: ''
  }
}

type ColumnOf<Row, K extends Kind> = {
  /** The field in the JSON; `stripe.fee` is a field of an object, which is null if the row has none. */
  key: string
  kind: K
  /** Null for a value that the row does not have; undefined for one whose object it does not have. */
  value: (row: Row) => Kinds[K] | null | undefined
  /** Of the table. A column without a title is only in the files. */
  title?: string
  /** In the table, instead of the value. */
  text?: (row: Row) => string
  /** The name in the CSV (default: the last word of the key in snake case); null for a column that is not in it. */
  csv?: string | null
  /** Only a page has room for it. */
  isDetail?: true
  /** `sum` adds the values up for the totals. */
  total?: 'sum' | ((rows: readonly Row[]) => Kinds[K])
  /** The total is one of the figures at the top. */
  isFigure?: true
}
export type Column<Row> = { [K in Kind]: ColumnOf<Row, K> }[Kind]

/** An option of a report besides its period and its files; `count` takes a number, which is its default. */
type ReportOption = { name: string; flags: string; about: string; choices?: readonly string[]; count?: number }
export const limitOption: ReportOption = {
  name: 'limit',
  flags: '--limit <n>',
  about: 'maximum number of rows',
  count: 100
}

type Asked<Shop, Period, Options> = {
  shop: Shop
  period: Period
  /** The period in words. */
  periodText: string
  options: Options
  onStep: (text: string) => void
}

/** A bar of a chart; `text` is its value in words. */
export type Bar = { label: string; value: number; text: string }
/** `columns` stand side by side, for a course of time; `bars` lie below each other, for names. */
export type Chart = { title: string; kind: 'columns' | 'bars'; bars: Bar[] }
type Figure = { label: string; value: string }

/** What a report found. */
type Found<Row> = {
  /** Default: the period in words. */
  subtitle?: string
  /** What the JSON says besides the period, the rows and the totals. */
  head?: object
  rows: readonly Row[]
  /** The number of rows to show, by --limit; the totals are those of all rows. */
  limit?: number
  /** The rows that the totals add up, if they are other ones. */
  counted?: readonly Row[]
  /** Titles of columns that depend on the options, by key. */
  titles?: Readonly<Record<string, string>>
  /** Before those of the columns. */
  figures?: Figure[]
  charts?: Chart[]
  notes: readonly string[]
}

type Definition<Shop, Row, Period, Input extends z.ZodType> = {
  name: string
  title: string
  about: string
  example: string
  period: PeriodKind<Period>
  options?: readonly ReportOption[]
  /** Reads the options. */
  input: Input
  columns: readonly Column<Row>[]
  /** The line of the sums in the table. With `by`, a line for each of these currencies, and `totals` in the JSON. */
  totals?: { label: string; by?: (row: Row) => string }
  /** The length of a row's bar on a terminal. */
  bar?: (row: Row) => number
  /** Files for other programs, besides the CSV of the columns. */
  formats?: readonly FileFormat<Shop, Row, Period>[]
  read: (asked: Asked<Shop, Period, z.output<Input>>) => Found<Row> | Promise<Found<Row>>
}

/** A file for another program. `write` throws AppError CONFLICT for rows that the program cannot take. */
export type FileFormat<Shop, Row, Period> = {
  name: string
  about: string
  /** Of its bytes, if they are not UTF-8. */
  charset?: string
  write: (found: { shop: Shop; period: Period; rows: readonly Row[] }) => string | Uint8Array
}

/** A report for people: the text of a terminal and of a page. */
export type ReportPage = {
  title: string
  subtitle: string
  figures: Figure[]
  charts: Chart[]
  columns: { name: string; isNumber: boolean; isDetail: boolean }[]
  rows: { cells: string[]; bar?: number }[]
  notes: readonly string[]
}

/** A report with what was found, in each of its forms. Amounts in `head`, `totals` and `rows` are in major units. */
export type MadeReport = {
  head: object
  totals?: JsonObject[]
  rows: JsonObject[]
  /** The rows as a file in one of its formats. @throws AppError CONFLICT for rows that the format cannot take */
  file: (format: string) => Uint8Array<ArrayBuffer>
  page: ReportPage
}

/** The format of a file with the columns of the report. */
export const plainFormat = 'csv'

/** A report as a command offers it. `given` are the options as the command line has them; missing ones have their defaults. */
export type Report<Shop> = {
  name: string
  about: string
  example: string
  period: Pick<PeriodKind<unknown>, 'options'>
  options: readonly ReportOption[]
  /** The formats of its file, `csv` first. */
  formats: readonly { name: string; about: string; charset?: string }[]
  make: (
    shop: Shop,
    given: PeriodOptions & Readonly<Record<string, unknown>>,
    now: number,
    onStep?: (text: string) => void
  ) => Promise<MadeReport>
}

/** Makes a report of a definition. Its `make` throws the errors of the period, the input and `read`. */
export function defineReport<Row, Period, Input extends z.ZodType, Shop extends { db: Db } = { db: Db }>(
  definition: Definition<Shop, Row, Period, Input>
): Report<Shop> {
  const { name, about, example, period, options = [], formats = [], input, read } = definition
  const defaults = Object.fromEntries(options.map(({ name: option, count }) => [option, count]))
  const make: Report<Shop>['make'] = async (shop, given, now, onStep = () => undefined) => {
    const asked = { shop, period: period.parse(given, now, shop.db), options: input.parse({ ...defaults, ...given }) }
    const { text: periodText, head } = period.describe(asked.period, shop.db)
    const found = await read({ ...asked, periodText, onStep })
    const made = toReport(definition, { subtitle: periodText, ...found, head: { ...head, ...found.head } })
    const file: MadeReport['file'] = (format) => {
      const own = formats.find((each) => each.name === format)
      const content = own === undefined ? csvMark + made.csv() : own.write({ ...asked, rows: found.rows })
      return typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content)
    }
    return { ...made, file }
  }
  const plain = { name: plainFormat, about: 'a table with the columns of the report' }
  return { name, about, example, period, options, formats: [plain, ...formats], make }
}

type Titled<Row> = Found<Row> & { subtitle: string; head: object }
type Shape<Row> = Pick<Definition<never, Row, never, z.ZodType>, 'title' | 'columns' | 'totals' | 'bar'>

function toReport<Row>(shape: Shape<Row>, found: Titled<Row>): Omit<MadeReport, 'file'> & { csv: () => string } {
  const { columns, totals } = shape
  const shown = found.rows.slice(0, found.limit)
  const counted = found.counted ?? found.rows
  const groups = [...Map.groupBy(counted, totals?.by ?? (() => ''))]
  const inCsv = columns.filter(({ csv }) => csv !== null)
  return {
    head: found.head,
    ...(totals?.by === undefined ? {} : { totals: groups.map((group) => totalJson(columns, group)) }),
    rows: shown.map((row) => toJson(columns, row)),
    csv: () =>
      toCsv(
        inCsv.map(csvName),
        shown.map((row) => inCsv.map((column) => csvCell(column, row)))
      ),
    page: toPage(
      shape,
      found,
      shown,
      totals === undefined ? [] : totals.by === undefined ? [counted] : groups.map(([, rows]) => rows)
    )
  }
}

function toPage<Row>(
  shape: Shape<Row>,
  found: Titled<Row>,
  shown: readonly Row[],
  groups: (readonly Row[])[]
): ReportPage {
  const { title, totals, bar } = shape
  const { subtitle, titles = {}, figures = [], charts = [], notes } = found
  const columns = shape.columns.filter((column) => column.title !== undefined)
  const counted = groups.flat()
  const left = found.rows.length - shown.length
  const summed = shape.columns.filter(({ isFigure }) => isFigure === true)
  return {
    title,
    subtitle,
    figures: [
      ...figures,
      ...summed.map((column) => ({ label: column.title ?? '', value: totalText(column, counted) }))
    ],
    charts,
    columns: columns.map(({ key, kind, title: name = '', isDetail = false }) => ({
      name: titles[key] ?? name,
      isNumber: forms[kind].isNumber,
      isDetail
    })),
    rows: [
      ...shown.map((row) => ({ cells: columns.map((column) => textOf(column, row)), bar: bar?.(row) })),
      ...groups.map((rows) => ({
        cells: columns.map((column, index) => (index === 0 ? (totals?.label ?? '') : totalText(column, rows)))
      }))
    ],
    notes: [...notes, ...(left > 0 ? [`${left} more rows are not shown. Pass --limit for a longer list.`] : [])]
  }
}

function textOf<Row, K extends Kind>({ kind, value, text }: ColumnOf<Row, K>, row: Row): string {
  if (text !== undefined) return text(row)
  const found = value(row)
  return found === null || found === undefined ? forms[kind].ifMissing : forms[kind].text(found)
}

function csvName({ key, csv }: Pick<Column<never>, 'key' | 'csv'>): string {
  return csv ?? key.replace(/^.*\./, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function csvCell<Row, K extends Kind>({ kind, value }: ColumnOf<Row, K>, row: Row): CsvCell {
  const found = value(row)
  return found === null || found === undefined ? null : forms[kind].csv(found)
}

function toJson<Row>(columns: readonly Column<Row>[], row: Row): JsonObject {
  const json: JsonObject = {}
  for (const column of columns) put(json, column.key.split('.'), jsonOf(column, row))
  return json
}

function jsonOf<Row, K extends Kind>({ kind, value }: ColumnOf<Row, K>, row: Row): Json | undefined {
  const found = value(row)
  return found === null || found === undefined ? found : forms[kind].json(found)
}

/** Sets a field by its path. Without a value, the first object of the path that no other field has made is null. */
function put(json: JsonObject, [name = '', ...rest]: readonly string[], value: Json | undefined): void {
  const known = json[name]
  if (rest.length === 0) json[name] = value ?? null
  else if (isObject(known)) put(known, rest, value)
  else if (value === undefined) json[name] = null
  else put((json[name] = {}), rest, value)
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The total of a column; of amounts, a sum for each currency. */
function totalOf<Row>(column: Column<Row>, rows: readonly Row[]): { text: string; json: Json } | undefined {
  if (column.total === undefined) return undefined
  if (column.kind === 'money') {
    const sums = moneySums(rows.flatMap((row) => column.value(row) ?? []))
    return { text: moneyText(sums), json: sums[0] === undefined ? 0 : forms.money.json(sums[0]) }
  }
  if (typeof column.total === 'function') return formed(column, column.total(rows))
  if (column.kind !== 'count') return undefined
  return formed(
    column,
    rows.reduce((sum, row) => sum + (column.value(row) ?? 0), 0)
  )
}

function formed<K extends Kind>({ kind }: { kind: K }, value: Kinds[K]): { text: string; json: Json } {
  return { text: forms[kind].text(value), json: forms[kind].json(value) }
}

function totalText<Row>(column: Column<Row>, rows: readonly Row[]): string {
  return totalOf(column, rows)?.text ?? ''
}

function totalJson<Row>(
  columns: readonly Column<Row>[],
  [currency, rows]: readonly [string, readonly Row[]]
): JsonObject {
  const totals = columns.flatMap((column) => {
    const total = totalOf(column, rows)
    return total === undefined ? [] : [[column.key, total.json] as const]
  })
  return { currency, ...Object.fromEntries(totals) }
}

/** The sum of each currency. */
export function moneySums(amounts: readonly Money[]): Money[] {
  return [...Map.groupBy(amounts, ({ currency }) => currency)].map(([currency, some]) => ({
    currency,
    minor: some.reduce((sum, { minor }) => sum + minor, 0)
  }))
}

/** Sums as text: `€12.50 and $3.00`. */
function moneyText(sums: readonly Money[]): string {
  const some = sums.filter(({ minor }) => minor !== 0)
  const shown = some.length > 0 ? some : sums.slice(0, 1)
  return shown.length === 0 ? '-' : shown.map(({ minor, currency }) => formatMoney(minor, currency)).join(' and ')
}

/** An amount of a row in the row's currency, as a column takes it; null or undefined for one that the row does not have. */
export function amount<Row extends { currency: string }>(
  minorOf: (row: Row) => number | null | undefined
): (row: Row) => Money | null | undefined {
  return (row) => {
    const minor = minorOf(row)
    return minor === null || minor === undefined ? minor : { minor, currency: row.currency }
  }
}

/** What columns of amounts with a total have in common. */
export const money = { kind: 'money', total: 'sum' } as const

/** The columns of a net amount and its tax, with the title of the latter. */
export function netAndTax(taxTitle: string): Column<{ currency: string; netMinor: number; taxMinor: number }>[] {
  return [
    { key: 'net', ...money, title: 'Net', isFigure: true, value: amount(({ netMinor }) => netMinor) },
    { key: 'tax', csv: 'tax_amount', ...money, title: taxTitle, isFigure: true, value: amount((row) => row.taxMinor) }
  ]
}

/** A chart of amounts for each currency, of the first `most` rows. */
export function chartsByCurrency<Row extends { currency: string }>(
  { title, kind, most }: Pick<Chart, 'title' | 'kind'> & { most?: number },
  rows: readonly Row[],
  toBar: (row: Row) => { label: string; minor: number }
): Chart[] {
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, own]) => ({
    title: `${title}, ${currency}`,
    kind,
    bars: own
      .slice(0, most)
      .map(toBar)
      .map(({ label, minor }) => ({ label, value: minor, text: formatMoney(minor, currency) }))
  }))
}

/** One HTML page of a report, with charts as SVG. It loads nothing, has no script, and prints on A4. */
export function reportHtml(shopName: string, page: ReportPage, madeAt: string): string {
  return openTemplates(assetPath('operations', 'reports')).html('report.eta', {
    shopName,
    madeAt,
    ...page,
    charts: page.charts.filter(({ bars }) => bars.some(({ value }) => value > 0)).map(drawn)
  })
}

/** The bars with their length in percent of the longest one. */
function drawn({ title, kind, bars }: Chart) {
  const most = Math.max(...bars.map(({ value }) => value))
  const longest = bars.find(({ value }) => value === most)
  return {
    title,
    kind,
    most: longest?.text ?? '',
    first: bars[0]?.label ?? '',
    last: bars.at(-1)?.label ?? '',
    bars: bars.map(({ label, value, text }) => ({ label, text, percent: (Math.max(0, value) / most) * 100 }))
  }
}
