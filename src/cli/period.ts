import { AppError } from '../errors.ts'

export type PeriodOptions = { from?: string; to?: string }

const dayMs = 24 * 60 * 60_000
/** The length of a report without --from. */
export const defaultDays = 30

/**
 * The period of a report, in epoch milliseconds; `to` is not included. Days are UTC, and a day as the end counts whole.
 *
 * @throws AppError USAGE
 */
export function parsePeriod(options: PeriodOptions, now: number): { from: number; to: number } {
  const { from, to = now } = parseOpenPeriod(options)
  const period = { from: from ?? to - defaultDays * dayMs, to }
  if (period.from >= period.to) throw new AppError('USAGE', '--from must be before --to.')
  return period
}

/** Like `parsePeriod`; a side without an option is open. @throws AppError USAGE */
export function parseOpenPeriod({ from, to }: PeriodOptions): { from?: number; to?: number } {
  return {
    ...(from === undefined ? {} : { from: parseTime('--from', from, 0) }),
    ...(to === undefined ? {} : { to: parseTime('--to', to, dayMs) })
  }
}

function parseTime(option: string, text: string, wholeDayMs: number): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isDay || isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new AppError('USAGE', `${option} takes a date such as 2026-01-31.`)
  return isDay ? time + wholeDayMs : time
}

/**
 * The days (YYYY-MM-DD, both included) of a report, until `today` by default.
 *
 * @param firstDay the first day without --from, by the last one
 * @throws AppError USAGE
 */
export function parseDays(
  options: PeriodOptions,
  today: string,
  firstDay: (last: string) => string
): { from: string; to: string } {
  const to = options.to === undefined ? today : parseDay('--to', options.to)
  const from = options.from === undefined ? firstDay(to) : parseDay('--from', options.from)
  if (from > to) throw new AppError('USAGE', '--from must not be after --to.')
  return { from, to }
}

/** The first day of the month of a day. */
export const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`

/** @throws AppError USAGE */
function parseDay(option: string, text: string): string {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
  // Date.parse takes 31 February for 3 March.
  if (!isDay || new Date(text).toISOString().slice(0, 10) !== text)
    throw new AppError('USAGE', `${option} takes a date such as 2026-01-31.`)
  return text
}
