const periodPattern = /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})D)?$/
const dayMs = 86_400_000
/** The latest end. After the year 9999, ISO 8601 needs a sign, and JavaScript has no dates after 275760. */
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * The time `times` periods after `at`, by the calendar in UTC: one month after January 31 is the last day of February,
 * two months after it is March 31.
 *
 * @param at epoch milliseconds, like the result
 * @param period an ISO 8601 period in years, months and days, as in the catalog (`P1Y`, `P1M`, `P14D`)
 * @throws RangeError for an invalid period; the catalog's input is checked before
 */
export function addPeriod(at: number, period: string, times = 1): number {
  const match = periodPattern.exec(period)
  if (!match || period === 'P') throw new RangeError('A period is written as P1Y, P1M or P14D.')
  const [years = 0, months = 0, days = 0] = match.slice(1).map((part) => Number(part ?? 0))
  return Math.min(latest, addMonths(at, (years * 12 + months) * times) + days * times * dayMs)
}

const monthsOf = { month: 1, year: 12 } as const

/** The time `times` intervals of a subscription after `at`. */
export function addInterval(at: number, interval: 'month' | 'year', times = 1): number {
  return Math.min(latest, addMonths(at, monthsOf[interval] * times))
}

/** The time `days × times` days of 24 hours after `at`, for downloads. */
export function addDays(at: number, days: number, times = 1): number {
  return Math.min(latest, at + days * times * dayMs)
}

function addMonths(at: number, count: number): number {
  const start = new Date(at)
  const first = new Date(at)
  first.setUTCDate(1)
  first.setUTCMonth(start.getUTCMonth() + count)
  if (Number.isNaN(first.getTime())) return latest
  const daysInMonth = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  first.setUTCDate(Math.min(start.getUTCDate(), daysInMonth))
  return first.getTime()
}
