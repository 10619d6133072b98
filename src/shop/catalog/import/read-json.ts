import type { z } from 'zod'
import { compareKey } from '../../../platform/text.ts'
import type { ShopPlace } from '../../settings/shop-days.ts'
import { isRecord, keysOf } from '../../../platform/typed.ts'
import { emptyLists, formatSchemas } from './format.ts'
import type { CatalogFile, CatalogLists, FormatSchemas } from './format.ts'
import { readEntry, FileErrors, refuseFile } from './report.ts'

type Path = readonly PropertyKey[]
type Lists = Readonly<Record<keyof CatalogLists, { path: Path; entries: readonly unknown[] }>>
type Reader = { errors: FileErrors; lines: JsonLines }

const kinds = keysOf(emptyLists)

/**
 * Reads a catalog file in JSON (docs/contract.md A7): a list of products, an object with lists, or a response of
 * GET /store/offers. `entries` counts the entries of all lists.
 *
 * @throws AppError VALIDATION_FAILED with the line, path and cause of each error
 */
export function readJson(text: string, place: ShopPlace): { file: CatalogFile; entries: number } {
  const document = parseJson(text)
  const reader = { errors: new FileErrors(), lines: new JsonLines(text) }
  const lists = findLists(document, reader)
  reader.errors.throwIfAny()
  const file = readLists(lists, formatSchemas(place), reader)
  reader.errors.throwIfAny()
  return { file, entries: kinds.reduce((sum, kind) => sum + lists[kind].entries.length, 0) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const line = text.slice(0, jsonErrorOffset(text)).split('\n').length
    return refuseFile(line, null, 'The file is not valid JSON. The error is on this line.')
  }
}

function findLists(document: unknown, reader: Reader): Lists {
  const none = { path: [], entries: [] }
  const empty = {
    categories: none,
    products: none,
    coupons: none,
    plans: none,
    campaigns: none,
    affiliates: none,
    shipping: none,
    tax: none
  }
  if (Array.isArray(document)) return { ...empty, products: { path: [], entries: document } }
  if (!isRecord(document)) refuseFile(1, null, 'The file must contain a list of products, or an object with lists.')
  if (isRecord(document.data) && 'offers' in document.data) {
    return { ...empty, products: listAt(document.data.offers, ['data', 'offers'], reader) }
  }
  if ('offers' in document) return { ...empty, products: listAt(document.offers, ['offers'], reader) }
  for (const key of Object.keys(document).filter((key) => !kinds.some((kind) => kind === key))) {
    reader.errors.add(() => reader.lines.lineOf([key]), key.slice(0, 80), 'Is not a known field.')
  }
  const found = kinds.map((kind) => [kind, listAt(document[kind] ?? [], [kind], reader)] as const)
  return { ...empty, ...Object.fromEntries(found) }
}

function listAt(value: unknown, path: Path, { errors, lines }: Reader): { path: Path; entries: readonly unknown[] } {
  if (Array.isArray(value)) return { path, entries: value }
  errors.add(() => lines.lineOf(path), path.join('.'), 'Must be a list.')
  return { path, entries: [] }
}

function readLists(lists: Lists, schemas: FormatSchemas, reader: Reader): CatalogFile {
  const byShape = (entry: unknown) => (isRecord(entry) && 'productSlug' in entry ? schemas.offer : schemas.product)
  const read = <T>(kind: keyof Lists, schema: z.ZodType<T>, keyOf: (entry: T) => string) =>
    readList(lists[kind], () => schema, keyOf, reader)
  return {
    categories: read('categories', schemas.category, ({ slug }) => slug),
    products: readList(lists.products, byShape, ({ slug }) => slug, reader),
    coupons: read('coupons', schemas.coupon, ({ code }) => code.toLowerCase()),
    plans: read('plans', schemas.plan, ({ slug }) => slug),
    campaigns: read('campaigns', schemas.campaign, ({ slug }) => slug),
    affiliates: read('affiliates', schemas.affiliate, ({ code }) => code.toLowerCase()),
    shipping: read('shipping', schemas.shipping, ({ zone }) => compareKey(zone)),
    tax: read('tax', schemas.tax, (rate) => [rate.country, rate.region, rate.class].join('/'))
  }
}

function readList<T>(
  list: { path: Path; entries: readonly unknown[] },
  schemaFor: (entry: unknown) => z.ZodType<T>,
  keyOf: (entry: T) => string,
  { errors, lines }: Reader
): T[] {
  const seen = new Set<string>()
  return list.entries.flatMap((value, index) => {
    const addError = (path: Path, cause: string) => {
      const full = [...list.path, index, ...path]
      errors.add(() => lines.lineOf(full), full.map(String).join('.'), cause)
    }
    const entry = readEntry(schemaFor(value), value, ({ path, cause }) => addError(path, cause))
    if (entry === undefined) return []
    const key = keyOf(entry)
    if (seen.has(key)) addError([], 'Is in the file more than once.')
    seen.add(key)
    return [entry]
  })
}

export type JsonPath = readonly PropertyKey[]

/** Finds the line of a path's value in valid JSON text, for error messages. */
export class JsonLines {
  readonly #text: string
  readonly #lineStarts: number[] = [0]
  // Offsets of the parts of lists and objects, so that many errors do not scan the file many times.
  readonly #entries = new Map<number, number[]>()
  readonly #members = new Map<number, Map<string, number>>()

