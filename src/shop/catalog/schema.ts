import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { bool, instant, json, minor, oneOf } from '../../platform/db/columns.ts'
import type { Trigger } from '../../platform/db/trigger.ts'
import { raiseRevision } from '../settings/schema.ts'
import { grantSchema, optionValues } from './grants.ts'
import { productTypes } from './product-types.ts'
import { taxClasses } from '../tax/input.ts'

export const products = sqliteTable(
  'products',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    slug: text('slug').notNull(),
    name: text('name').notNull(),
    /** The product's own SKU; its variations have theirs. Shops may use one SKU several times. */
    sku: text('sku'),
    description: text('description').notNull().default(''),
    /** The description as sanitised HTML; null if it has no markup. */
    descriptionHtml: text('description_html'),
    /** The product's own URL; null for the shop's `store.productUrl`. */
    url: text('url'),
    type: text('type', { enum: productTypes }).notNull(),
    priceMinor: minor('price_minor').notNull(),
    salePriceMinor: minor('sale_price_minor'),
    /** What the shop pays for one unit, without tax. Buyers do not see it. */
    costMinor: minor('cost_minor'),
    saleStartsAt: instant('sale_starts_at'),
    saleEndsAt: instant('sale_ends_at'),
    /** Units that can still be sold, without held units; null when stock is not counted. */
    stock: integer('stock'),
    published: bool('published').notNull(),
    position: integer('position').notNull(),
    /** The weight of one unit with its packaging. */
    weightGrams: integer('weight_grams'),
    taxClass: text('tax_class', { enum: taxClasses }).notNull().default('standard'),
    lengthMm: integer('length_mm'),
    widthMm: integer('width_mm'),
    heightMm: integer('height_mm'),
    brand: text('brand'),
    /** A GTIN, EAN, UPC or ISBN: 8 to 14 digits, or an ISBN-10. */
    gtin: text('gtin'),
    /** The number that the maker gave it. */
    mpn: text('mpn'),
    /** Name and addresses of the manufacturer (regulation (EU) 2023/988, article 19). */
    manufacturer: text('manufacturer'),
    /** Who is responsible in the EU, if the manufacturer is elsewhere. */
    responsiblePerson: text('responsible_person'),
    /** Warnings and safety information. */
    safetyInfo: text('safety_info'),
    /** How much one unit contains, such as `750 ml`, for the price per litre. */
    unitMeasure: text('unit_measure'),
    /** The title and description for search engines; null for the product's own. */
    seoTitle: text('seo_title'),
    seoDescription: text('seo_description'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    uniqueIndex('products_slug').on(t.slug),
    index('products_sku').on(t.sku),
    index('products_listed').on(t.published, t.position, t.id),
    check('products_type', oneOf(t.type)),
    check('products_price', sql`${t.priceMinor} >= 0`),
    check('products_sale_price', sql`${t.salePriceMinor} >= 0`),
    check('products_cost', sql`${t.costMinor} >= 0`),
    check('products_stock', sql`${t.stock} >= 0`),
    check('products_published', sql`${t.published} IN (0, 1)`),
    check('products_tax_class', oneOf(t.taxClass))
  ]
)

export const variations = sqliteTable(
  'variations',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    sku: text('sku').notNull(),
    name: text('name').notNull(),
    /** Its value of each option; `{}` for a product without options. */
    options: json('options', optionValues).notNull().default({}),
    priceMinor: minor('price_minor').notNull(),
    salePriceMinor: minor('sale_price_minor'),
    stock: integer('stock'),
    /** As of a product; null for the product's own. */
    gtin: text('gtin'),
    mpn: text('mpn'),
    unitMeasure: text('unit_measure'),
    weightGrams: integer('weight_grams'),
    isDefault: bool('is_default').notNull(),
    position: integer('position').notNull(),
    /** False when the last import did not contain it. The row stays, because orders refer to it. */
    available: bool('available').notNull().default(true)
  },
  (t) => [
    uniqueIndex('variations_sku').on(t.productId, t.sku),
    check('variations_price', sql`${t.priceMinor} >= 0`),
    check('variations_sale_price', sql`${t.salePriceMinor} >= 0`),
    check('variations_stock', sql`${t.stock} >= 0`),
    check('variations_is_default', sql`${t.isDefault} IN (0, 1)`),
    check('variations_available', sql`${t.available} IN (0, 1)`)
  ]
)

