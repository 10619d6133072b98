import { z } from 'zod'
import { amount, count, currency, id, pagination, time } from '../../../platform/public-fields.ts'
import { grantKinds } from '../grants.ts'
import { productTypes } from '../product-types.ts'

const slug = z.string().meta({ example: 'harbour-lantern' })
const name = z.string().meta({ example: 'Harbour lantern' })

/** A price in major units. */
const price = z
  .object({
    amount,
    originalAmount: amount
      .nullable()
      .meta({ description: 'The regular price during a sale; else null.', example: null }),
    lowestAmount: amount.nullable().meta({
      description:
        'During a sale, the lowest price of the 30 days before it (directive 98/6/EC art. 6a). Null if there was none.',
      example: null
    }),
    unitPrice: z
      .object({ amount, unit: z.enum(['kg', 'l', 'm', 'sqm', 'cbm', 'ct']).meta({ example: 'l' }) })
      .nullable()
      .meta({ description: 'The price per kilogram, litre, metre or piece, from unitMeasure; null without one.' }),
    currency,
    from: z.boolean().meta({ description: 'The amount is the lowest of several variations.', example: false })
  })
  .meta({ id: 'Price' })
export type PublicPrice = z.infer<typeof price>

const url = z.string().meta({ format: 'uri', example: 'https://shop.example/media/5f2c-800.webp' })

/** A picture. URLs are absolute, under the public URL; `sizes` has the smallest first. */
export const image = z
  .object({
    url,
    alt: z.string().meta({ example: 'A brass lantern on a table' }),
    width: count.meta({ example: 800 }),
    height: count.meta({ example: 600 }),
    sizes: z
      .array(z.object({ url, width: count.meta({ example: 400 }) }))
      .meta({ description: 'The same picture in several widths, for srcset.' })
  })
  .meta({ id: 'Image' })
export type Image = z.infer<typeof image>

/** A product in a list (docs/contract.md A10). */
const card = z.object({
  productId: id,
  slug,
  name,
  summary: z
    .string()
    .meta({ description: 'Plain text of at most 200 characters.', example: 'Burns for nine hours in any weather.' }),
  url: z.string().meta({ example: 'https://shop.example/products/harbour-lantern' }),
  type: z.enum(productTypes).meta({ example: 'physical' }),
  categories: z.array(
    z.object({ slug: z.string().meta({ example: 'light' }), name: z.string().meta({ example: 'Light' }) })
  ),
  price,
  image: image.nullable(),
  available: z.boolean().meta({ description: 'Whether it can be bought now.', example: true }),
  variationCount: count.meta({ description: '0 for a product without variations.', example: 0 }),
  updatedAt: time
})
export type Card = z.infer<typeof card>

const stockLeft = count
  .nullable()
  .meta({ description: 'Units left, when they are few (setting store.lowStock); else null.', example: 3 })

const gtin = z.string().nullable()
const mpn = z.string().nullable()
const unitMeasure = z.string().nullable()

/** One choice of a product. */
const variation = z
  .object({
    variationId: id,
    sku: z.string().meta({ example: 'SOCK-M-RED' }),
    name: z.string().meta({ example: 'M / Red' }),
    options: z
      .record(z.string(), z.string())
      .meta({ description: 'Its value of each option of the product.', example: { Size: 'M', Colour: 'Red' } }),
    price,
    available: z.boolean().meta({ example: true }),
    stockLeft,
    image: image.nullable(),
    gtin: gtin.meta({ description: 'Null for the GTIN of the product.', example: null }),
    mpn: mpn.meta({ description: 'Null for the one of the product.', example: null }),
    unitMeasure: unitMeasure.meta({ description: 'Null for the one of the product.', example: null }),
    weightGrams: count.nullable().meta({ description: 'Null for the weight of the product.', example: 420 }),
    isDefault: z.boolean().meta({ example: true })
  })
  .meta({ id: 'Variation' })
export type PublicVariation = z.infer<typeof variation>

const seoText = z.string().nullable().meta({ example: null })
const length = count.nullable().meta({ example: 120 })

const grant = z
  .looseObject({
    kind: z.enum(grantKinds).meta({ example: 'course' }),
    text: z.string().meta({ example: 'A place on the course' })
  })
  .meta({ id: 'Grant', description: 'What a paid order gives, with further fields by kind.' })
export type PublicGrant = z.infer<typeof grant>

