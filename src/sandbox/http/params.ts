import { onceFor } from '../../platform/once-for.ts'
import { badParameter, missingParameter } from './errors.ts'
import type { Raw, RawMap } from './form-encoding.ts'

/**
 * Reads one parameter, whose type stripe-params.ts has checked, and checks its limits. `path` is its name in Stripe's
 * notation, such as `line_items[0][quantity]`. Every parameter throws a StripeRefusal for a value that Stripe refuses,
 * and for one that Stripe accepts and the sandbox does not support.
 */
export type Param<T> = { readonly read: (raw: Raw, path: string) => T; readonly required?: boolean }
export type RequiredParam<T> = Param<T> & { readonly required: true }
export type Shape = Readonly<Record<string, Param<unknown>>>
/** The values that a shape reads; an optional parameter that was not sent is undefined. */
export type Values<S extends Shape> = {
  readonly [Name in keyof S]: S[Name] extends RequiredParam<infer T>
    ? T
    : S[Name] extends Param<infer T>
      ? T | undefined
      : never
}

/**
 * Reads a decoded form by a shape.
 *
 * @throws StripeRefusal for a parameter that the sandbox does not support, parameter_missing, or the parameter's own code
 */
export function readShape<S extends Shape>(shape: S, raw: RawMap, path = ''): Values<S> {
  const named = (name: string): string => (path === '' ? name : `${path}[${name}]`)
  for (const name of raw.keys()) {
    if (!Object.hasOwn(shape, name)) throw unsupported(`the parameter ${named(name)}`, named(name))
  }
  const values: Record<string, unknown> = {}
  for (const [name, param] of paramsOf(shape)) {
    const value = raw.get(name)
    if (value !== undefined) values[name] = param.read(value, named(name))
    else if (param.required) throw missingParameter(named(name))
  }
  return values as Values<S>
}

const paramsOf = onceFor((shape: Shape) => Object.entries(shape))

/** A parameter that must be sent. */
export function required<T>(param: Param<T>): RequiredParam<T> {
  return { ...param, required: true }
}

/** A parameter that reads an empty string as null, which unsets the field. */
export function emptyable<T>(param: Param<T>): Param<T | null> {
  return { read: (raw, path) => (raw === '' ? null : param.read(raw, path)) }
}

/** A string of at most `max` characters (default 5000). */
export function text(limits: { max?: number } = {}): Param<string> {
  const max = limits.max ?? 5_000
  return {
    read: (raw, path) => {
      const value = plain(raw, path)
      if (value.length > max) {
        throw badParameter(`Invalid string: must be at most ${max} characters`, { param: path })
      }
      return value
    }
  }
}

/** An integer between `min` and `max`, inclusive. */
export function integer(limits: { min?: number; max?: number } = {}): Param<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = limits
  return {
    read: (raw, path) => {
      const value = plain(raw, path)
      const code = 'parameter_invalid_integer'
      if (!/^-?\d{1,16}$/.test(value))
        throw badParameter(`Invalid integer: ${value.slice(0, 40)}`, { code, param: path })
      const number = Number(value)
      if (number < min) throw badParameter(`This value must be greater than or equal to ${min}.`, { code, param: path })
      if (number > max) throw badParameter(`This value must be less than or equal to ${max}.`, { code, param: path })
      return number
    }
  }
}

/** A decimal number greater than `above` and at most `max`, such as `percent_off`. */
export function decimal(limits: { above: number; max: number }): Param<number> {
  return {
    read: (raw, path) => {
      const number = Number(plain(raw, path))
      if (number <= limits.above || number > limits.max) {
        throw badParameter(`This value must be greater than ${limits.above} and less than or equal to ${limits.max}.`, {
          param: path
        })
      }
      return number
    }
  }
}

/** A boolean, sent as `true` or `false`. */
export function flag(): Param<boolean> {
  return { read: (raw, path) => plain(raw, path) === 'true' }
}

