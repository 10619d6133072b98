import { z } from 'zod'
import { parseInstant } from '../../../platform/days.ts'
import type { Edge } from '../../../platform/days.ts'
import { check, count, line, lines, prose } from '../../../platform/input-fields.ts'
import { isKeyOf } from '../../../platform/typed.ts'
import { codePoints } from '../../../platform/text.ts'
import { toSafeHtml } from './html-text.ts'

/** HTML of up to `max` code points, sanitised; null without markup. */
export function html(max: number) {
  return prose(max).transform(toSafeHtml)
}

/** A GTIN, EAN, UPC or ISBN. */
export function gtin() {
  return z.string().transform((value, context) => {
    const code = toGtin(value)
    return check(context, code ?? '', code === undefined ? 'Must be 8, 12, 13 or 14 digits, or an ISBN.' : undefined)
  })
}

/** How much one unit contains: a number and a unit, stored as `750 ml`. */
export function unitMeasure() {
  return z.string().transform((value, context) => {
    const [, amount = '', unit = ''] = /^\s*(\d{1,6}(?:\.\d{1,3})?)\s*([a-z]{1,3})\s*$/i.exec(value) ?? []
    const isKnown = isKeyOf(measures, unit.toLowerCase()) && Number(amount) > 0
    const cause = `Must be a number above 0 and one of the units ${Object.keys(measures).join(', ')}, such as 750 ml.`
    return check(context, `${amount} ${unit.toLowerCase()}`, isKnown ? undefined : cause)
  })
}

/** The units of what a product contains: the unit to which its price is compared, and how many of them that has. */
export const measures = {
  mg: { base: 'kg', count: 1_000_000 },
  g: { base: 'kg', count: 1000 },
  kg: { base: 'kg', count: 1 },
  ml: { base: 'l', count: 1000 },
  cl: { base: 'l', count: 100 },
  l: { base: 'l', count: 1 },
  cm: { base: 'm', count: 100 },
  m: { base: 'm', count: 1 },
  sqm: { base: 'sqm', count: 1 },
  cbm: { base: 'cbm', count: 1 },
  ct: { base: 'ct', count: 1 }
} as const

/** A weight in grams. */
export function weight() {
  return count(0, 10_000_000)
}

/** A list of categories: names, or paths of names such as `Clothing > Shirts`. */
export function categoryList() {
  return lines(250, 2000).refine((paths) => paths.every((path) => path.split(' > ').every(isName)), {
    error: 'Each name must have 1 to 255 characters.'
  })
}

function isName(text: string): boolean {
  return text.trim() !== '' && codePoints(text) <= 255
}

/**
 * An ISO 8601 date or date and time, converted to epoch milliseconds. A date is a whole day of the time zone, so as the
 * end of a period it includes that day.
 */
export function instant(timeZone: string, edge: Edge) {
  return z.string().transform((value, context) => {
    const at = parseInstant(timeZone, value.trim(), edge)
    return check(
      context,
      at ?? 0,
      at === undefined ? 'Must be an ISO 8601 date, or a date and time with Z or an offset.' : undefined
    )
  })
}

/** The duration of a membership, as an ISO 8601 period in years, months and days. */
export function period() {
  return z.string().transform((value, context) => {
    const text = parsePeriod(value)
    return check(context, text ?? '', text === undefined ? 'Must be a period such as P1Y, P1M or P14D.' : undefined)
  })
}

/** A picture in an import file: `src` is a URL or a path relative to the file. Without `alt` the product's name is used. */
export type ImageInput = { src: string; alt: string }

/** Pictures: `src` is an http or https URL, or a path relative to the file; `alt` describes the picture. */
export function imageList() {
  const image = z
    .strictObject({ src: line(2048), alt: z.string().trim().max(500, 'Must have at most 500 characters.').nullish() })
    .transform(({ src, alt }, context): ImageInput => {
      const isAddress = /^[a-z][a-z0-9+.-]+:/i.test(src)
      const url = /^https?:\/\/[^\s\\]+$/i.test(src) ? URL.parse(src) : null
      const isPlain = !isAddress || (url !== null && url.username === '' && url.password === '')
      const cause = 'Must be an http or https URL without credentials, or a path relative to the file.'
      if (!isPlain) context.addIssue({ code: 'custom', path: ['src'], message: cause })
      return { src, alt: alt ?? '' }
    })
  return z.array(image).max(100, 'Must have at most 100 entries.')
}

/** A path inside the downloads folder, with forward slashes. `..` and absolute paths are refused. */
export function filePath() {
  return line(255).transform((value, context) => {
    const parts = value.split('/')
    const isInside = !/[\\:]/.test(value) && parts.every((part) => part !== '' && part !== '.' && part !== '..')
    return check(context, value, isInside ? undefined : 'Must be a file name, or a path inside the downloads folder.')
  })
}

const isoPeriod = /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,4})D)?$/
const shortPeriod = /^(\d{1,4})\s*([ymwd])$/i

/**
 * Parses the duration of a membership: `P1Y`, `P1M`, `P14D`, `P2W`, `P1Y6M`, or `1y`, `1m`, `2w`, `14d`. Returns an ISO
 * 8601 period in years, months and days, or undefined for anything else and for an empty period.
 */
export function parsePeriod(text: string): string | undefined {
  const short = shortPeriod.exec(text.trim())
  const match = isoPeriod.exec(short ? `P${short[1]}${short[2]?.toUpperCase()}` : text.trim())
  if (!match) return undefined
  const [years = 0, months = 0, weeks = 0, days = 0] = match.slice(1).map((part) => Number(part ?? 0))
  const parts: [number, string][] = [
    [years, 'Y'],
    [months, 'M'],
    [weeks * 7 + days, 'D']
  ]
  const period = parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('')
  return period === '' ? undefined : `P${period}`
}

/**
 * A GTIN, EAN, UPC or ISBN without spaces, hyphens and the apostrophe of a text in a spreadsheet. Undefined for other text, such as a number that a spreadsheet
 * shortened to `4.00638E+12`.
 */
export function toGtin(cell: string): string | undefined {
  const text = cell.replaceAll(/^'|[\s-]/g, '').toUpperCase()
  return /^(?:\d{8}|\d{12,14}|\d{9}[\dX])$/.test(text) ? text : undefined
}
