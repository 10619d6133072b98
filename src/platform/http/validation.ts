import { validationFailed, type FieldErrors } from '../../errors.ts'
import { z } from 'zod'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

const mostFields = 20

/**
 * Parses a value with a schema.
 *
 * @throws AppError VALIDATION_FAILED with the dotted path of each field; it does not repeat the value
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { error: messageFor })
  if (!result.success) throw validationFailed(toFieldErrors(result.error))
  return result.data
}

/**
 * zod's issues by dotted path (`items.0.quantity`, `_body` for the whole value), for at most 20 fields. The parse
 * determines the messages: pass it `{ error: messageFor }`, as parseWith does.
 */
export function toFieldErrors({ issues }: Pick<z.ZodError, 'issues'>): FieldErrors {
  const fields = new Map<string, string[]>()
  for (const issue of issues) {
    for (const [path, message] of entriesOf(issue)) {
      const messages = fields.get(path)
      if (messages !== undefined) {
        if (!messages.includes(message)) messages.push(message)
      } else if (fields.size < mostFields) fields.set(path, [message])
    }
  }
  return Object.fromEntries(fields)
}

/** The dotted path of a field in fieldErrors. Names come from the client, so long ones are cut. */
export function fieldPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '_body'
  return path.map((part) => String(part).slice(0, 64)).join('.')
}

/**
 * The message for an issue for which the schema defines none: what the field accepts. Pass it to zod as the `error` of a
 * parse.
 */
export function messageFor(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.input === undefined ? 'Is required: must' : 'Must'} be ${nounFor(issue.expected)}.`
    case 'too_small':
      return bound(issue, 'minimum')
    case 'too_big':
      return bound(issue, 'maximum')
    case 'invalid_format':
      return `Must be ${formats[String(issue.format)] ?? 'in the right form'}.`
    case 'invalid_value':
      return `${issue.input === undefined ? 'Is required: must' : 'Must'} be ${oneOf(issue.values)}.`
    case 'unrecognized_keys':
      return 'Is not a known field.'
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}.`
    default:
      return 'Is not valid.'
  }
}

function entriesOf(issue: Issue): [path: string, message: string][] {
  if (issue.code !== 'unrecognized_keys') return [[fieldPath(issue.path), issue.message]]
  return issue.keys.slice(0, mostFields).map((key) => [fieldPath([...issue.path, key]), 'Is not a known field.'])
}

const nouns: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null'
}

const formats: Record<string, string> = {
  email: 'an email address',
  url: 'a URL',
  uuid: 'a UUID',
  datetime: 'an ISO 8601 date-time',
  date: 'an ISO 8601 date'
}

function nounFor(expected: unknown): string {
  return nouns[String(expected)] ?? 'of another type'
}

function oneOf(values: unknown): string {
  const all = Array.isArray(values) ? values.map((value) => JSON.stringify(value) ?? 'nothing') : []
  return all.length === 1 ? `${all[0]}` : `one of ${all.join(', ')}`
}

/** `Must be at least 1.`, `Must have at most 30 entries.`, `Must not be empty.` */
function bound(issue: RawIssue & { code: 'too_small' | 'too_big' }, side: 'minimum' | 'maximum'): string {
  const limit = Number(issue[side])
  const unit = units[String(issue.origin)]
  if (side === 'minimum' && limit === 1 && unit !== undefined) return 'Must not be empty.'
  const inclusive = issue.inclusive !== false
  if (unit === undefined && !inclusive) return `Must be ${side === 'minimum' ? 'more' : 'less'} than ${limit}.`
  const most = side === 'minimum' ? 'at least' : 'at most'
  if (unit === undefined) return `Must be ${most} ${limit}.`
  return `Must have ${most} ${limit} ${unit}${limit === 1 ? '' : 's'}.`.replace('entrys', 'entries')
}

const units: Record<string, string> = { string: 'character', array: 'entry', set: 'entry', map: 'entry' }

/**
 * The query parameters of a raw request target, decoded like a form (`+` is a space), including empty ones.
 *
 * @param mayRepeat the parameters whose first value counts
 * @throws AppError VALIDATION_FAILED for another repeated parameter, or percent-encoding that is not UTF-8
 */
export function parseQuery(target: string, mayRepeat: (name: string) => boolean = () => false): Map<string, string> {
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
    } else if (!values.has(name)) values.set(name, value)
    else if (!mayRepeat(name)) errors.set(fieldPath([name]), ['Must not be repeated.'])
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
