import { attributesOf } from './woocommerce-row.ts'
import type { WooContext, WooRow } from './woocommerce-row.ts'

/** One variation to import. A row of the export for any value of an attribute has one choice for each value. */
export type Choice = {
  child: WooRow
  /** The value of each attribute, by its name in lower case. */
  values: ReadonlyMap<string, string>
  /** The values that the row leaves open. */
  added: string[]
  /** Which of the row's choices it is. */
  index: number
  /** The number of choices of the row. */
  count: number
}

const most = 2048

/**
 * The choices of a variable product. A row with a value for each attribute wins over a row for any value. A row for any
 * value stays one choice if the product does not list the values, or if there would be too many.
 */
export function choicesOf(product: WooRow, children: readonly WooRow[], woo: WooContext): Choice[] {
  const listed = new Map(attributesOf(woo.table, product.row).map(({ name, values }) => [name, values]))
  const rows = children.map((child) => ({ child, fixed: fixedValues(child, woo), open: openNames(child, woo) }))
  const taken = new Set(rows.filter(({ open }) => open.length === 0).map(({ fixed }) => keyOf(fixed)))
  const isHuge = rows.reduce((sum, { open }) => sum + sizeOf(open, listed), 0) > most
  return rows.flatMap(({ child, fixed, open }): Choice[] => {
    const single = { child, values: fixed, added: [], index: 0, count: 1 }
    if (open.length === 0) return [single]
    if (isHuge || open.some((name) => (listed.get(name) ?? []).length === 0)) {
      woo.report.ignore('Parent', 'A variation for any attribute value is imported as one variation', child.name)
      return [single]
    }
    const free = combinations(fixed, open, listed).filter(({ values }) => !taken.has(keyOf(values)))
    for (const { values } of free) taken.add(keyOf(values))
    return free.map((choice, index) => ({ child, ...choice, index, count: free.length }))
  })
}

/** The part of a row's counted stock that a choice gets: the choices together have as many units as the row. */
export function shareOfStock(stock: number | string | null, { child, index, count }: Choice, woo: WooContext) {
  if (typeof stock !== 'number' || count === 1) return stock
  if (index === 0 && stock > 0) {
    woo.report.warn(`Line ${child.row.line}: the stock of ${stock} is divided among ${count} variations.`)
  }
  return Math.floor(stock / count) + (index < stock % count ? 1 : 0)
}

function fixedValues(child: WooRow, { table }: WooContext): Map<string, string> {
  return new Map(
    attributesOf(table, child.row).flatMap(({ name, values: [value] }) => (value === undefined ? [] : [[name, value]]))
  )
}

function openNames(child: WooRow, { table }: WooContext): string[] {
  return attributesOf(table, child.row).flatMap(({ name, values }) => (values.length === 0 ? [name] : []))
}

function sizeOf(open: readonly string[], listed: ReadonlyMap<string, string[]>): number {
  return open.reduce((product, name) => product * Math.max(1, listed.get(name)?.length ?? 1), 1)
}

function combinations(
  fixed: ReadonlyMap<string, string>,
  open: readonly string[],
  listed: ReadonlyMap<string, string[]>
): Pick<Choice, 'values' | 'added'>[] {
  let found: { values: Map<string, string>; added: string[] }[] = [{ values: new Map(fixed), added: [] }]
  for (const name of open) {
    found = found.flatMap(({ values, added }) =>
      (listed.get(name) ?? []).map((value) => ({ values: new Map(values).set(name, value), added: [...added, value] }))
    )
  }
  return found
}

function keyOf(values: ReadonlyMap<string, string>): string {
  return JSON.stringify([...values].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
