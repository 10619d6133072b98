/** The only source of time for what the shop decides; tests put their own in its place. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** How far ahead of the clock a time of our own may lie, because the clock has been set back since. */
export const setBackMs = 5 * 60_000

/** Whether a time of our own lies so far ahead that the clock was wrong then or is now: nothing may rest on it. */
export function isFromFuture(at: number, now: number): boolean {
  return at - now > setBackMs
}

const dayMs = 86_400_000
const ofTwoDigits = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))
const ofThreeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))
/** The days that were asked for last, each in the place of its number: a thousand in a row have a place each. */
const days = Array.from({ length: 1024 }, () => ({ number: Number.NaN, text: '' }))

/**
 * ISO 8601 UTC with milliseconds, as every answer of the service writes a time. A list has one or two times in each of
 * its rows, so Date is asked for the days alone that are not known from before: that is ten times faster.
 *
 * @throws RangeError for what is no number, or beyond the years of a Date
 */
export function toIso(epochMs: number): string {
  const number = Math.floor(epochMs / dayMs)
  const day = days[number & 1023] as { number: number; text: string }
  if (number !== day.number) {
    day.text = new Date(epochMs).toISOString().slice(0, -'00:00:00.000Z'.length)
    day.number = number
  }
  const ms = Math.floor(epochMs - number * dayMs)
  const minutes = Math.floor(ms / 60_000)
  const time = `${ofTwoDigits[Math.floor(minutes / 60)]}:${ofTwoDigits[minutes % 60]}`
  return `${day.text}${time}:${ofTwoDigits[Math.floor(ms / 1000) % 60]}.${ofThreeDigits[ms % 1000]}Z`
}

export function toIsoOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : toIso(epochMs)
}