/** A product with everything that its page shows. */
const product = z
  .object({
    ...card.shape,
    sku: z.string().nullable().meta({ example: 'LANTERN-1' }),
    brand: z.string().nullable().meta({ example: 'Harbour Works' }),
    gtin: gtin.meta({ description: 'A GTIN, EAN, UPC or ISBN.', example: '4006381333931' }),
    mpn: mpn.meta({ description: 'The number that the maker gave it.', example: 'HW-2041' }),
    manufacturer: z
      .string()
      .nullable()
      .meta({ description: 'Name and addresses of the manufacturer; null if unknown.', example: null }),
    responsiblePerson: z.string().nullable().meta({
      description: 'Who is responsible in the EU for a manufacturer elsewhere; null if unknown.',
      example: null
    }),
    safetyInfo: z
      .string()
      .nullable()
      .meta({ description: 'Warnings and safety information; null for none.', example: null }),
    unitMeasure: unitMeasure.meta({ description: 'How much one unit contains.', example: '750 ml' }),
    description: z.string().meta({ example: 'Burns for nine hours in any weather.' }),
    descriptionHtml: z.string().nullable().meta({
      description: 'The description as sanitised HTML; null if it has no markup.',
      example: '<p>Burns for <strong>nine hours</strong> in any weather.</p>'
    }),
    seo: z
      .object({ title: seoText, description: seoText })
      .meta({ description: 'Texts for search engines; null for the name and summary.' }),
    tags: z.array(z.string()).meta({ example: ['brass'] }),
    images: z.array(image),
    options: z
      .array(
        z.object({
          name: z.string().meta({ example: 'Size' }),
          values: z.array(z.string()).meta({ example: ['S', 'M', 'L'] })
        })
      )
      .meta({ description: 'The choices of a product with variations; each variation has one value of each.' }),
    variations: z.array(variation),
    grants: z.array(grant),
    requiresShipping: z.boolean().meta({ example: true }),
    weightGrams: count.nullable().meta({ example: 850 }),
    dimensions: z.object({ lengthMm: length, widthMm: length, heightMm: length }),
    stockLeft
  })
  .meta({ id: 'Product' })
export type PublicProduct = z.infer<typeof product>

/** A category with published products. */
const category = z
  .object({
    slug: z.string().meta({ example: 'light' }),
    name: z.string().meta({ example: 'Light' }),
    description: z.string().meta({ example: 'Lanterns and candles.' }),
    parent: z.string().nullable().meta({ description: 'The slug of the category above it.', example: null }),
    productCount: count,
    image: image.nullable(),
    updatedAt: time.meta({ description: 'When a published product of the category last changed.' })
  })
  .meta({ id: 'Category' })
export type PublicCategory = z.infer<typeof category>

/** The public offer (docs/interface.md 2.6). */
/** What a buyer chooses from when an item names no variation. */
export const variationChoice = z
  .object({
    variationId: id,
    name: z.string().meta({ example: 'M / Red' }),
    options: z
      .record(z.string(), z.string())
      .meta({ description: 'Its value of each option of the product.', example: { Size: 'M', Colour: 'Red' } }),
    price: amount,
    available: z.boolean().meta({ example: true }),
    stockLeft
  })
  .meta({ id: 'VariationChoice' })
export type VariationChoice = z.infer<typeof variationChoice>

const offer = z
  .object({
    offerId: z.string().meta({ example: 'offer-3' }),
    productId: id,
    productSlug: z.string().meta({ example: 'harbour-lantern' }),
    name: z.string().meta({ example: 'Harbour lantern' }),
    description: z.string().meta({ example: 'Burns for nine hours in any weather.' }),
    url: z.string().meta({ example: 'https://shop.example/products/harbour-lantern' }),
    price: z.object({ currency, amount, originalAmount: amount.nullable(), isOnSale: z.boolean() }),
    categories: z.array(z.string()).meta({ example: ['Light'] }),
    tags: z.array(z.string()).meta({ example: ['brass'] }),
    image: image.nullable(),
    available: z.boolean().meta({ description: 'Whether it can be bought now.', example: true }),
    variationCount: count.meta({ description: '0 for a product without variations.', example: 0 }),
    variations: z.array(variationChoice).meta({ description: 'Their ids are the variationId of a checkout.' })
  })
  .meta({
    id: 'Offer',
    description: 'A published product. A product with variations has the price of its default variation.'
  })
export type Offer = z.infer<typeof offer>

export const offersData = z.object({ offers: z.array(offer), pagination })
export const productsData = z.object({ products: z.array(card.meta({ id: 'Card' })), pagination })
export const productData = z.object({ product })
export const categoriesData = z.object({ categories: z.array(category) })
