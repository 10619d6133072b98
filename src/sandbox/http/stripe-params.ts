import { readFileSync } from 'node:fs'
import { assetPath } from '../../platform/package-root.ts'
import { badParameter, missingParameter } from './errors.ts'
import type { Raw, RawMap } from './form-encoding.ts'

/** The values that a parameter accepts; `empty` is the empty string that unsets it, and `#…` names an entry of `types`. */
export type Spec = 'string' | 'number' | 'boolean' | 'empty' | `#${string}`
export type ParamType =
  | { readonly choice: readonly string[] }
  | { readonly list: Spec }
  | { readonly map: Spec }
  | { readonly any: readonly Spec[] }
  | { readonly fields: Readonly<Record<string, Spec>>; readonly required?: readonly string[] }

/** stripe-params.json: the parameters of each route, by the route's name. */
export type ParamTable = {
  readonly routes: Readonly<Record<string, Spec>>
  readonly types: Readonly<Record<`#${string}`, ParamType>>
}

let read: ParamTable | undefined

/** Read at the first request, because a shop that uses Stripe never needs it. */
function table(): ParamTable {
  read ??= JSON.parse(readFileSync(assetPath('sandbox', 'http', 'stripe-params.json'), 'utf8')) as ParamTable
  return read
}

/**
 * Checks the names and types of a request's parameters against stripe-node's types. The table is generated: after a new
 * route or a new version of stripe-node, run `npm run sandbox:generate`.
 *
 * @throws StripeRefusal parameter_unknown, parameter_missing, parameter_invalid_empty, parameter_invalid_integer, or
 *   without a code for a value that is outside an enum or of another type
 */
export function checkParams(routeName: string, raw: RawMap): void {
  const spec = table().routes[routeName]
  if (spec === undefined) throw new TypeError(`Run "npm run sandbox:generate" for the parameters of ${routeName}.`)
  check(spec, raw, '')
}

function check(spec: Spec, raw: Raw, path: string): void {
  if (!isReference(spec)) return checkPlain(spec, raw, path)
  const type = typeOf(spec)
  if ('choice' in type) checkChoice(type.choice, raw, path)
  else if ('list' in type) checkList(type.list, raw, path)
  else if ('map' in type) checkMap(type.map, raw, path)
  else if ('any' in type) checkAny(type.any, raw, path)
  else checkFields(type, raw, path)
}

function typeOf(reference: `#${string}`): ParamType {
  const type = table().types[reference]
  if (type === undefined) throw new TypeError(`stripe-params.json has no type ${reference}.`)
  return type
}

function isReference(spec: Spec): spec is `#${string}` {
  return spec.startsWith('#')
}

function checkPlain(kind: string, raw: Raw, path: string): void {
  const value = plain(raw, path)
  if (kind === 'number' && !/^-?\d+(\.\d+)?$/.test(value)) {
    const code = 'parameter_invalid_integer'
    throw badParameter(`Invalid integer: ${value.slice(0, 40)}`, { code, param: path })
  }
  if (kind === 'boolean' && value !== 'true' && value !== 'false')
    throw badParameter(`Invalid boolean: ${value.slice(0, 40)}`, { param: path })
  if (kind === 'empty') throw badParameter(`Invalid value: ${value.slice(0, 40)}`, { param: path })
}

function checkChoice(known: readonly string[], raw: Raw, path: string): void {
  if (known.includes(plain(raw, path))) return
  const last = known.at(-1) ?? ''
  const before = known.slice(0, -1)
  const comma = before.length > 1 ? ',' : ''
  const options = before.length === 0 ? last : `one of ${before.join(', ')}${comma} or ${last}`
  throw badParameter(`Invalid ${path}: must be ${options}`, { param: path })
}

function checkList(element: Spec, raw: Raw, path: string): void {
  if (raw === '') return
  if (!(raw instanceof Map)) throw badParameter('Invalid array', { param: path })
  for (const [index, value] of raw) {
    if (!/^\d{1,4}$/.test(index)) throw badParameter('Invalid array', { param: path })
    check(element, value, `${path}[${index}]`)
  }
}

function checkMap(value: Spec, raw: Raw, path: string): void {
  if (!(raw instanceof Map)) throw badParameter('Invalid object', { param: path })
  for (const [name, each] of raw) check(value, each, `${path}[${name.slice(0, 40)}]`)
}

/** A value of several types must match one of them. The error is that of the type that resembles the value. */
function checkAny(specs: readonly Spec[], raw: Raw, path: string): void {
  if (raw === '' && specs.includes('empty')) return
  const similar = specs.filter((spec) => spec !== 'empty' && isNested(spec) === raw instanceof Map)
  const candidates = similar.length > 0 ? similar : specs.filter((spec) => spec !== 'empty')
  const failures = candidates.map((spec) => failureOf(spec, raw, path))
  if (failures.every((failure) => failure !== undefined)) throw failures[0]
}

function failureOf(spec: Spec, raw: Raw, path: string): Error | undefined {
  try {
    check(spec, raw, path)
    return undefined
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

function isNested(spec: Spec): boolean {
  return isReference(spec) && !('choice' in typeOf(spec))
}

function checkFields(type: Extract<ParamType, { fields: unknown }>, raw: Raw, path: string): void {
  if (!(raw instanceof Map)) throw badParameter('Invalid object', { param: path })
  const named = (name: string): string => (path === '' ? name : `${path}[${name}]`)
  const unknown = [...raw.keys()]
    .filter((name) => !Object.hasOwn(type.fields, name))
    .map((name) => named(name).slice(0, 100))
  if (unknown.length > 0) {
    const message = `Received unknown parameter${unknown.length > 1 ? 's' : ''}: ${unknown.slice(0, 5).join(', ')}`
    throw badParameter(message, { code: 'parameter_unknown', param: unknown[0] ?? '' })
  }
  const missing = type.required?.find((name) => !raw.has(name))
  if (missing !== undefined) throw missingParameter(named(missing))
  for (const [name, spec] of Object.entries(type.fields)) {
    const value = raw.get(name)
    if (value !== undefined) check(spec, value, named(name))
  }
}

function plain(raw: Raw, path: string): string {
  if (raw instanceof Map) throw badParameter('Invalid string', { param: path })
  if (raw !== '') return raw
  const message =
    `You passed an empty string for '${path}'. We assume empty values are an attempt to unset a parameter; however ` +
    `'${path}' cannot be unset. You should remove '${path}' from your request or supply a non-empty value.`
  throw badParameter(message, { code: 'parameter_invalid_empty', param: path })
}
