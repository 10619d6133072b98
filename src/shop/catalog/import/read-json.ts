import type { z } from 'zod'
import { compareKey } from '../../../platform/text.ts'
import type { CatalogFile, CatalogLists } from './format.ts'
import type { FormatSchemas } from './format-schemas.ts'
import { formatSchemas } from './format-schemas.ts'
import { readEntry } from './issues.ts'
import { jsonErrorOffset } from './json-error-offset.ts'
import { JsonLines } from './json-lines.ts'
import { FileErrors, refuseFile } from './file-errors.ts'

type Path = readonly PropertyKey[]
type Lists = Readonly<Record<keyof CatalogLists, { path: Path; entries: readonly unknown[] }>>
type Reader = { errors: FileErrors; lines: JsonLines }

const kinds = ['categories', 'products', 'coupons', 'plans', 'campaigns', 'affiliates', 'shipping', 'tax'] as const

/**
 * Reads a catalog file in JSON (docs/contract.md A7): a list of products, an object with lists, or a response of
 * GET /store/offers. `entries` counts the entries of all lists.
 *
 * @throws AppError VALIDATION_FAILED with the line, path and cause of each error
 */
export function readJson(text: string, currency: string): { file: CatalogFile; entries: number } {
  const document = parseJson(text)
  const reader = { errors: new FileErrors(), lines: new JsonLines(text) }
  const lists = findLists(document, reader)
  reader.errors.throwIfAny()
  const file = readLists(lists, formatSchemas(currency), reader)
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
  if (!isObject(document)) refuseFile(1, null, 'The file must contain a list of products, or an object with lists.')
  if (isObject(document.data) && 'offers' in document.data) {
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
  const byShape = (entry: unknown) => (isObject(entry) && 'productSlug' in entry ? schemas.offer : schemas.product)
  return {
    categories: readList(
      lists.categories,
      () => schemas.category,
      ({ slug }) => slug,
      reader
    ),
    products: readList(lists.products, byShape, ({ slug }) => slug, reader),
    coupons: readList(
      lists.coupons,
      () => schemas.coupon,
      ({ code }) => code.toLowerCase(),
      reader
    ),
    plans: readList(
      lists.plans,
      () => schemas.plan,
      ({ slug }) => slug,
      reader
    ),
    campaigns: readList(
      lists.campaigns,
      () => schemas.campaign,
      ({ slug }) => slug,
      reader
    ),
    affiliates: readList(
      lists.affiliates,
      () => schemas.affiliate,
      ({ code }) => code.toLowerCase(),
      reader
    ),
    shipping: readList(
      lists.shipping,
      () => schemas.shipping,
      ({ zone }) => compareKey(zone),
      reader
    ),
    tax: readList(
      lists.tax,
      () => schemas.tax,
      ({ country, region, class: taxClass }) => [country, region, taxClass].join('/'),
      reader
    )
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
