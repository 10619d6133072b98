import { validationFailed } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDay } from '../../platform/iso-time.ts'
import { startOfShopDay } from '../../shop/invoices/day.ts'

/** Days (YYYY-MM-DD), both included. */
export type Days = { from: string; to: string }

export const units = ['day', 'week', 'month'] as const
export type Unit = (typeof units)[number]

/** A part of the days of a report, and its first instant and the one after its last (epoch ms). */
export type Part = Days & { startsAt: number; endsAt: number }

const dayMs = 86_400_000

/** The day that is `count` days after another one. */
export function addDays(day: string, count: number): string {
  return toDay(Date.parse(day) + count * dayMs)
}

/** The number of days. */
export function countDays({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs + 1
}

/** The unit that divides the days into at most about 45 parts, or into months. */
export function fittingUnit(days: Days): Unit {
  const count = countDays(days)
  return count <= 45 ? 'day' : count <= 200 ? 'week' : 'month'
}

/** The instants of days in the shop's time zone: the first, and the one after the last. */
export function spanOf(db: Db, { from, to }: Days): { startsAt: number; endsAt: number } {
  return { startsAt: startOfShopDay(db, from), endsAt: startOfShopDay(db, addDays(to, 1)) }
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
