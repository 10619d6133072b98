import type { Db } from '../../platform/db/database.ts'
import { dayIn, endOfDay, lastDayBefore, startOfDay } from '../../platform/days.ts'
import { toIso } from '../../platform/iso-time.ts'
import { setting } from './settings.ts'

/** The time zone whose days are the shop's: of its documents, reports, exports, sales, coupons, emails and pages. */
export function shopTimeZone(db: Db): string {
  return setting(db, 'shop.timeZone')
}

/** The day of an instant (epoch ms) in the shop's time zone, as YYYY-MM-DD. */
export function shopDay(db: Db, at: number): string {
  return dayIn(shopTimeZone(db), at)
}

/** The first instant (epoch ms) of a day (YYYY-MM-DD) in the shop's time zone. */
export function startOfShopDay(db: Db, day: string): number {
  return startOfDay(shopTimeZone(db), day)
}

/** The instant (epoch ms) after the last one of a day (YYYY-MM-DD) in the shop's time zone. */
export function endOfShopDay(db: Db, day: string): number {
  return endOfDay(shopTimeZone(db), day)
}

/** The end of a period (epoch ms): its last day in the shop's time zone if it is whole, else the time, as ISO 8601. */
export function untilText(db: Db, endsAt: number): string {
  return lastDayBefore(shopTimeZone(db), endsAt) ?? toIso(endsAt)
}

/** What a file or a command needs to read amounts and days: the shop's currency and time zone. */
export type ShopPlace = { currency: string; timeZone: string }

/** The shop's currency and time zone. */
export function shopPlace(db: Db): ShopPlace {
  return { currency: setting(db, 'shop.currency'), timeZone: shopTimeZone(db) }
}
