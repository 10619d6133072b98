import type { Db } from '../../platform/db/database.ts'
import { optionProperty } from '../../platform/texts/option-names.ts'
import { toIso } from '../../platform/iso-time.ts'
import { toDecimalText } from '../../platform/money.ts'
import { codePoints } from '../../platform/text.ts'
import { isKeyOf } from '../../platform/typed.ts'
import { viewTerms } from '../catalog/public/categories.ts'
import type { ViewTerms } from '../catalog/public/categories.ts'
import { imagesOf } from '../catalog/public/image.ts'
import type { Image } from '../catalog/public/shapes.ts'
import { measures } from '../catalog/import/fields.ts'
import { isShipped } from '../catalog/product-types.ts'
import type { ProductRow, VariationRow } from '../catalog/rows.ts'
import { currentPrice, pricesOf } from '../catalog/sellable.ts'
import type { Priced } from '../catalog/sellable.ts'
import { effectiveStock } from '../catalog/stock.ts'
import { grantsOfProduct, variationsOfProduct } from '../catalog/stored-product.ts'
import type { ShopContext } from '../context.ts'
import type { Goods } from '../shipping/zones.ts'
import { categoryPaths } from './category-paths.ts'
import { feedLimits } from './fields.ts'
import type { FeedItem, FeedShipping } from './fields.ts'
import { feedGtin } from './gtin.ts'
import { cheapestTo, destinations } from './shipping-costs.ts'
import type { Destination } from './shipping-costs.ts'

/** Why market places refuse an item, so that the feeds leave it out. */
export const refusals = {
  picture: 'have no picture',
  description: 'have no description',
  price: 'have the price 0',
  subscription: 'are subscriptions',
  link: 'have an address of more than 2,000 characters'
} as const
export type Refusal = keyof typeof refusals

/**
 * Why market places show an item less, or refuse it if its maker gives it a brand and a number. The feeds contain such an
 * item.
 */
export const doubts = {
  identifiers: 'have neither a brand nor a GTIN',
  gtin: 'have no GTIN',
  checkDigit: 'have a GTIN with a wrong check digit'
} as const
export type Doubt = keyof typeof doubts

/** `item` is null if there are refusals. */
export type FeedEntry = { item: FeedItem | null; refusals: Refusal[]; doubt: Doubt | null }

/** What the items of all products need. */
export type FeedTerms = ViewTerms & {
  pathOf: (productId: number) => string
  destinations: Destination[]
}

/** The terms by the settings, categories and shipping zones of the shop. */
export function feedTerms(shop: Pick<ShopContext, 'db' | 'publicUrl'>): FeedTerms {
  return { ...viewTerms(shop), pathOf: categoryPaths(shop.db), destinations: destinations(shop.db) }
}

/** The items of a published product: one for each available variation, or one for a product without variations. */
export function feedEntries(db: Db, product: ProductRow, terms: FeedTerms, now: number): FeedEntry[] {
  const variations = variationsOfProduct(db, product.id)
  const images = imagesOf(db, { productId: product.id, variationId: null }, terms.publicUrl)
  const isSubscription = grantsOfProduct(db, product.id).some(({ kind }) => kind === 'subscription')
  const common = { db, product, images, isSubscription, path: terms.pathOf(product.id), terms, now }
  return variations.length === 0 ? [toEntry(common, null)] : variations.map((variation) => toEntry(common, variation))
}

type Common = {
  db: Db
  product: ProductRow
  images: Image[]
  isSubscription: boolean
  path: string
  terms: FeedTerms
  now: number
}

function toEntry(common: Common, variation: VariationRow | null): FeedEntry {
  const { product, terms, now } = common
  const pictures = picturesOf(common, variation)
  const prices = pricesOf(product, variation)
  const link = linkOf(product, variation, terms)
  const description = singleLine(product.description === '' ? (product.seoDescription ?? '') : product.description)
  const code = variation?.gtin ?? product.gtin
  const gtin = code === null ? null : feedGtin(code)
  const mpn = variation?.mpn ?? product.mpn
  const [main] = pictures
  const refused: Refusal[] = [
    ...(main === undefined ? (['picture'] as const) : []),
    ...(description === '' ? (['description'] as const) : []),
    ...(currentPrice(prices, now).unitPriceMinor === 0 ? (['price'] as const) : []),
    ...(common.isSubscription ? (['subscription'] as const) : []),
    ...(link.length > feedLimits.link ? (['link'] as const) : [])
  ]
  const doubt = code === null && mpn !== null && product.brand !== null ? null : doubtOf(product, code, gtin)
  if (main === undefined || refused.length > 0) return { item: null, refusals: refused, doubt }
  const stock = effectiveStock(product, variation)
  const item: FeedItem = {
    ...namesOf(product, variation),
    description: cut(description, feedLimits.description),
    link,
    image_link: main,
    additional_image_link: pictures.slice(1, 1 + feedLimits.additional_image_link),
    availability: stock === 0 ? 'out_of_stock' : 'in_stock',
    ...feedPrices(product, prices, terms.currency, now),
    condition: 'new',
    ...(product.brand === null ? {} : { brand: cut(singleLine(product.brand), feedLimits.brand) }),
    ...(gtin === null ? {} : { gtin }),
    ...(mpn === null ? {} : { mpn }),
    // Without a GTIN, brand and MPN together identify a product.
    identifier_exists: gtin !== null || (mpn !== null && product.brand !== null) ? 'yes' : 'no',
    ...(common.path === '' ? {} : { product_type: cut(common.path, feedLimits.product_type) }),
    ...optionFields(variation),
    ...measureFields(variation?.unitMeasure ?? product.unitMeasure),
    ...shippingFields(common, variation)
  }
  return { item, refusals: [], doubt }
}

