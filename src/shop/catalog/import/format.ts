import { z } from 'zod'
import { isRecord } from '../../../platform/typed.ts'
import {
  amount,
  count,
  definedFields,
  line,
  lines,
  percent,
  prose,
  slug,
  webUrl
} from '../../../platform/input-fields.ts'
import { campaign, plan } from '../../benefits/input.ts'
import type { CampaignInput, PlanInput } from '../../benefits/input.ts'
import type { ShopPlace } from '../../settings/shop-days.ts'
import { shippingZone } from '../../shipping/input.ts'
import type { ShippingZone } from '../../shipping/input.ts'
import { taxClasses, taxRate } from '../../tax/input.ts'
import type { TaxRateInput } from '../../tax/input.ts'
import { grantSchema, misfit } from '../grants.ts'
import type { GrantSpec } from '../grants.ts'
import { productTypes } from '../product-types.ts'
import type { ProductRow, VariationRow } from '../rows.ts'
import { categoryList, gtin, html, imageList, instant, unitMeasure, weight } from './fields.ts'
import type { ImageInput } from './fields.ts'
import { htmlToText } from './html-text.ts'
import { slugFor } from './slug.ts'

/** The columns of a product that an import sets, in the order in which it lists what it changed. */
export const productColumns = [
  'name',
  'sku',
  'description',
  'descriptionHtml',
  'priceMinor',
  'salePriceMinor',
  'costMinor',
  'saleStartsAt',
  'saleEndsAt',
  'type',
  'stock',
  'published',
  'position',
  'weightGrams',
  'taxClass',
  'lengthMm',
  'widthMm',
  'heightMm',
  'brand',
  'gtin',
  'mpn',
  'manufacturer',
  'responsiblePerson',
  'safetyInfo',
  'unitMeasure',
  'seoTitle',
  'seoDescription',
  'url'
] as const satisfies readonly (keyof ProductRow)[]

export type ProductColumns = Pick<ProductRow, (typeof productColumns)[number]>

/** What a product has several of. Categories are names, slugs or paths such as `Clothing > Shirts`. */
export type ProductLists = {
  categories: string[]
  tags: string[]
  images: ImageInput[]
  variations: VariationInput[]
  grants: GrantSpec[]
}

/** The columns of a variation that an import sets. */
export const variationColumns = [
  'sku',
  'name',
  'options',
  'priceMinor',
  'salePriceMinor',
  'stock',
  'gtin',
  'mpn',
  'unitMeasure',
  'weightGrams',
  'isDefault'
] as const satisfies readonly (keyof VariationRow)[]

/** A variation of an import file. Exactly one of a product is its default. Without `images` the file has none for it. */
export type VariationInput = Pick<VariationRow, (typeof variationColumns)[number]> & {
  images?: ImageInput[] | undefined
}

type Optional<T> = { [Key in keyof T]?: T[Key] | undefined }

/**
 * A product of an import file. A field that the file does not have is undefined: a new product gets the default
 * (`withDefaults`), an existing product keeps its value. Variations have the sale period of their product.
 */
export type ProductInput = Optional<ProductColumns & ProductLists> & {
  /** `offer`: an entry in the shape of GET /store/offers, with the price and URL that buyers see. */
  shape: 'product' | 'offer'
  slug: string
  name: string
  /** Regular price; with variations, the price of the default one. 0 if `unpriced`. */
  priceMinor: number
  /** The file has no price: a new product is created unpublished, an existing one keeps its prices. */
  unpriced?: boolean | undefined
  /** The entry is found again by its SKU before its slug, which is derived from other fields. */
  foundBySku?: boolean | undefined
  /** Only of an offer: false when it was sold out. */
  available?: boolean | undefined
}

/** A product with all fields, for storing a new one and for exports. Without `position` the shop chooses it. */
export type FullProduct = Omit<ProductColumns, 'position'> &
  ProductLists & { slug: string; position?: number | undefined }

const newProduct: Omit<FullProduct, 'slug' | 'name' | 'priceMinor'> = {
  sku: null,
  description: '',
  descriptionHtml: null,
  salePriceMinor: null,
  costMinor: null,
  saleStartsAt: null,
  saleEndsAt: null,
  type: 'physical',
  stock: null,
  published: true,
  weightGrams: null,
  taxClass: 'standard',
  lengthMm: null,
  widthMm: null,
  heightMm: null,
  brand: null,
  gtin: null,
  mpn: null,
  manufacturer: null,
  responsiblePerson: null,
  safetyInfo: null,
  unitMeasure: null,
  seoTitle: null,
  seoDescription: null,
  url: null,
  categories: [],
  tags: [],
  images: [],
  variations: [],
  grants: []
}

/** Fills in the defaults of a new product (docs/contract.md A7). */
export function withDefaults(product: ProductInput): FullProduct {
  const { shape: _shape, unpriced = false, foundBySku: _found, available: _available, ...fields } = product
  const { slug, name, priceMinor } = fields
  const full = { ...newProduct, ...definedFields(fields), slug, name, priceMinor }
  return { ...full, published: full.published && !unpriced }
}

