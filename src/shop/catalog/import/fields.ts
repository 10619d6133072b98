import { z } from 'zod'
import { AppError } from '../../../errors.ts'
import { toMinor } from '../../../platform/money.ts'
import { codePoints } from '../../../platform/text.ts'
import type { ImageInput } from '../images/image-input.ts'
import { slugPattern } from './slug.ts'
import { toGtin } from './measures.ts'
import { toSafeHtml } from './safe-html.ts'
import { parseInstant, parsePeriod } from './times.ts'

const control = /\p{Cc}/u
const controlButLines = /(?![\n\t])\p{Cc}/u

/** One line of 1 to `max` code points, trimmed and in NFC. */
export function line(max: number) {
  return z.string().transform((value, context) => {
    const text = value.normalize('NFC').trim()
    return check(context, text, causeOfText(text, max, control) ?? (text === '' ? 'Must not be empty.' : undefined))
  })
}

/** Text of up to `max` code points, with line breaks, trimmed and in NFC; it may be empty. */
export function prose(max: number) {
  return z.string().transform((value, context) => {
    const text = value.replace(/\r\n?/g, '\n').normalize('NFC').trim()
    return check(context, text, causeOfText(text, max, controlButLines))
  })
}

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

/** The key of a product, plan or campaign: lower-case ASCII letters, digits and single separators. */
export function slug() {
  return z.string().transform((value, context) => {
    const isSlug = value.length <= 255 && slugPattern.test(value)
    return check(
      context,
      value,
      isSlug ? undefined : 'Must be lower-case letters, digits and hyphens, at most 255 characters.'
    )
  })
}

/** A list of at most `max` lines of `length` code points; duplicates that differ only in case are removed. */
export function lines(max: number, length: number) {
  return z
    .array(line(length))
    .max(max, `Must have at most ${max} entries.`)
    .transform((values) => {
      const byKey = new Map<string, string>()
      for (const value of values) if (!byKey.has(value.toLowerCase())) byKey.set(value.toLowerCase(), value)
      return [...byKey.values()]
    })
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

/** An amount in major units, as a number or decimal text, converted to minor units. */
export function amount(currency: string) {
  return z.union([z.number(), z.string()], { error: causeOfAmount }).transform((value, context) => {
    try {
      return toMinor(typeof value === 'string' ? value.trim() : value, currency)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return check(context, 0, error.message)
    }
  })
}

function causeOfAmount({ input }: { input?: unknown }): string {
  return input === undefined ? 'Is required.' : 'Must be a number, or a decimal number as text.'
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

/** A whole number. */
export function count(min: number, max = 1_000_000_000) {
  const cause = `Must be a whole number from ${min} to ${max}.`
  return z.int(cause).min(min, cause).max(max, cause)
}

/** A percentage above 0 and at most 100 with at most two decimals, converted to basis points. */
export function percent() {
  return z.number().transform((value, context) => {
    const bps = Math.round(value * 100)
    const isExact = Math.abs(bps - value * 100) < 1e-6 && bps >= 1 && bps <= 10_000
    return check(context, bps, isExact ? undefined : 'Must be above 0 and at most 100, with at most two decimals.')
  })
}

/** An http or https URL. Credentials are refused, because `https://good@evil` is read as a link to `good`. */
export function webUrl() {
  return z.string().transform((value, context) => {
    const url = /^https?:\/\/[^\s\\]+$/i.test(value) && value.length <= 2048 ? URL.parse(value) : null
    const isPlain = url !== null && url.username === '' && url.password === '' && !control.test(value)
    return check(context, value, isPlain ? undefined : 'Must be an http or https URL without credentials.')
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

function causeOfText(text: string, max: number, refused: RegExp): string | undefined {
  if (!text.isWellFormed()) return 'Must be valid Unicode.'
  if (refused.test(text)) return 'Must not contain control characters.'
  return text.length > max && codePoints(text) > max ? `Must have at most ${max} characters.` : undefined
}

function check<T>(context: z.core.$RefinementCtx, value: T, cause: string | undefined): T {
  if (cause === undefined) return value
  context.addIssue({ code: 'custom', message: cause })
  return z.NEVER
}
