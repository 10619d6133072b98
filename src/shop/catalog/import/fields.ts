import { z } from 'zod'
import { check, count, line, lines, prose } from '../../../platform/input-fields.ts'
import { codePoints } from '../../../platform/text.ts'
import type { ImageInput } from '../images/image-input.ts'
import { toGtin } from './measures.ts'
import { toSafeHtml } from './safe-html.ts'
import { parseInstant, parsePeriod } from './times.ts'

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
