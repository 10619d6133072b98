import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { chargeStepMinor, toMajor } from '../../platform/money.ts'
import { amount, currency, id } from '../../platform/public-fields.ts'
import type { UserRow } from '../accounts/rows.ts'
import { comparedVariations } from '../catalog/public/price.ts'
import type { ProductRow, VariationRow } from '../catalog/rows.ts'
import { productById, variationsOfProduct } from '../catalog/stored-product.ts'
import { setting } from '../settings/settings.ts'
import { saleTerms, taxesOf, withoutTax } from '../tax/terms.ts'
import type { SaleTerms } from '../tax/terms.ts'
import type { GroupRow } from './groups.ts'
import { groupsOf } from './members.ts'
import { pricesOfGroups } from './prices.ts'
import type { BuyerPrices } from './prices.ts'

const ownPrice = z
  .object({
    amount,
    originalAmount: amount
      .nullable()
      .meta({ description: 'The regular price during a sale that is lower; else null.', example: null }),
    from: z.boolean().meta({ description: 'The amount is the lowest of several variations.', example: false }),
    group: z.string().nullable().meta({
      description: 'The name of the group whose price it is; null for the price of everyone.',
      example: 'Wholesale'
    }),
    shown: z
      .object({ amount, originalAmount: amount.nullable().meta({ example: null }) })
      .meta({ description: 'The same price with or without tax, as the group of the buyer sees prices.' })
  })
  .meta({ id: 'OwnPrice', description: 'What one unit costs the buyer who is logged in.' })
type OwnPrice = z.infer<typeof ownPrice>

/** The answer of GET /me/prices. */
export const ownPricesData = z.object({
  groups: z
    .array(z.string())
    .meta({ description: 'The names of the groups that the buyer is in.', example: ['Wholesale'] }),
  currency,
  taxShown: z.boolean().meta({ description: 'Whether `shown` includes the tax.', example: false }),
  prices: z
    .array(
      z.object({
        productId: id,
        price: ownPrice,
        variations: z.array(z.object({ variationId: id, price: ownPrice }))
      })
    )
    .meta({ description: 'The products of the request that are for sale; none for a buyer who is in no group.' })
})
type OwnPrices = z.infer<typeof ownPricesData>

/**
 * What products cost a buyer. The lists and pages of products are the same for everyone, so that caches can keep them: a site
 * asks for the prices of a buyer besides, and no cache keeps those.
 */
export function ownPrices(db: Db, user: UserRow, productIds: readonly number[], now: number): OwnPrices {
  const groups = groupsOf(db, user.id, now)
  const code = setting(db, 'shop.currency')
  const terms = saleTerms(db, { shippingAddress: user.address, billingAddress: user.address, vatId: null })
  const taxShown = showsTax(groups, terms)
  const view = { currency: code, terms, taxShown, priceOf: pricesOfGroups(db, groups, now) }
  const products = groups.length === 0 ? [] : [...new Set(productIds)].flatMap((each) => productById(db, each) ?? [])
  return {
    groups: groups.map(({ name }) => name),
    currency: code,
    taxShown,
    prices: products.filter(({ published }) => published).map((product) => toOwnPrices(db, product, view))
  }
}

/** A buyer in several groups sees prices without tax if one of them does. */
function showsTax(groups: readonly GroupRow[], { included }: SaleTerms): boolean {
  const ways = new Set(groups.map((group) => group.showsTax))
  if (ways.has('without')) return false
  return ways.has('with') || included
}

type View = { currency: string; terms: SaleTerms; taxShown: boolean; priceOf: BuyerPrices }

function toOwnPrices(db: Db, product: ProductRow, view: View): OwnPrices['prices'][number] {
  const variations = variationsOfProduct(db, product.id)
  const priced = variations.map((variation) => ({ variation, price: toOwnPrice(product, variation, view) }))
  const compared = comparedVariations(product, variations)
  const prices = priced.filter(({ variation }) => compared.includes(variation)).map(({ price }) => price)
  const [first = toOwnPrice(product, null, view), ...others] = prices
  const lowest = others.reduce((best, price) => (price.amount < best.amount ? price : best), first)
  return {
    productId: product.id,
    price: { ...lowest, from: prices.some((price) => price.amount !== lowest.amount) },
    variations: priced.map(({ variation, price }) => ({ variationId: variation.id, price }))
  }
}

function toOwnPrice(product: ProductRow, variation: VariationRow | null, view: View): OwnPrice {
  const { unitPriceMinor, originalMinor, group } = view.priceOf(product, variation)
  const major = (minor: number): number => toMajor(minor, view.currency)
  const orNull = (minor: number | null): number | null => (minor === null ? null : major(minor))
  const shown = (minor: number): number => shownMinor(product, minor, view)
  return {
    amount: major(unitPriceMinor),
    originalAmount: orNull(originalMinor),
    from: false,
    group: group?.name ?? null,
    shown: {
      amount: major(shown(unitPriceMinor)),
      originalAmount: orNull(originalMinor === null ? null : shown(originalMinor))
    }
  }
}

/** A price with or without the tax of the buyer's country, or of the shop's while that is not known. */
function shownMinor(product: ProductRow, minor: number, { currency: code, terms, taxShown }: View): number {
  const rate = terms.rateOf(product)
  if (rate === null || taxShown === terms.included) return minor
  if (terms.included) return withoutTax(minor, rate, 1)
  const taxed = { rate, goodsMinor: minor, shippingMinor: 0 }
  const { lines } = taxesOf([taxed], { included: false, stepMinor: chargeStepMinor(code) })
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, minor)
}
