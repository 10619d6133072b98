import { validationFailed } from '../../../errors.ts'
import { definedFields } from '../../../platform/input-fields.ts'
import type { ProductEntry } from '../import/write-json.ts'

/** New prices, stock and weight; null removes the sale price or the weight, or stops counting the stock. */
export type SaleEdit = {
  price?: string | undefined
  salePrice?: string | null | undefined
  stock?: number | string | null | undefined
  /** Units to add; negative to remove. */
  stockAdd?: number | undefined
  /** Of the chosen variations. */
  weightGrams?: number | string | null | undefined
  /** The variations to change. */
  skus?: readonly string[] | undefined
}

type Variation = ProductEntry['variations'][number]

/**
 * The prices and the stock of an import entry after an edit. Without SKUs, the prices of a product's variations change
 * together if they are the same, and the stock of the product if no variation has its own.
 *
 * @throws AppError VALIDATION_FAILED with the field
 */
export function withVariationEdit(product: ProductEntry, edit: SaleEdit): object {
  const { price, salePrice, stock, stockAdd, weightGrams, skus } = edit
  const prices = definedFields({ price, salePrice })
  const hasPrices = Object.keys(prices).length > 0
  const weight = definedFields({ weightGrams })
  const hasStock = stock !== undefined || stockAdd !== undefined
  if (stock !== undefined && stockAdd !== undefined) throw refused('stock', 'Pass either --stock or --stock-add.')
  if (product.variations.length === 0) {
    if (skus !== undefined) throw refused('sku', 'The product has no variations.')
    return {
      ...(hasPrices ? { price: product.price, salePrice: product.salePrice, ...prices } : {}),
      ...(hasStock ? { stock: stockAfter(product, edit) } : {})
    }
  }
  if (!hasPrices && !hasStock && weightGrams === undefined) {
    if (skus === undefined) return {}
    throw refused('sku', 'Pass what changes: --price, --sale-price, --stock, --stock-add or --weight.')
  }
  const priced = hasPrices ? pricedTogether(product, skus) : []
  const stocked = hasStock ? stockedTogether(product, skus) : []
  const weighed = skus === undefined ? [] : chosen(product.variations, skus)
  const variations = product.variations.map((variation) => {
    const { images: _images, ...kept } = variation
    return {
      ...kept,
      ...(priced.includes(variation) ? prices : {}),
      ...(stocked.includes(variation) ? { stock: stockAfter(variation, edit) } : {}),
      ...(weighed.includes(variation) ? weight : {})
    }
  })
  const main = priced.some((variation) => variation.default) ? variations.find((each) => each.default) : undefined
  return {
    variations,
    ...(main === undefined ? {} : { price: main.price, salePrice: main.salePrice }),
    ...(hasStock && stocked.length === 0 ? { stock: stockAfter(product, edit) } : {})
  }
}

function pricedTogether({ variations }: ProductEntry, skus: readonly string[] | undefined): Variation[] {
  if (skus !== undefined) return chosen(variations, skus)
  const [first] = variations
  const isSame = variations.every(({ price, salePrice }) => price === first?.price && salePrice === first.salePrice)
  if (isSame) return variations
  throw refused('price', `The variations have different prices. Choose with --sku: ${named(variations)}.`)
}

/** The variations whose stock changes; empty for the product's own stock. */
function stockedTogether({ variations }: ProductEntry, skus: readonly string[] | undefined): Variation[] {
  if (skus !== undefined) return chosen(variations, skus)
  if (variations.every(({ stock }) => stock === null)) return []
  throw refused('stock', `The variations have stocks of their own. Choose with --sku: ${named(variations)}.`)
}

function chosen(variations: Variation[], skus: readonly string[]): Variation[] {
  const unknown = skus.find((sku) => !variations.some((variation) => variation.sku === sku))
  if (unknown === undefined) return variations.filter(({ sku }) => skus.includes(sku))
  throw refused('sku', `No variation has the SKU ${unknown}. The product has ${named(variations)}.`)
}

function named(variations: readonly Variation[]): string {
  const skus = variations.map(({ sku }) => sku)
  return skus.length > 10 ? `${skus.slice(0, 10).join(', ')} and ${skus.length - 10} more` : skus.join(', ')
}

function stockAfter(
  { stock: before }: { stock: number | null },
  { stock, stockAdd }: SaleEdit
): number | string | null | undefined {
  if (stockAdd === undefined) return stock
  if (before === null) throw refused('stock', 'The stock is not counted. Pass --stock to count it.')
  if (before + stockAdd < 0) throw refused('stock', `Only ${before} are in stock.`)
  return before + stockAdd
}

function refused(field: string, message: string) {
  return validationFailed({ [field]: [message] })
}
