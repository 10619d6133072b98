import { z } from 'zod'
import { check, count, line, lines, prose } from '../../../platform/input-fields.ts'
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

/** An ISO 8601 date or date and time, converted to epoch milliseconds. */
export function instant() {
  return z.string().transform((value, context) => {
    const at = parseInstant(value.trim())
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

const instantPattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d))?$/
const isoPeriod = /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,4})D)?$/
const shortPeriod = /^(\d{1,4})\s*([ymwd])$/i

/**
 * Parses an ISO 8601 date (midnight UTC) or date and time with Z or an offset, seconds optional, to epoch milliseconds.
 * Undefined for anything else, for days that do not exist, and for times before 1970.
 */
export function parseInstant(text: string): number | undefined {
  const match = instantPattern.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`)
  // V8 reads the 30th of February as the 2nd of March.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return undefined
  const at = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}`
  )
  return Number.isNaN(at) || at < 0 ? undefined : at
}

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
