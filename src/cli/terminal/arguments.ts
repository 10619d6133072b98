import { InvalidArgumentError } from 'commander'
import { AppError } from '../../errors.ts'
import { keysOf } from '../../platform/typed.ts'

/** The id of an order, a webhook or another row, as an argument or option. @throws AppError USAGE */
export function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new AppError('USAGE', 'The id must be a whole number such as 12.')
  return Number(text)
}

/** The maximum number of rows to show. @throws AppError USAGE */
export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new AppError('USAGE', '--limit must be a whole number from 1 to 99999.')
  return Number(text)
}

/** The number of rows of one page. @throws AppError USAGE */
export function parsePageLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > 1000) throw new AppError('USAGE', '--limit must be a whole number from 1 to 1000.')
  return limit
}

/** Adds `Preis=price` to the names of columns. A column may contain an equals sign, a field does not. */
export function addToMap(text: string, map: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, column = '', field = ''] = /^(.*)=([^=]*)$/.exec(text) ?? []
  if (column.trim() !== '' && field.trim() !== '') return { ...map, [column.trim()]: field.trim() }
  throw new InvalidArgumentError('It must be a column and a field, such as "Preis=price".')
}

/** The value of an option that can be emptied: `none` is null. */
export function orNone(text: string | undefined): string | null | undefined {
  return text === 'none' ? null : text
}

/** `1 order`, `2 orders`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value]
}

const ageUnits = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A length of time in milliseconds, as an option takes it. @throws AppError USAGE */
export function parseAge(option: string, text: string): number {
  const unit = keysOf(ageUnits).find((letter) => text.endsWith(letter))
  const count = text.slice(0, -1)
  if (unit === undefined || !/^[1-9]\d{0,3}$/.test(count))
    throw new AppError('USAGE', `${option} must be an age such as 30m, 1h or 2d.`)
  return Number(count) * ageUnits[unit]
}
