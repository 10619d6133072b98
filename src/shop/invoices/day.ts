import { setting } from '../settings/settings.ts'
import type { Db } from '../../platform/db/database.ts'

const formats = new Map<string, Intl.DateTimeFormat>()

/** The day of an instant (epoch ms) in the shop's time zone, as YYYY-MM-DD. */
export function shopDay(db: Db, at: number): string {
  const timeZone = setting(db, 'shop.timeZone')
  const known = formats.get(timeZone)
  // The short Swedish date is YYYY-MM-DD.
  const format = known ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
  if (known === undefined) formats.set(timeZone, format)
  return format.format(at)
}

/** Zones are at most 14 hours from UTC. */
const farthestMs = 15 * 60 * 60_000

/** The first instant (epoch ms) of a day (YYYY-MM-DD) in the shop's time zone, also where the clocks change at midnight. */
export function startOfShopDay(db: Db, day: string): number {
  const midnight = Date.parse(day)
  let [before, start] = [midnight - farthestMs, midnight + farthestMs]
  while (start - before > 1) {
    const middle = Math.floor((before + start) / 2)
    if (shopDay(db, middle) < day) before = middle
    else start = middle
  }
  return start
}