  constructor(text: string) {
    this.#text = text
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1)
  }

  /** The line of the path's value. If a part of the path is missing, the line of the value it is missing in. */
  lineOf(path: JsonPath): number {
    let at = this.#skipSpace(0)
    for (const key of path) {
      const next = typeof key === 'number' ? this.#entriesOf(at)[key] : this.#membersOf(at).get(String(key))
      if (next === undefined) break
      at = next
    }
    return this.#lineAt(at)
  }

  #lineAt(offset: number): number {
    let low = 0
    let high = this.#lineStarts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }

  #entriesOf(at: number): number[] {
    const known = this.#entries.get(at)
    if (known) return known
    const entries: number[] = []
    if (this.#text[at] === '[') {
      for (let next = this.#skipSpace(at + 1); this.#opensEntry(next); next = this.#nextEntry(next)) entries.push(next)
    }
    this.#entries.set(at, entries)
    return entries
  }

  #membersOf(at: number): Map<string, number> {
    const known = this.#members.get(at)
    if (known) return known
    const members = new Map<string, number>()
    if (this.#text[at] === '{') {
      for (let next = this.#skipSpace(at + 1); this.#opensEntry(next);) {
        const end = this.#endOfString(next)
        const value = this.#skipSpace(this.#skipSpace(end) + 1)
        // JSON.parse keeps the last value of a repeated key.
        members.set(JSON.parse(this.#text.slice(next, end)), value)
        next = this.#nextEntry(value)
      }
    }
    this.#members.set(at, members)
    return members
  }

  #opensEntry(at: number): boolean {
    return at < this.#text.length && this.#text[at] !== ']' && this.#text[at] !== '}'
  }

  /** From the start of a value to the start of the next entry, or to the bracket that ends the list. */
  #nextEntry(value: number): number {
    const end = this.#skipSpace(this.#endOfValue(value))
    return this.#text[end] === ',' ? this.#skipSpace(end + 1) : end
  }

  #endOfValue(from: number): number {
    let depth = 0
    for (let at = from; at < this.#text.length; at += 1) {
      const character = this.#text[at]
      if (character === '"') at = this.#endOfString(at) - 1
      else if (character === '{' || character === '[') depth += 1
      else if (character === '}' || character === ']') {
        if (depth === 0) return at
        depth -= 1
      } else if (character === ',' && depth === 0) return at
    }
    return this.#text.length
  }

  #endOfString(from: number): number {
    for (let at = from + 1; at < this.#text.length; at += 1) {
      if (this.#text[at] === '\\') at += 1
      else if (this.#text[at] === '"') return at + 1
    }
    return this.#text.length
  }

  #skipSpace(from: number): number {
    let at = from
    while (' \t\n\r'.includes(this.#text[at] ?? '.')) at += 1
    return at
  }
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'next'

/**
 * The offset of the first error in text that JSON.parse refused. V8 omits the position from most of its messages, and
 * its messages quote the file.
 */
export function jsonErrorOffset(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = skipSpace(text, 0)
  while (at < text.length) {
    const character = text[at] ?? ''
    const next = step(text, at, expected, open)
    if (next === undefined) return at
    at = skipSpace(text, next.end)
    expected = next.expected
    if (expected === 'next' && open.length === 0 && character !== ',') return at
  }
  return text.length
}

function step(
  text: string,
  at: number,
  expected: Expected,
  open: string[]
): { end: number; expected: Expected } | undefined {
  const character = text[at] ?? ''
  if (character === '}' || character === ']') {
    const mayEnd = expected === 'next' || (character === '}' ? expected === 'keyOrEnd' : expected === 'valueOrEnd')
    return mayEnd && open.pop() === character ? { end: at + 1, expected: 'next' } : undefined
  }
  if (expected === 'colon') return character === ':' ? { end: at + 1, expected: 'value' } : undefined
  if (expected === 'next') {
    return character === ',' ? { end: at + 1, expected: open.at(-1) === '}' ? 'key' : 'value' } : undefined
  }
  if (expected === 'key' || expected === 'keyOrEnd') {
    const end = endOfString(text, at)
    return end === undefined ? undefined : { end, expected: 'colon' }
  }
  if (character === '{' || character === '[') {
    open.push(character === '{' ? '}' : ']')
    return { end: at + 1, expected: character === '{' ? 'keyOrEnd' : 'valueOrEnd' }
  }
  const end = character === '"' ? endOfString(text, at) : endOfScalar(text, at)
  return end === undefined ? undefined : { end, expected: 'next' }
}

function endOfScalar(text: string, from: number): number | undefined {
  scalar.lastIndex = from
  return scalar.test(text) ? scalar.lastIndex : undefined
}

function endOfString(text: string, from: number): number | undefined {
  if (text[from] !== '"') return undefined
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at + 1
    if (text.charCodeAt(at) < 32) return undefined
    if (text[at] !== '\\') continue
    escape.lastIndex = at
    if (!escape.test(text)) return undefined
    at = escape.lastIndex - 1
  }
  return undefined
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (' \t\n\r'.includes(text[at] ?? '.')) at += 1
  return at
}
