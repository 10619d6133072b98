import { toDay } from './iso-time.ts'

// Days of a time zone, written YYYY-MM-DD. Zones come from Intl, which knows when their clocks change.

const dayMs = 86_400_000
/** Zones are at most 14 hours from UTC. */
const farthestMs = 15 * 60 * 60_000

const formats = new Map<string, Intl.DateTimeFormat>()

/** What the clocks of a time zone show at an instant (epoch ms), as `YYYY-MM-DD HH:MM:SS`. */
function clockText(timeZone: string, at: number): string {
  const known = formats.get(timeZone)
  // Swedish writes times so.
  const format = known ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  if (known === undefined) formats.set(timeZone, format)
  return format.format(at)
}

/** The first instant (epoch ms) at which the clocks of a time zone show `YYYY-MM-DD HH:MM:SS` or later. */
export function firstInstant(timeZone: string, clock: string): number {
  const near = Date.parse(`${clock.replace(' ', 'T')}Z`)
  let [before, found] = [near - farthestMs, near + farthestMs]
  while (found - before > 1) {
    const middle = Math.floor((before + found) / 2)
    if (clockText(timeZone, middle) < clock) before = middle
    else found = middle
  }
  return found
}

/** The day of an instant (epoch ms) in a time zone. */
export function dayIn(timeZone: string, at: number): string {
  return clockText(timeZone, at).slice(0, 'YYYY-MM-DD'.length)
}

/** The first instant (epoch ms) of a day in a time zone, also where the clocks change at midnight. */
export function startOfDay(timeZone: string, day: string): number {
  return firstInstant(timeZone, `${day} 00:00:00`)
}

/** The instant (epoch ms) after the last one of a day in a time zone. */
export function endOfDay(timeZone: string, day: string): number {
  return startOfDay(timeZone, addDays(day, 1))
}

/** The day that is `count` days after another one. */
export function addDays(day: string, count: number): string {
  return toDay(Date.parse(day) + count * dayMs)
}

/** The number of days from one day to another, both included. */
export function countDays({ from, to }: { from: string; to: string }): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs + 1
}

/** Whether a text is a day that exists, as YYYY-MM-DD. */
export function isDay(text: string): boolean {
  // V8 reads the 30th of February as the 2nd of March.
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && toDay(Date.parse(text)) === text
}

/** Which side of a period an instant is: its first instant, or the one after its last. */
export type Edge = 'start' | 'end'

const timePattern =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/

/**
 * Parses an ISO 8601 date, or a date and time with Z or an offset, to epoch milliseconds. A date is a whole day of the
 * zone: as the end of a period it is the instant after its last. Undefined for anything else, for days that do not exist,
 * and for times before 1970.
 */
export function parseInstant(timeZone: string, text: string, edge: Edge): number | undefined {
  const at = isDay(text) ? edgeOf(timeZone, text, edge) : parseTime(text)
  return at === undefined || Number.isNaN(at) || at < 0 ? undefined : at
}

function edgeOf(timeZone: string, day: string, edge: Edge): number {
  return edge === 'start' ? startOfDay(timeZone, day) : endOfDay(timeZone, day)
}

function parseTime(text: string): number | undefined {
  const [, day = '', hour, minute, second = '00', fraction = '', zone] = timePattern.exec(text) ?? []
  if (!isDay(day)) return undefined
  return Date.parse(`${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}`)
}

/** The last day of a period that ends before `endsAt` (epoch ms), if it ends with that day in the zone. */
export function lastDayBefore(timeZone: string, endsAt: number): string | undefined {
  const day = dayIn(timeZone, endsAt - 1)
  return endOfDay(timeZone, day) === endsAt ? day : undefined
}
