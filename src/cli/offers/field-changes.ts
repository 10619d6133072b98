import { formatMoney, toMinor } from '../../platform/money.ts'
import type { FieldChange } from '../../shop/catalog/changes.ts'
import { plain } from '../terminal/table.ts'

/** The changes in JSON, where each has what was there before; null for nothing. */
export function toJson(changes: readonly FieldChange[]): FieldChange[] {
  return changes.map((change) => ({ ...change, from: change.from ?? null }))
}

/** A line for each change, such as `price: €12.00 → €13.00`. */
export function describeFields(changes: readonly FieldChange[], currency: string): string[] {
  return changes.filter(isShown).map((change) => describe(change, currency))
}

/** A new product's empty fields are not worth a line. */
function isShown({ from, to }: FieldChange): boolean {
  return from !== undefined || (to !== null && !(Array.isArray(to) && to.length === 0) && to !== '')
}

function describe({ field, sku, from, to }: FieldChange, currency: string): string {
  const of = sku === undefined ? field : `${field} (${sku})`
  const text = (value: unknown): string => words(field, value, currency)
  return plain(from === undefined ? `${of}: ${text(to)}` : `${of}: ${text(from)} → ${text(to)}`)
}

const amounts: ReadonlySet<string> = new Set(['price', 'salePrice', 'cost', 'amount', 'minTotal'])

function words(field: string, value: unknown, currency: string): string {
  if (value === null) return field === 'stock' ? 'not counted' : 'none'
  const isNumber = typeof value === 'number' || typeof value === 'string'
  if (isNumber && amounts.has(field)) return formatMoney(toMinor(value, currency), currency)
  if (isNumber && field === 'percent') return `${value} %`
  if (Array.isArray(value) && value.every((part) => typeof part === 'string')) return value.join(', ') || 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text || 'empty'
}
