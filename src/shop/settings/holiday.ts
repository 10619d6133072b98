import { validationFailed } from '../../errors.ts'
import { isDay } from '../../platform/days.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { setSetting, setting, unsetSetting } from './settings.ts'
import { shopDay } from './shop-days.ts'

/** A time in which the shop takes no orders: what it says meanwhile, and its last day (YYYY-MM-DD, in the zone of the shop). */
export type Holiday = { message: string; until: string }

/** The holiday that the shop has now; null outside of one. It ends by itself after its last day. */
export function currentHoliday(db: Db, now: number): Holiday | null {
  const until = setting(db, 'holiday.until')
  return until === '' || shopDay(db, now) > until ? null : { message: setting(db, 'holiday.message'), until }
}

/** What an answer of the API says about a holiday. */
export function holidayText({ message, until }: Holiday): string {
  return `${message === '' ? 'The shop is on holiday.' : message} Nothing can be bought until the end of ${until}.`
}

/**
 * Begins a holiday, or changes the running one.
 *
 * @throws AppError VALIDATION_FAILED (`until`, `holiday.message`)
 */
export function startHoliday(db: Db, { message, until }: Holiday, now: number): Holiday {
  if (!isDay(until) || until < shopDay(db, now))
    throw validationFailed({ until: ['Must be a day as YYYY-MM-DD, today or later.'] })
  write(db, () => {
    setSetting(db, 'holiday.until', until, now)
    setSetting(db, 'holiday.message', message, now)
  })
  return { message: setting(db, 'holiday.message'), until }
}

/** Ends the holiday, if there is one. */
export function endHoliday(db: Db): void {
  write(db, () => {
    unsetSetting(db, 'holiday.until')
    unsetSetting(db, 'holiday.message')
  })
}
