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