export type CategoryInput = z.output<FormatSchemas['category']>
/** Products are slugs; categories are as those of a product. */
export type CouponInput = z.output<FormatSchemas['coupon']>
/** `user` is the account's email, and `rateBps` null for the shop's rate. */
export type AffiliateInput = z.output<FormatSchemas['affiliate']>

export type CatalogLists = {
  categories: CategoryInput[]
  products: ProductInput[]
  coupons: CouponInput[]
  plans: PlanInput[]
  campaigns: CampaignInput[]
  affiliates: AffiliateInput[]
  shipping: ShippingZone[]
  tax: TaxRateInput[]
}

export const emptyLists: CatalogLists = {
  categories: [],
  products: [],
  coupons: [],
  plans: [],
  campaigns: [],
  affiliates: [],
  shipping: [],
  tax: []
}

/** `folder` is the folder of the file, for pictures with a path relative to it. */
export type CatalogFile = CatalogLists & { folder?: string | undefined }

export type FormatSchemas = ReturnType<typeof formatSchemas>

/**
 * The schemas of an import file's entries (docs/contract.md A7). They refuse unknown fields.
 *
 * @param place the shop's: amounts are in its currency, and days are of its time zone
 */
export function formatSchemas(place: ShopPlace) {
  const { currency } = place
  const parts = productParts(place)
  return {
    product: z
      .strictObject({
        slug: slug(),
        price: amount(currency).nullish(),
        salePrice: amount(currency).nullish(),
        ...parts
      })
      // Checked even if other fields are invalid, so that all errors of a product are reported together.
      .refine(hasPrice, { path: ['price'], message: 'Is required.', when: () => true })
      .transform(({ slug, price, salePrice, ...entry }): ProductInput => {
        const first = entry.variations?.find(({ isDefault }) => isDefault) ?? entry.variations?.[0]
        const salePriceMinor = salePrice === undefined && price == null ? first?.salePriceMinor : salePrice
        return {
          shape: 'product',
          slug,
          ...toProduct(entry),
          priceMinor: price ?? first?.priceMinor ?? 0,
          salePriceMinor
        }
      })
      .superRefine(checkSale),
    offer: z
      .strictObject({
        offerId: z.string().nullish(),
        productId: z.int().nullish(),
        productSlug: slug(),
        price: z.strictObject({
          currency: z.literal(currency, `Must be the shop's currency, ${currency}.`),
          amount: amount(currency),
          originalAmount: amount(currency).nullish(),
          isOnSale: z.boolean().nullish()
        }),
        available: z.boolean().nullish(),
        // These do not change a product.
        image: z.unknown().optional(),
        variationCount: z.unknown().optional(),
        ...parts,
        variations: z.preprocess((sent) => (isOfferList(sent) ? undefined : sent), parts.variations)
      })
      .transform(
        ({ offerId: _offerId, productId: _id, image: _image, variationCount: _count, ...entry }): ProductInput => {
          const { productSlug: slug, price, available, ...fields } = entry
          const { amount, originalAmount } = price
          const isSale = typeof originalAmount === 'number' && originalAmount > amount
          const prices = isSale ? { priceMinor: originalAmount, salePriceMinor: amount } : { priceMinor: amount }
          return { shape: 'offer', slug, ...toProduct(fields), ...prices, available: available ?? undefined }
        }
      )
      .superRefine(checkSale),
    category: z
      .strictObject({
        slug: slug().refine((text) => slugFor(text) === text, 'Must have at most 100 characters and no underscores.'),
        name: line(255),
        parent: slug().nullish(),
        description: prose(10_000).nullish()
      })
      .transform(({ description, ...category }) => ({
        ...category,
        description: description ?? undefined
      })),
    coupon: coupon(place),
    shipping: shippingZone(currency),
    tax: taxRate,
    plan,
    campaign,
    affiliate: z
      .strictObject({
        code: line(100),
        user: line(254),
        status: z
          .enum(['pending', 'active', 'inactive', 'rejected'], 'Must be pending, active, inactive or rejected.')
          .nullish(),
        rate: percent().nullish(),
        coupons: lines(1000, 64).nullish()
      })
      .transform(({ code, user, status, rate, coupons }) => {
        return { code, user, status: status ?? 'pending', rateBps: rate ?? undefined, coupons: coupons ?? [] }
      })
  }
}

/** What the law of product safety asks for; empty for none. */
const safetyText = (limit: number) =>
  prose(limit)
    .nullish()
    .transform((text) => text || (text === undefined ? undefined : null))