export const categories = sqliteTable(
  'categories',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    slug: text('slug').notNull(),
    name: text('name').notNull(),
    /** The category above it; null at the top. A product of a category is in all categories above it, too. */
    parentId: integer('parent_id').references((): AnySQLiteColumn => categories.id),
    description: text('description').notNull().default(''),
    /** After an import renamed or moved it: its products up to this id are updated. Null when all are. */
    updatedTo: integer('updated_to')
  },
  (t) => [uniqueIndex('categories_slug').on(t.slug)]
)

export const productCategories = sqliteTable(
  'product_categories',
  {
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    categoryId: integer('category_id')
      .notNull()
      .references(() => categories.id),
    position: integer('position').notNull()
  },
  (t) => [
    primaryKey({ columns: [t.productId, t.categoryId] }),
    index('product_categories_by_category').on(t.categoryId, t.productId)
  ]
)

export const productTags = sqliteTable(
  'product_tags',
  {
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    tag: text('tag').notNull(),
    position: integer('position').notNull()
  },
  (t) => [primaryKey({ columns: [t.productId, t.tag] })]
)

export const productGrants = sqliteTable(
  'product_grants',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    spec: json('spec', grantSchema).notNull(),
    position: integer('position').notNull()
  },
  (t) => [index('product_grants_by_product').on(t.productId, t.position)]
)

export const coupons = sqliteTable(
  'coupons',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    code: text('code').notNull(),
    codeKey: text('code_key').notNull(),
    /** Either `percentBps` or `amountMinor` is set. 10 percent is 1000 bps. */
    percentBps: integer('percent_bps'),
    amountMinor: minor('amount_minor'),
    startsAt: instant('starts_at'),
    endsAt: instant('ends_at'),
    minTotalMinor: minor('min_total_minor'),
    maxUses: integer('max_uses'),
    maxUsesPerCustomer: integer('max_uses_per_customer'),
    /** Whether an order with it has no other coupon. */
    exclusive: bool('exclusive').notNull().default(false),
    /** The number of orders with the coupon, unpaid or paid. */
    used: integer('used').notNull().default(0),
    enabled: bool('enabled').notNull().default(true),
    createdAt: instant('created_at').notNull()
  },
  (t) => [
    uniqueIndex('coupons_code_key').on(t.codeKey),
    check('coupons_kind', sql`(${t.percentBps} IS NULL) <> (${t.amountMinor} IS NULL)`),
    check('coupons_percent', sql`${t.percentBps} BETWEEN 1 AND 10000`),
    check('coupons_amount', sql`${t.amountMinor} > 0`),
    check('coupons_used', sql`${t.used} >= 0 AND (${t.maxUses} IS NULL OR ${t.used} <= ${t.maxUses})`),
    check('coupons_exclusive', sql`${t.exclusive} IN (0, 1)`),
    check('coupons_enabled', sql`${t.enabled} IN (0, 1)`)
  ]
)

/** A coupon with rows here or in coupon_categories applies only to these products and categories. */
export const couponProducts = sqliteTable(
  'coupon_products',
  {
    couponId: integer('coupon_id')
      .notNull()
      .references(() => coupons.id),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id)
  },
  (t) => [primaryKey({ columns: [t.couponId, t.productId] })]
)

