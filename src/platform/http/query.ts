import { z } from 'zod'
import { validationFailed } from '../../errors.ts'
import { fieldPath } from './zod-errors.ts'

/**
 * The query parameters of a raw request target, decoded like a form (`+` is a space), including empty ones.
 *
 * @throws AppError VALIDATION_FAILED for a repeated parameter, or percent-encoding that is not UTF-8
 */
export function parseQuery(target: string): Map<string, string> {
  const start = target.indexOf('?')
  const values = new Map<string, string>()
  if (start === -1) return values
  // A map, because a parameter may be named __proto__.
  const errors = new Map<string, string[]>()
  for (const part of target.slice(start + 1).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals === -1 ? part : part.slice(0, equals))
    const value = equals === -1 ? '' : decode(part.slice(equals + 1))
    if (name === undefined || value === undefined) {
      errors.set(name === undefined ? '_query' : fieldPath([name]), ['Must be percent-encoded UTF-8.'])
    } else if (values.has(name)) errors.set(fieldPath([name]), ['Must not be repeated.'])
    else values.set(name, value)
  }
  if (errors.size > 0) throw validationFailed(Object.fromEntries(errors))
  return values
}

/**
 * The schema of a query parameter that is a whole number in plain decimal digits. It rejects `1e3`, `0x10`, `+5` and an
 * empty value. The API description shows an integer.
 */
export function queryInteger(limits: { min: number; max: number; default: number }) {
  const message = `Must be a whole number from ${limits.min} to ${limits.max}.`
  return z
    .string(message)
    .refine((text) => /^\d{1,15}$/.test(text), message)
    .transform(Number)
    .refine((value) => value >= limits.min && value <= limits.max, message)
    .default(limits.default)
    .meta({ type: 'integer', minimum: limits.min, maximum: limits.max, description: `Default ${limits.default}.` })
}

function decode(text: string): string | undefined {
  try {
    if (!/[%+]/.test(text)) return text
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
