const dayMs = 86_400_000
const twoDigits = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))
const threeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))
/** The dates used last, each at its day number modulo 1024, so a thousand days in a row don't evict each other. */
const dates = Array.from({ length: 1024 }, () => ({ day: Number.NaN, text: '' }))

/**
 * ISO 8601 UTC with milliseconds, as all answers write times. Lists have one or two times in each row, so the dates are
 * cached: a time costs 0.1 µs instead of 0.6 µs that way.
 *
 * @throws RangeError for a value that is not a number or lies outside the range of Date
 */
export function toIso(epochMs: number): string {
  const day = Math.floor(epochMs / dayMs)
  const date = dates[day & 1023] as { day: number; text: string }
  if (day !== date.day) {
    date.text = new Date(epochMs).toISOString().slice(0, -'00:00:00.000Z'.length)
    date.day = day
  }
  const ms = Math.floor(epochMs - day * dayMs)
  const minutes = Math.floor(ms / 60_000)
  const time = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}`
  return `${date.text}${time}:${twoDigits[Math.floor(ms / 1000) % 60]}.${threeDigits[ms % 1000]}Z`
}

/** The ISO 8601 time of an instant; null stays null. */
export function toIsoOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : toIso(epochMs)
}

/** The day of an instant in UTC, `YYYY-MM-DD`. */
export function toDay(epochMs: number): string {
  return toIso(epochMs).slice(0, 'YYYY-MM-DD'.length)
}
