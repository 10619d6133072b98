import { z } from 'zod'
import { misfit } from '../variation-options.ts'
import { amount, count, line } from '../../../platform/input-fields.ts'
import { gtin, imageList, weight } from './fields.ts'
import type { VariationInput } from './format.ts'

/**
 * The schema of a product's `variations`. Exactly one becomes the default. A variation with options is named after them if
 * it has no name.
 *
 * @param currency the shop's; amounts are in it
 */
export function variationList(currency: string) {
  return z
    .array(variation(currency))
    .max(2048, 'Must have at most 2048 entries.')
    .transform((variations, context) => {
      checkVariations(variations, context)
      const chosen = Math.max(
        0,
        variations.findIndex(({ isDefault }) => isDefault)
      )
      return variations.map((variation, index) => ({ ...variation, isDefault: index === chosen }))
    })
}

function variation(currency: string) {
  return z
    .strictObject({
      sku: line(255),
      name: line(255).nullish(),
      options: optionValues().nullish(),
      price: amount(currency),
      salePrice: amount(currency).nullish(),
      stock: count(0).nullish(),
      gtin: gtin().nullish(),
      weightGrams: weight().nullish(),
      default: z.boolean().nullish(),
      images: imageList().nullish()
    })
    .transform(({ sku, price, salePrice, stock, ...entry }, context): VariationInput => {
      const cheaper = salePrice == null || salePrice < price
      if (!cheaper) context.addIssue({ code: 'custom', path: ['salePrice'], message: 'Must be lower than the price.' })
      const options = entry.options ?? {}
      const name = entry.name ?? Object.values(options).join(' / ').slice(0, 255)
      if (name === '') context.addIssue({ code: 'custom', path: ['name'], message: 'Is required.' })
      const amounts = { priceMinor: price, salePriceMinor: salePrice ?? null }
      return {
        sku,
        name,
        options,
        ...amounts,
        stock: stock ?? null,
        gtin: entry.gtin ?? null,
        weightGrams: entry.weightGrams ?? null,
        isDefault: entry.default ?? false,
        images: entry.images ?? undefined
      }
    })
}

function optionValues() {
  return z
    .record(line(100), line(255))
    .refine((options) => Object.keys(options).length <= 10, 'Must have at most 10 options.')
}

function checkVariations(variations: readonly VariationInput[], context: z.core.$RefinementCtx): void {
  const skus = new Set<string>()
  let defaults = 0
  for (const [index, { sku, isDefault }] of variations.entries()) {
    const repeated = 'Must be unique: an earlier variation of this product has the same SKU.'
    if (skus.has(sku)) context.addIssue({ code: 'custom', path: [index, 'sku'], message: repeated })
    skus.add(sku)
    defaults += isDefault ? 1 : 0
    const message = 'Only one variation can be the default.'
    if (isDefault && defaults > 1) context.addIssue({ code: 'custom', path: [index, 'default'], message })
  }
  const index = misfit(variations)
  const message = 'All variations must have the same options, and each variation different values.'
  if (index !== undefined) context.addIssue({ code: 'custom', path: [index, 'options'], message })
}
