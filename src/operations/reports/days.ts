import { AppError, validationFailed } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDay, toIso } from '../../platform/iso-time.ts'
import { addDays, countDays, isDay, parseInstant } from '../../platform/days.ts'
import type { Edge } from '../../platform/days.ts'
import { endOfShopDay, shopDay, shopTimeZone, startOfShopDay } from '../../shop/settings/shop-days.ts'

/** Days (YYYY-MM-DD), both included. */
export type Days = { from: string; to: string }

export const units = ['day', 'week', 'month'] as const
export type Unit = (typeof units)[number]

/** A part of the days of a report, and its first instant and the one after its last (epoch ms). */
export type Part = Days & { startsAt: number; endsAt: number }

/** The unit that divides the days into at most about 45 parts, or into months. */
export function fittingUnit(days: Days): Unit {
  const count = countDays(days)
  return count <= 45 ? 'day' : count <= 200 ? 'week' : 'month'
}

/** The instants of days in the shop's time zone: the first, and the one after the last. */
export function spanOf(db: Db, { from, to }: Days): { startsAt: number; endsAt: number } {
  return { startsAt: startOfShopDay(db, from), endsAt: endOfShopDay(db, to) }
}

/** More rows than people look at; each of them is a query. */
const mostParts = 4000
const daysOf = { day: 1, week: 7, month: 28 }

/**
 * The days divided into days, weeks from Monday or months. The first and the last one can be shorter.
 *
 * @throws AppError VALIDATION_FAILED (`by`) for more than 4,000 parts
 */
export function partsOf(db: Db, days: Days, unit: Unit): Part[] {
  if (countDays(days) / daysOf[unit] > mostParts)
    throw validationFailed({ by: [`The days are too many for a row for each ${unit}.`] })
  const parts: Part[] = []
  let from = days.from
  let startsAt = startOfShopDay(db, from)
  for (;;) {
    const next = nextOf(from, unit)
    // Not as text: after 9999-12-31 a year has a sign.
    const isLast = Date.parse(next) > Date.parse(days.to)
    const end = isLast ? addDays(days.to, 1) : next
    const endsAt = startOfShopDay(db, end)
    parts.push({ from, to: addDays(end, -1), startsAt, endsAt })
    if (isLast) return parts
    ;[from, startsAt] = [end, endsAt]
  }
}

/** The first day of the next day, week or month. */
function nextOf(day: string, unit: Unit): string {
  if (unit === 'day') return addDays(day, 1)
  const date = new Date(day)
  if (unit === 'week') return addDays(day, 7 - ((date.getUTCDay() + 6) % 7))
  return toDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1))
}

export type PeriodOptions = { from?: string; to?: string; quarter?: string }

/** The length of a period without --from. */
const defaultDays = 30

/**
 * The period of a report, in epoch milliseconds; `to` is not included. Days are whole days of the shop's time zone.
 *
 * @throws AppError USAGE
 */
function parsePeriod(options: PeriodOptions, now: number, db: Db): { from: number; to: number } {
  const { from, to = now } = parseOpenPeriod(db, options)
  const first = startOfShopDay(db, addDays(shopDay(db, to - 1), 1 - defaultDays))
  const period = { from: from ?? first, to }
  if (period.from >= period.to) throw new AppError('USAGE', '--from must be before --to.')
  return period
}

/** Like `parsePeriod`; a side without an option is open. @throws AppError USAGE */
export function parseOpenPeriod(db: Db, { from, to }: PeriodOptions): { from?: number; to?: number } {
  return {
    ...(from === undefined ? {} : { from: parseTime(db, '--from', from, 'start') }),
    ...(to === undefined ? {} : { to: parseTime(db, '--to', to, 'end') })
  }
}

/**
 * Days (YYYY-MM-DD, both included); a side without an option is open.
 *
 * @throws AppError USAGE
 */
export function parseOpenDays(options: PeriodOptions): Partial<Days> {
  const { from, to } = options
  if (options.quarter !== undefined) return daysOfQuarter(parseQuarter(options))
  return {
    ...(from === undefined ? {} : { from: parseDay('--from', from) }),
    ...(to === undefined ? {} : { to: parseDay('--to', to) })
  }
}

function parseTime(db: Db, option: string, text: string, edge: Edge): number {
  const at = parseInstant(shopTimeZone(db), text, edge)
  if (at === undefined)
    throw new AppError('USAGE', `${option} takes a date such as 2026-01-31, or a time such as 2026-01-31T12:00Z.`)
  return at
}

/**
 * The days (YYYY-MM-DD, both included) of a report, until `today` by default.
 *
 * @param firstDay the first day without --from, by the last one
 * @throws AppError USAGE
 */
export function parseDays(options: PeriodOptions, today: string, firstDay: (last: string) => string): Days {
  if (options.quarter !== undefined) return daysOfQuarter(parseQuarter(options))
  const to = options.to === undefined ? today : parseDay('--to', options.to)
  const from = options.from === undefined ? firstDay(to) : parseDay('--from', options.from)
  if (from > to) throw new AppError('USAGE', '--from must not be after --to.')
  return { from, to }
}

/** @throws AppError USAGE */
function parseDay(option: string, text: string): string {
  if (!isDay(text)) throw new AppError('USAGE', `${option} takes a date such as 2026-01-31.`)
  return text
}