/** A named period in which products cost less. The products carry the prices and the period themselves. */
export const sales = sqliteTable(
  'sales',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    name: text('name').notNull(),
    percentBps: integer('percent_bps').notNull(),
    startsAt: instant('starts_at').notNull(),
    endsAt: instant('ends_at').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When an operator ended it before its end. */
    endedAt: instant('ended_at')
  },
  (t) => [
    index('sales_by_end').on(t.endsAt),
    check('sales_percent', sql`${t.percentBps} BETWEEN 1 AND 9999`),
    check('sales_period', sql`${t.endsAt} > ${t.startsAt}`)
  ]
)

export const saleProducts = sqliteTable(
  'sale_products',
  {
    saleId: integer('sale_id')
      .notNull()
      .references(() => sales.id),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id)
  },
  (t) => [primaryKey({ columns: [t.saleId, t.productId] })]
)

/**
 * What a product or a variation cost until `until`, recorded by triggers. Beside a sale the EU asks for the lowest price of
 * the 30 days before it (directive 98/6/EC art. 6a).
 */
export const priceHistory = sqliteTable(
  'price_history',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    /** Null for the product's own prices. */
    variationId: integer('variation_id').references(() => variations.id),
    priceMinor: minor('price_minor').notNull(),
    salePriceMinor: minor('sale_price_minor'),
    saleStartsAt: instant('sale_starts_at'),
    saleEndsAt: instant('sale_ends_at'),
    until: instant('until').notNull()
  },
  (t) => [
    index('price_history_by_product').on(t.productId, t.variationId, t.until),
    index('price_history_by_time').on(t.until)
  ]
)

export const couponCategories = sqliteTable(
  'coupon_categories',
  {
    couponId: integer('coupon_id')
      .notNull()
      .references(() => coupons.id),
    categoryId: integer('category_id')
      .notNull()
      .references(() => categories.id)
  },
  (t) => [primaryKey({ columns: [t.couponId, t.categoryId] })]
)

/** A stored picture with the size of its largest file. Its files are `media/{hash}-{width}.webp` (images/media-files.ts). */
export const media = sqliteTable(
  'media',
  {
    /** The first 32 hexadecimal digits of the SHA-256 of the original file. */
    hash: text('hash').primaryKey(),
    width: integer('width').notNull(),
    height: integer('height').notNull(),
    createdAt: instant('created_at').notNull()
  },
  (t) => [check('media_size', sql`${t.width} > 0 AND ${t.height} > 0`)]
)