function productParts({ currency, timeZone }: ShopPlace) {
  return {
    name: line(255),
    sku: line(255).nullish(),
    description: prose(100_000).nullish(),
    descriptionHtml: html(200_000).nullish(),
    cost: amount(currency).nullish(),
    saleStart: instant(timeZone, 'start').nullish(),
    saleEnd: instant(timeZone, 'end').nullish(),
    type: orMissing(
      z.enum(productTypes, `Must be ${productTypes.slice(0, -1).join(', ')} or ${productTypes.at(-1) ?? ''}.`)
    ),
    stock: count(0).nullish(),
    published: orMissing(z.boolean()),
    position: orMissing(count(0)),
    weightGrams: weight().nullish(),
    taxClass: orMissing(z.enum(taxClasses, `Must be ${taxClasses.join(', ')}.`)),
    lengthMm: count(0, 1_000_000).nullish(),
    widthMm: count(0, 1_000_000).nullish(),
    heightMm: count(0, 1_000_000).nullish(),
    brand: line(255).nullish(),
    gtin: gtin().nullish(),
    mpn: line(70).nullish(),
    manufacturer: safetyText(1000),
    responsiblePerson: safetyText(1000),
    safetyInfo: safetyText(5000),
    unitMeasure: unitMeasure().nullish(),
    seoTitle: line(255).nullish(),
    seoDescription: line(1000).nullish(),
    url: webUrl().nullish(),
    categories: orMissing(categoryList()),
    tags: orMissing(lines(250, 255)),
    images: orMissing(imageList()),
    variations: orMissing(variationList(currency)),
    grants: orMissing(z.array(grantSchema).max(100, 'Must have at most 100 entries.'))
  }
}

type ProductParts = z.output<z.ZodObject<ReturnType<typeof productParts>>>

/** A field that cannot be empty: null means the same as a missing field. For other fields, null means "none". */
function orMissing<T>(schema: z.ZodType<T>) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** HTML without a text gives the text. */
function toProduct({ saleStart, saleEnd, cost, description, ...fields }: ProductParts) {
  const { descriptionHtml } = fields
  const text = description ?? (descriptionHtml == null ? undefined : htmlToText(descriptionHtml))
  return { ...fields, description: text, costMinor: cost, saleStartsAt: saleStart, saleEndsAt: saleEnd }
}

/** A product without its own price has the price of its default variation. */
/** Whether these are the variations that an offer shows, which do not change a product. */
function isOfferList(variations: unknown): boolean {
  return Array.isArray(variations) && variations.every((entry) => isRecord(entry) && 'variationId' in entry)
}

function hasPrice(entry: unknown): boolean {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return true
  const hasOwn = 'price' in entry && entry.price !== undefined && entry.price !== null
  return hasOwn || ('variations' in entry && Array.isArray(entry.variations) && entry.variations.length > 0)
}

function checkSale(product: ProductInput, context: z.core.$RefinementCtx): void {
  const { priceMinor, salePriceMinor, saleStartsAt, saleEndsAt } = product
  if (typeof salePriceMinor === 'number' && salePriceMinor >= priceMinor) {
    context.addIssue({ code: 'custom', path: ['salePrice'], message: 'Must be lower than the price.' })
  }
  if (typeof saleStartsAt === 'number' && typeof saleEndsAt === 'number' && saleEndsAt <= saleStartsAt) {
    context.addIssue({ code: 'custom', path: ['saleEnd'], message: 'Must be after the sale starts.' })
  }
}

function coupon({ currency, timeZone }: ShopPlace) {
  return z
    .strictObject({
      code: line(64),
      percent: percent().nullish(),
      amount: amount(currency).nullish(),
      startsAt: instant(timeZone, 'start').nullish().transform(orNull),
      endsAt: instant(timeZone, 'end').nullish().transform(orNull),
      minTotal: amount(currency).nullish(),
      maxUses: count(1).nullish().transform(orNull),
      maxUsesPerCustomer: count(1).nullish().transform(orNull),
      exclusive: z
        .boolean()
        .nullish()
        .transform((value) => value ?? false),
      products: z.array(slug()).nullish(),
      categories: categoryList().nullish()
    })
    .transform(({ percent, amount, minTotal, products, categories, ...coupon }, context) => {
      const kinds = [percent, amount].filter((value) => value != null).length
      const oneKind = 'Either percent or amount is required, but not both.'
      if (kinds !== 1) context.addIssue({ code: 'custom', path: ['percent'], message: oneKind })
      if (amount === 0) context.addIssue({ code: 'custom', path: ['amount'], message: 'Must be above 0.' })
      const { startsAt, endsAt } = coupon
      const endsFirst = startsAt !== null && endsAt !== null && endsAt <= startsAt
      if (endsFirst) context.addIssue({ code: 'custom', path: ['endsAt'], message: 'Must be after it starts.' })
      const amounts = { percentBps: percent ?? null, amountMinor: amount ?? null, minTotalMinor: minTotal ?? null }
      return { ...coupon, ...amounts, products: [...new Set(products)], categories: categories ?? [] }
    })
}

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null
}

/** How many variations a product can have. */
export const mostVariations = 2048

/**
 * The schema of a product's `variations`. At most one is the default, which a buyer gets who chooses none. A variation with options is named after them if
 * it has no name.
 *
 * @param currency the shop's; amounts are in it
 */
export function variationList(currency: string) {
  return z
    .array(variation(currency))
    .max(mostVariations, `Must have at most ${mostVariations} entries.`)
    .transform((variations, context) => {
      checkVariations(variations, context)
      return variations
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
      mpn: line(70).nullish(),
      unitMeasure: unitMeasure().nullish(),
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
        mpn: entry.mpn ?? null,
        unitMeasure: entry.unitMeasure ?? null,
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