/** One of the given strings, which are all or some of those that Stripe accepts. */
export function choice<const T extends string>(...known: readonly T[]): Param<T> {
  return {
    read: (raw, path) => {
      const value = plain(raw, path)
      const found = known.find((option) => option === value)
      if (found === undefined) throw unsupported(`${value.slice(0, 40)} as ${path}`, path)
      return found
    }
  }
}

/** An array of at most `max` elements (default 100); an empty string is an empty array. */
export function list<T>(of: Param<T>, limits: { max?: number } = {}): Param<T[]> {
  return {
    read: (raw, path) => {
      if (!(raw instanceof Map)) return []
      if (raw.size > (limits.max ?? 100))
        throw badParameter(`An array can have up to ${limits.max ?? 100} elements.`, { param: path })
      return [...raw].map(([index, value]) => of.read(value, `${path}[${index}]`))
    }
  }
}

/** A nested object. */
export function shape<S extends Shape>(of: S): Param<Values<S>> {
  return {
    read: (raw, path) => {
      if (!(raw instanceof Map)) throw unsupported(`an empty ${path}`, path)
      return readShape(of, raw, path)
    }
  }
}

/** A plain value or an object, such as a list's `created` filter. */
export function either<A, B>(value: Param<A>, object: Param<B>): Param<A | B> {
  return { read: (raw, path) => (raw instanceof Map ? object.read(raw, path) : value.read(raw, path)) }
}

/** Metadata: up to 50 keys of 40 characters, with values of 500 (docs.stripe.com/api/metadata). */
export function metadata(): Param<Record<string, string>> {
  return {
    read: (raw, path) => {
      if (!(raw instanceof Map)) return {}
      if (raw.size > 50) throw badParameter('You can have up to 50 metadata keys.', { param: path })
      const entries: [string, string][] = []
      for (const [key, value] of raw) {
        if (typeof value !== 'string') continue
        if (key.length > 40) throw badParameter('Metadata keys can be up to 40 characters long.', { param: path })
        if (value.length > 500) {
          throw badParameter('Metadata values can be up to 500 characters long.', { param: `${path}[${key}]` })
        }
        entries.push([key, value])
      }
      return Object.fromEntries(entries)
    }
  }
}

/** Merges sent metadata into the present one: an empty value removes its key, an empty object removes all keys. */
export function mergeMetadata(
  before: Record<string, string> | null,
  sent: Record<string, string> | undefined
): Record<string, string> {
  if (!sent) return { ...before }
  const merged = Object.keys(sent).length === 0 ? {} : { ...before, ...sent }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ''))
}

/** An http or https URL. */
export function url(): Param<string> {
  return {
    read: (raw, path) => {
      const value = plain(raw, path)
      const parsed = URL.canParse(value) ? new URL(value) : undefined
      if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || value.length > 5_000) {
        throw badParameter('Not a valid URL', { code: 'url_invalid', param: path })
      }
      return value
    }
  }
}

/** An email address. */
export function email(): Param<string> {
  return {
    read: (raw, path) => {
      const value = plain(raw, path)
      if (!isEmail(value) || value.length > 512) {
        throw badParameter('Invalid email address', { code: 'email_invalid', param: path })
      }
      return value
    }
  }
}

/** Whether a text is an email address that Stripe accepts: in ASCII, with a domain that has a dot. */
export function isEmail(text: string): boolean {
  return /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(text)
}

function plain(raw: Raw, path: string): string {
  if (typeof raw === 'string' && raw !== '') return raw
  throw unsupported(`${raw === '' ? 'an empty' : 'an object as'} ${path}`, path)
}

/** The refusal of a value that Stripe accepts, so that no request behaves differently here than at Stripe. */
function unsupported(what: string, path: string): Error {
  return badParameter(`The sandbox does not support ${what.slice(0, 200)}.`, { param: path.slice(0, 100) })
}
