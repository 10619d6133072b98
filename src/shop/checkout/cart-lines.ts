import type { Db } from '../../platform/db/database.ts'
import { findShown, findSellable, unsellableReasons } from '../catalog/sellable.ts'
import type { Sellable, Shown, UnsellableReason } from '../catalog/sellable.ts'
import type { ChargedPrice } from '../orders/totals.ts'
import type { NewLine } from '../orders/create-order.ts'
import { notEnough, refusal } from '../orders/problems.ts'
import type { Problem, Refusal } from '../orders/problems.ts'

export type Item = { productId: number; variationId?: number | undefined; quantity: number }

/** One product or variation of the cart. */
export type CartLine = {
  /** The indexes of its items in the request. */
  items: number[]
  productId: number
  /** The one that it buys; as sent if it buys none. */
  variationId: number | null
  quantity: number
  /** Null for a product that the shop does not show. */
  name: string | null
  /** Null if it is not clear what the line buys. */
  unitPriceMinor: number | null
  /** Null if it cannot be bought in any quantity. */
  sellable: Sellable | null
}

/**
 * What the items of a cart buy at `now`, and why some of them cannot be bought. Items with the same product and variation
 * are one line.
 */
export function findLines(db: Db, items: readonly Item[], now: number): { lines: CartLine[]; refusals: Refusal[] } {
  const refusals: Refusal[] = []
  const lines = new Map<string, CartLine>()
  let cartMinor = 0
  for (const [index, item] of items.entries()) {
    const found = findSellable(db, item.productId, item.variationId ?? null, now)
    const path = `items.${index}`
    const shown = typeof found === 'string' ? findShown(db, item.productId, item.variationId ?? null, now) : null
    const line = typeof found === 'string' ? unsellableLine(item, shown) : sellableLine(found)
    const key = `${line.productId}/${line.variationId ?? ''}`
    const merged = lines.get(key) ?? line
    lines.set(key, merged)
    merged.items.push(index)
    merged.quantity += item.quantity
    if (typeof found === 'string') {
      refusals.push(unsellableRefusal(found, index, shown))
      continue
    }
    cartMinor += found.unitPriceMinor * item.quantity
    if (found.stock !== null && merged.quantity > found.stock) {
      const problem = notEnough(`${path}.quantity`, found.name, found.stock)
      refusals.push(refusal(problem, { message: 'There are not enough left in stock.' }))
    } else if (!Number.isSafeInteger(cartMinor)) {
      merged.sellable = null
      const message = `The total is too high. Order less of ${found.name}.`
      refusals.push(refusal({ path: `${path}.quantity`, code: 'total_too_high', message }))
    }
  }
  return { lines: [...lines.values()], refusals }
}

/** The path of the line's first item. */
export function pathOf({ items }: Pick<CartLine, 'items'>): string {
  return `items.${items[0] ?? 0}`
}

/** The line of the item that a path of the request names (`items.2.quantity`). */
export function lineAt(lines: readonly CartLine[], path: string): CartLine | undefined {
  const [list, index] = path.split('.')
  return list === 'items' && index !== undefined ? lines.find(({ items }) => items.includes(Number(index))) : undefined
}

/** The line of an order, with its share of the discounts. */
export function toNewLine(
  line: CartLine,
  sellable: Sellable,
  { unitPriceMinor, listPriceMinor }: ChargedPrice,
  discountMinor: number
): NewLine {
  return {
    path: pathOf(line),
    productId: line.productId,
    variationId: line.variationId,
    name: sellable.name,
    sku: sellable.variation?.sku ?? null,
    quantity: line.quantity,
    unitPriceMinor,
    listPriceMinor,
    discountMinor,
    totalMinor: unitPriceMinor * line.quantity - discountMinor,
    type: sellable.type,
    taxClass: sellable.product.taxClass,
    weightGrams: sellable.variation?.weightGrams ?? sellable.product.weightGrams,
    grants: sellable.grants
  }
}

function sellableLine(sellable: Sellable): CartLine {
  const { product, variation, name, unitPriceMinor } = sellable
  const ids = { productId: product.id, variationId: variation?.id ?? null }
  return { ...ids, items: [], quantity: 0, name, unitPriceMinor, sellable }
}

function unsellableLine({ productId, variationId }: Item, shown: Shown | null): CartLine {
  const { name, unitPriceMinor } = shown ?? { name: null, unitPriceMinor: null }
  const ids = { productId, variationId: variationId ?? null }
  return { ...ids, items: [], quantity: 0, name, unitPriceMinor, sellable: null }
}

function unsellableRefusal(reason: UnsellableReason, index: number, shown: Shown | null): Refusal {
  const { field, message } = unsellableReasons[reason]
  // The name of a product that the shop does not show must not get out: it may be a draft.
  const name = shown?.name ?? `Item ${index + 1} of the cart`
  const problem = unsellableProblems[reason](name, shown?.hasVariations === true)
  return refusal({ path: `items.${index}.${field}`, ...problem }, { message })
}

type ProblemOf = (name: string, hasVariations: boolean) => Omit<Problem, 'path'>

const unsellableProblems: Readonly<Record<UnsellableReason, ProblemOf>> = {
  unknown_product: (name) => ({ code: 'unknown_product', message: `${name} does not exist.` }),
  not_published: (name) => ({ code: 'unavailable', message: `${name} is not for sale.` }),
  unknown_variation: (name, hasVariations) =>
    hasVariations
      ? { code: 'choose_variation', message: `Choose a variation of ${name}.` }
      : { code: 'unavailable', message: `${name} does not have this variation.` },
  sold_out: (name) => ({ code: 'sold_out', message: `${name} is sold out.` })
}