/** A quarter of a year, as 2026Q4. */
function parseQuarter({ from, to, quarter = '' }: PeriodOptions): string {
  if (from !== undefined || to !== undefined)
    throw new AppError('USAGE', '--quarter stands for --from and --to. Pass either the one or the others.')
  if (!/^\d{4}Q[1-4]$/.test(quarter))
    throw new AppError('USAGE', '--quarter takes a quarter from Q1 to Q4, such as 2026Q4.')
  return quarter
}

/** The quarter of a day, as 2026Q4. */
export function quarterOf(day: string): string {
  return `${day.slice(0, 4)}Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`
}

/** The days of a quarter. */
export function daysOfQuarter(quarter: string): Days {
  const [year, first] = [Number(quarter.slice(0, 4)), (Number(quarter.slice(5)) - 1) * 3]
  const monthsLater = (months: number): string => {
    const date = new Date(0)
    date.setUTCFullYear(year, first + months, 1)
    return toDay(date.getTime())
  }
  return { from: monthsLater(0), to: addDays(monthsLater(3), -1) }
}

/** The last quarter that is over on a day. */
export function lastQuarter(today: string): string {
  return quarterOf(addDays(daysOfQuarter(quarterOf(today)).from, -1))
}

type PeriodOption = { name: keyof PeriodOptions; flags: string; about: string }

/** A period as a report names it: in words, and in its JSON. */
type NamedPeriod = { text: string; head: object }

/** A kind of period: its options, what it makes of them, and how reports name it. `parse` throws AppError USAGE. */
export type PeriodKind<T> = {
  options: readonly PeriodOption[]
  parse: (options: PeriodOptions, now: number, db: Db) => T
  describe: (period: T, db: Db) => NamedPeriod
}

/** A period in the shop's time zone. */
function inShopTime(db: Db, text: string, head: object): NamedPeriod {
  const timeZone = shopTimeZone(db)
  return { text: `${text} (${timeZone})`, head: { ...head, timeZone } }
}

const describeDays = (days: Days, db: Db): NamedPeriod => inShopTime(db, `${days.from} to ${days.to}`, days)

const fromOption = (about: string): PeriodOption => ({ name: 'from', flags: '--from <date>', about })
const toOption = (about: string): PeriodOption => ({ name: 'to', flags: '--to <date>', about })
/** Instead of the first and the last day. */
export const quarterOption: PeriodOption = {
  name: 'quarter',
  flags: '--quarter <quarter>',
  about: 'the days of a quarter, such as 2026Q4, instead of --from and --to'
}
const lastDay = 'last day (default: today, in the time zone of the shop)'

const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`

/** Days in the shop's time zone, from the first of the month. */
export const shopDays: PeriodKind<Days> = {
  options: [
    fromOption('first day (default: the first of the month of the last day)'),
    toOption(lastDay),
    quarterOption
  ],
  parse: (options, now, db) => parseDays(options, shopDay(db, now), firstOfMonth),
  describe: describeDays
}

/** The last 30 days in the shop's time zone. Days that have not come yet are left out. */
export const recentDays: PeriodKind<Days> = {
  options: [fromOption('first day (default: 29 days before the last day)'), toOption(lastDay)],
  parse: (options, now, db) => {
    const today = shopDay(db, now)
    const { from, to } = parseDays(options, today, (last) => addDays(last, -29))
    return { from, to: to > today && from <= today ? today : to }
  },
  describe: describeDays
}

/** Instants (epoch ms); days are those of the shop's time zone. `to` is not included. */
export const instants: PeriodKind<{ from: number; to: number }> = {
  options: [
    fromOption(`first day, or a time (default: ${defaultDays - 1} days before the last day)`),
    toOption('last day in the time zone of the shop, or a time (default: now)')
  ],
  parse: parsePeriod,
  describe: ({ from, to }, db) =>
    inShopTime(db, `${shopDay(db, from)} to ${shopDay(db, to - 1)}`, { from: toIso(from), to: toIso(to) })
}

/** Days in the shop's time zone, by default those of the last quarter that is over. */
export const taxDays: PeriodKind<Days> = {
  options: [
    fromOption('first day (default: the days of the last quarter that is over)'),
    toOption(lastDay),
    quarterOption
  ],
  parse: (options, now, db) => {
    const today = shopDay(db, now)
    const isOpen = options.from === undefined && options.to === undefined
    return isOpen && options.quarter === undefined
      ? daysOfQuarter(lastQuarter(today))
      : parseDays(options, today, firstOfMonth)
  },
  describe: describeDays
}

/** A quarter in the shop's time zone, by default the last one that is over. */
export const quarters: PeriodKind<string> = {
  options: [{ ...quarterOption, about: 'the quarter, such as 2026Q4 (default: the last one that is over)' }],
  parse: (options, now, db) => (options.quarter === undefined ? lastQuarter(shopDay(db, now)) : parseQuarter(options)),
  describe: (quarter, db) => inShopTime(db, quarter, { quarter, ...daysOfQuarter(quarter) })
}

/** Days in the shop's time zone; a side without an option is open. */
export const openDays: PeriodKind<Partial<Days>> = {
  options: shopDays.options,
  parse: parseOpenDays,
  describe: (days) => ({ text: `${days.from ?? 'the first'} to ${days.to ?? 'the last'}`, head: days })
}
