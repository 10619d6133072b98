import type { ProductRow, VariationRow } from './rows.ts'
import { effectiveStock } from './stock.ts'

/**
 * The variation that an offer shows and that an item without `variationId` buys: the one marked as default while it can
 * be bought, else the first that can. Undefined when all are sold out. `available` are the product's available
 * variations in their order.
 */
export function chooseVariation(
  product: Pick<ProductRow, 'stock'>,
  available: readonly VariationRow[]
): VariationRow | undefined {
  const buyable = available.filter((variation) => effectiveStock(product, variation) !== 0)
  return buyable.find((variation) => variation.isDefault) ?? buyable[0]
}

/** What a line of an order is called. */
export function itemName(product: { name: string }, variation: { name: string } | null): string {
  return variation === null ? product.name : `${product.name} - ${variation.name}`
}