function doubtOf({ brand }: ProductRow, code: string | null, gtin: string | null): Doubt | null {
  if (gtin !== null) return null
  if (code !== null) return 'checkDigit'
  return brand === null ? 'identifiers' : 'gtin'
}

/** Ids that stay when a SKU changes. SKUs of different products can be equal. */
function namesOf({ id, name }: ProductRow, variation: VariationRow | null) {
  if (variation === null) return { id: String(id), title: cut(singleLine(name), feedLimits.title) }
  const title = cut(singleLine(`${name}, ${variation.name}`), feedLimits.title)
  return { id: `${id}-${variation.id}`, item_group_id: String(id), title }
}

/** The page that shows the variation. Sites that do not read `variation` show the product. */
function linkOf({ url, slug }: ProductRow, variation: VariationRow | null, { urlOf }: FeedTerms): string {
  const page = new URL(url ?? urlOf(slug))
  if (variation !== null) page.searchParams.set('variation', String(variation.id))
  return page.href
}

/** A variation shows its own picture first, then those of its product. */
function picturesOf({ db, product, images, terms }: Common, variation: VariationRow | null): string[] {
  const own =
    variation === null ? [] : imagesOf(db, { productId: product.id, variationId: variation.id }, terms.publicUrl)
  return [...new Set([...own, ...images].map(({ url }) => url))]
}

/**
 * The regular price, and the sale price with its time. A time has a start and an end; a sale without an end is shown from
 * its start on, and one without a start began with the product.
 */
function feedPrices(product: ProductRow, priced: Priced, currency: string, now: number) {
  const { priceMinor, salePriceMinor, saleStartsAt, saleEndsAt } = priced
  const price = amount(priceMinor, currency)
  const isOver = saleEndsAt !== null && saleEndsAt <= now
  if (salePriceMinor === null || salePriceMinor >= priceMinor || salePriceMinor === 0 || isOver) return { price }
  const sale = { price, sale_price: amount(salePriceMinor, currency) }
  if (saleEndsAt === null) return saleStartsAt === null || saleStartsAt <= now ? sale : { price }
  const start = saleStartsAt ?? Math.min(product.createdAt, now)
  return { ...sale, sale_price_effective_date: `${toIso(start)}/${toIso(saleEndsAt)}` }
}

const amount = (minor: number, currency: string): string => `${toDecimalText(minor, currency)} ${currency}`

function optionFields(variation: VariationRow | null): Partial<FeedItem> {
  const entries = Object.entries(variation?.options ?? {}).flatMap(([name, value]) => {
    const field = optionProperty(name)
    return field === undefined ? [] : [[field, cut(singleLine(value), feedLimits.option)]]
  })
  return Object.fromEntries(entries)
}

function measureFields(measure: string | null): Partial<FeedItem> {
  const unit = measure?.split(' ')[1] ?? ''
  if (measure === null || !isKeyOf(measures, unit)) return {}
  return { unit_pricing_measure: measure, unit_pricing_base_measure: `1 ${measures[unit].base}` }
}

function shippingFields({ product, terms, now }: Common, variation: VariationRow | null) {
  if (!isShipped(product.type)) return { shipping: [] }
  const weightGrams = variation?.weightGrams ?? product.weightGrams
  const totalMinor = currentPrice(pricesOf(product, variation), now).unitPriceMinor
  const goods = { type: product.type, quantity: 1, weightGrams, totalMinor }
  const shipping = terms.destinations.flatMap((each) => costTo(each, goods, terms.currency))
  return { ...(weightGrams === null ? {} : { shipping_weight: `${weightGrams} g` }), shipping }
}

function costTo(destination: Destination, goods: Goods, currency: string): FeedShipping[] {
  const cheapest = cheapestTo(destination, goods, currency)
  if (cheapest === undefined) return []
  const service = cut(singleLine(cheapest.name), feedLimits.service)
  return [{ country: destination.country, service, price: amount(cheapest.amountMinor, currency) }]
}

const singleLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** A text of at most `max` characters, cut at a space. */
function cut(text: string, max: number): string {
  if (codePoints(text) <= max) return text
  const start = Array.from(text).slice(0, max - 1)
  const space = start.lastIndexOf(' ')
  return `${start.slice(0, space > max / 2 ? space : undefined).join('')}…`
}
