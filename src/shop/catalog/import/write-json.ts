import { toDecimalText, toMajor } from '../../../platform/money.ts'
import { trimEndOf } from '../../../platform/text.ts'
import type { FullProduct, VariationInput } from './format.ts'

/**
 * Products in the import format (docs/contract.md A7) with every field, so that importing them restores exactly these
 * products. Amounts are major-unit numbers, or decimal text where a number is not exact.
 */
export function toCatalogFile(products: readonly FullProduct[], { currency }: { currency: string }) {
  return { products: products.map((product) => toEntry(product, currency)) }
}

export type ProductEntry = ReturnType<typeof toEntry>

/** One product in the import format. */
export function toEntry(product: FullProduct, currency: string) {
  const { slug, name, sku, description, descriptionHtml, type, stock, published, position, weightGrams, taxClass } =
    product
  const {
    lengthMm,
    widthMm,
    heightMm,
    brand,
    gtin,
    mpn,
    manufacturer,
    responsiblePerson,
    safetyInfo,
    unitMeasure,
    seoTitle,
    seoDescription,
    url,
    categories,
    tags,
    grants
  } = product
  return {
    slug,
    name,
    sku,
    description,
    descriptionHtml,
    price: toAmount(product.priceMinor, currency),
    salePrice: orNull(product.salePriceMinor, (minor) => toAmount(minor, currency)),
    cost: orNull(product.costMinor, (minor) => toAmount(minor, currency)),
    saleStart: orNull(product.saleStartsAt, toTime),
    saleEnd: orNull(product.saleEndsAt, toTime),
    type,
    stock,
    published,
    ...(position === undefined ? {} : { position }),
    weightGrams,
    taxClass,
    lengthMm,
    widthMm,
    heightMm,
    brand,
    gtin,
    mpn,
    manufacturer,
    responsiblePerson,
    safetyInfo,
    unitMeasure,
    seoTitle,
    seoDescription,
    url,
    categories,
    tags,
    ...(product.images.length === 0 ? {} : { images: product.images }),
    variations: product.variations.map((variation) => toVariation(variation, currency)),
    grants
  }
}

function toVariation(variation: VariationInput, currency: string) {
  const {
    sku,
    name,
    options,
    priceMinor,
    salePriceMinor,
    stock,
    gtin,
    mpn,
    unitMeasure,
    weightGrams,
    isDefault,
    images = []
  } = variation
  const salePrice = orNull(salePriceMinor, (minor) => toAmount(minor, currency))
  const shown = Object.keys(options).length === 0 ? {} : { options }
  return {
    sku,
    name,
    ...shown,
    price: toAmount(priceMinor, currency),
    salePrice,
    stock,
    gtin,
    mpn,
    unitMeasure,
    weightGrams,
    default: isDefault,
    ...(images.length === 0 ? {} : { images })
  }
}

/** An amount as a major-unit number, or decimal text if the number is not exact. */
export function toAmount(minor: number, currency: string): number | string {
  const text = toDecimalText(minor, currency)
  const major = toMajor(minor, currency)
  return String(major) === trimZeros(text) ? major : text
}

function trimZeros(text: string): string {
  return text.includes('.') ? trimEndOf(trimEndOf(text, '0'), '.') : text
}

function toTime(at: number): string {
  return new Date(at).toISOString()
}

function orNull<T>(value: number | null, convert: (value: number) => T): T | null {
  return value === null ? null : convert(value)
}
