import type { ProductRow, VariationRow } from './rows.ts'
import { effectiveStock } from './stock.ts'

/**
 * The variation that an offer shows and that an item without `variationId` buys: the default one if it is in stock, else
 * the first that is. Undefined when all are sold out.
 *
 * @param available the product's available variations in their order
 */
export function chooseVariation(
  product: Pick<ProductRow, 'stock'>,
  available: readonly VariationRow[]
): VariationRow | undefined {
  const buyable = available.filter((variation) => effectiveStock(product, variation) !== 0)
  return buyable.find((variation) => variation.isDefault) ?? buyable[0]
}

/** The name of a line item. */
export function itemName(product: { name: string }, variation: { name: string } | null): string {
  return variation === null ? product.name : `${product.name} - ${variation.name}`
}