export const productImages = sqliteTable(
  'product_images',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    variationId: integer('variation_id').references(() => variations.id),
    /** A URL, or a path relative to `folder`, which is that of the import file. */
    src: text('src').notNull(),
    folder: text('folder'),
    alt: text('alt').notNull(),
    position: integer('position').notNull(),
    /** Null until it is stored. */
    mediaHash: text('media_hash').references(() => media.hash),
    /** Why it could not be stored the last time. */
    problem: text('problem'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [
    index('product_images_by_product').on(t.productId, t.variationId, t.position),
    index('product_images_by_media').on(t.mediaHash),
    index('product_images_missing')
      .on(t.id)
      .where(sql`${t.mediaHash} IS NULL`)
  ]
)

/**
 * The search index of published products (search/index-product.ts). A row id is the product's place in the shop: a bit for
 * sold out, 30 bits of its position, 32 bits of its id. `labels` are category names and SKUs, `keys` are not words.
 */
export const virtualTables = [
  `CREATE VIRTUAL TABLE products_search
   USING fts5(name, tags, labels, description, keys, content = '', contentless_delete = 1,
     tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3')`
]

/**
 * Words of the search index, to which a search corrects typing mistakes, also from end to beginning, for compounds. Words
 * of former products stay.
 */
export const searchWords = sqliteTable(
  'search_words',
  { word: text('word').primaryKey(), reversed: text('reversed').notNull() },
  (t) => [index('search_words_reversed').on(t.reversed)]
)

const run = raiseRevision('catalog')
const record =
  'INSERT INTO price_history (product_id, variation_id, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, until)'
const instantNow = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
const changes = (columns: readonly string[]): string =>
  columns.map((name) => `OLD.${name} IS NOT NEW.${name}`).join(' OR ')
const offerColumns =
  'slug, name, sku, description, description_html, url, type, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, published, position, weight_grams, length_mm, width_mm, height_mm, brand, gtin, mpn, manufacturer, responsible_person, safety_info, unit_measure, seo_title, seo_description, updated_at'
const variationColumns =
  'sku, name, options, price_minor, sale_price_minor, gtin, mpn, unit_measure, weight_grams, is_default, position, available'

export const triggers: readonly Trigger[] = [
  { name: 'products_inserted', event: 'AFTER INSERT', on: products, run },
  { name: 'products_updated', event: `AFTER UPDATE OF ${offerColumns}`, on: products, run },
  // Selling counted stock changes an offer only when the last unit is sold or the first one is returned.
  {
    name: 'products_sold_out',
    event: 'AFTER UPDATE OF stock',
    on: products,
    when: '(coalesce(OLD.stock, 1) > 0) <> (coalesce(NEW.stock, 1) > 0)',
    run
  },
  {
    name: 'products_repriced',
    event: 'AFTER UPDATE OF price_minor, sale_price_minor, sale_starts_at, sale_ends_at',
    on: products,
    when: changes(['price_minor', 'sale_price_minor', 'sale_starts_at', 'sale_ends_at']),
    run: `${record} VALUES (OLD.id, NULL, OLD.price_minor, OLD.sale_price_minor, OLD.sale_starts_at, OLD.sale_ends_at, ${instantNow})`
  },
  // The period of a sale is that of the variations, too.
  {
    name: 'products_rescheduled',
    event: 'AFTER UPDATE OF sale_starts_at, sale_ends_at',
    on: products,
    when: changes(['sale_starts_at', 'sale_ends_at']),
    run: `${record} SELECT OLD.id, id, price_minor, sale_price_minor, OLD.sale_starts_at, OLD.sale_ends_at, ${instantNow} FROM variations WHERE product_id = OLD.id`
  },
  {
    name: 'variations_repriced',
    event: 'AFTER UPDATE OF price_minor, sale_price_minor',
    on: variations,
    when: changes(['price_minor', 'sale_price_minor']),
    run: `${record} SELECT id, OLD.id, OLD.price_minor, OLD.sale_price_minor, sale_starts_at, sale_ends_at, ${instantNow} FROM products WHERE id = OLD.product_id`
  },
  { name: 'products_deleted', event: 'AFTER DELETE', on: products, run },
  { name: 'variations_inserted', event: 'AFTER INSERT', on: variations, run },
  { name: 'variations_updated', event: `AFTER UPDATE OF ${variationColumns}`, on: variations, run },
  // A variation whose stock is null uses its product's stock, so a change from or to null changes the offer.
  {
    name: 'variations_sold_out',
    event: 'AFTER UPDATE OF stock',
    on: variations,
    when: 'OLD.stock IS NULL OR NEW.stock IS NULL OR (OLD.stock > 0) <> (NEW.stock > 0)',
    run
  },
  { name: 'variations_deleted', event: 'AFTER DELETE', on: variations, run },
  { name: 'categories_updated', event: 'AFTER UPDATE', on: categories, run },
  { name: 'product_categories_inserted', event: 'AFTER INSERT', on: productCategories, run },
  { name: 'product_categories_deleted', event: 'AFTER DELETE', on: productCategories, run },
  { name: 'product_tags_inserted', event: 'AFTER INSERT', on: productTags, run },
  { name: 'product_tags_deleted', event: 'AFTER DELETE', on: productTags, run },
  { name: 'product_grants_inserted', event: 'AFTER INSERT', on: productGrants, run },
  { name: 'product_grants_deleted', event: 'AFTER DELETE', on: productGrants, run },
  { name: 'product_images_inserted', event: 'AFTER INSERT', on: productImages, run },
  { name: 'product_images_updated', event: 'AFTER UPDATE OF alt, position, media_hash', on: productImages, run },
  { name: 'product_images_deleted', event: 'AFTER DELETE', on: productImages, run }
]
