import { z } from 'zod'
import { AppError, validationFailed } from '../errors.ts'
import { chargeStepMinor, toDecimalText, toMinor } from './money.ts'
import { isCountry } from './postal/countries.ts'
import { codePoints } from './text.ts'

const control = /\p{Cc}/u
const controlButLines = /(?![\n\t])\p{Cc}/u
/** Lower-case ASCII letters, digits and single separators. */
export const slugPattern = /^[a-z0-9]+(?:[-_]+[a-z0-9]+)*$/

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

/** A country as two letters, in upper case. */
export function country(rule: string) {
  return z
    .string(rule)
    .transform((code) => code.trim().toUpperCase())
    .refine(isCountry, rule)
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

/**
 * An amount in major units, as a number or decimal text, converted to minor units. It must be one that Stripe can charge:
 * whole amounts in ISK and UGX, and a last decimal of 0 in currencies with three decimals.
 */
export function amount(currency: string) {
  return z.union([z.number(), z.string()], { error: causeOfAmount }).transform((value, context) => {
    try {
      const minor = toMinor(typeof value === 'string' ? value.trim() : value, currency)
      return check(context, minor, causeOfStep(minor, currency))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return check(context, 0, error.message)
    }
  })
}

function causeOfStep(minor: number, currency: string): string | undefined {
  const step = chargeStepMinor(currency)
  if (minor % step === 0) return undefined
  return `Must be a multiple of ${toDecimalText(step, currency)}, because Stripe cannot charge other amounts in ${currency}.`
}

function causeOfAmount({ input }: { input?: unknown }): string {
  return input === undefined ? 'Is required.' : 'Must be a number, or a decimal number as text.'
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

function causeOfText(text: string, max: number, refused: RegExp): string | undefined {
  if (!text.isWellFormed()) return 'Must be valid Unicode.'
  if (refused.test(text)) return 'Must not contain control characters.'
  return text.length > max && codePoints(text) > max ? `Must have at most ${max} characters.` : undefined
}

/** The value; with a cause, NEVER and an issue that says it. */
export function check<T>(context: z.core.$RefinementCtx, value: T, cause: string | undefined): T {
  if (cause === undefined) return value
  context.addIssue({ code: 'custom', message: cause })
  return z.NEVER
}

/** The place in a list that is ordered by a number and then by id. */
export type Place = { order: number; id: number }

/** The cursor of the rows after this place. */
export function toCursor({ order, id }: Place): string {
  return `${order}-${id}`
}

/** The place of a cursor. @throws AppError VALIDATION_FAILED on `cursor` */
export function parseCursor(cursor: string): Place {
  const [, order, id] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []
  if (order === undefined || id === undefined) {
    throw validationFailed({ cursor: ['Must be the nextCursor of an earlier page of this list.'] })
  }
  return { order: Number(order), id: Number(id) }
}

/**
 * The number that an option of a command or a field of a form contains. Other text stays text, so that the error of the
 * schema names its field.
 */
export function numberOrText<T extends string | null | undefined>(text: T): number | T {
  return typeof text === 'string' && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** The fields of an object whose value is not undefined. */
export function definedFields<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> }
export function definedFields(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
