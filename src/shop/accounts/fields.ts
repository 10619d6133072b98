import { z } from 'zod'
import { emailDomain, codePoints, withoutInvisible } from '../../platform/text.ts'

const maxEmail = 254
// Control and private characters, lone surrogates, line breaks, and marks that change the writing direction of the text
// around them: a name must not be able to rearrange an email that contains it.
const forbidden = /[\p{Cc}\p{Co}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u
const visible = /[^\p{C}\p{Z}\p{M}]/u
// An atom of RFC 5322 with the letters of RFC 6531. Quoted local parts are not supported.
const localPart = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u

/** Whether a text, trimmed and in NFC, is an email address; its domain may use any script. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  if (at < 1 || codePoints(local) > 64 || !localPart.test(local)) return false
  return emailDomain(text.slice(at + 1)) !== undefined
}

/** An email as it is stored: trimmed and in NFC, with the case as entered. */
export const emailField = z
  .string()
  .meta({ format: 'idn-email', maxLength: maxEmail })
  .transform((text) => text.normalize('NFC').trim())
  .refine((text) => codePoints(text) <= maxEmail, { error: `Must have at most ${maxEmail} characters.`, abort: true })
  .refine((text) => text !== '', { error: 'Must not be empty.', abort: true })
  .refine(isEmail, 'Must be an email address.')

/** Text of one line, trimmed and without invisible characters; `max` in code points. */
export function lineField(max: number) {
  return z
    .string()
    .meta({ maxLength: max })
    .refine((text) => !forbidden.test(text), 'Must not contain control characters or line breaks.')
    .transform((text) => withoutInvisible(text).trim())
    .refine((text) => codePoints(text) <= max, `Must have at most ${max} character${max === 1 ? '' : 's'}.`)
}

/**
 * Text with line breaks, without invisible characters; `max` in code points. Control characters could run commands in the
 * terminal of an operator who reads it.
 */
export function textField(max: number) {
  return z
    .string()
    .meta({ maxLength: max })
    .refine((text) => codePoints(text) <= max, `Must have at most ${max} characters.`)
    .refine((text) => !/[^\P{Cc}\t\n\r]/u.test(text), 'Must not contain control characters.')
    .transform(withoutInvisible)
}

/** A line with at least one visible character. */
export function nameField(max: number) {
  return lineField(max).refine((text) => visible.test(text), 'Must not be empty.')
}

/** A line that may be absent; null and blank text count as absent. */
export function optionalLine(max: number) {
  return lineField(max)
    .nullish()
    .transform((text) => (text ? text : null))
}

/** A text that is not empty, exactly as received; the password policy checks the rest. */
export const passwordField = z.string().min(1)

/** ISO 8601 date, or date-time with Z or offset, seconds optional; as epoch milliseconds, null when absent. */
export const optionalTime = z
  .union([z.iso.date(), z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 })], {
    error: 'Must be an ISO 8601 date, or a date-time with Z or an offset, such as 2026-05-01T12:30:00Z.'
  })
  .transform((text) => Date.parse(text))
  .nullish()
  .transform((at) => at ?? null)

/** A flag; missing or null is false. */
export const optionalFlag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)
