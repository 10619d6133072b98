import { and, asc, count, desc, eq, gt, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { AppError, validationFailed } from '../../../errors.ts'
import { write } from '../../../platform/db/database.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { parseWith } from '../../../platform/http/validation.ts'
import { line, percent } from '../../../platform/input-fields.ts'
import { chargeStepMinor } from '../../../platform/money.ts'
import { parseInstant } from '../../../platform/days.ts'
import { setting } from '../../settings/settings.ts'
import { shopTimeZone } from '../../settings/shop-days.ts'
import { productCategories, products, saleProducts, sales, variations } from '../schema.ts'
import { productBySlug } from '../stored-product.ts'
import { getCategoryId } from './list-products.ts'
import { changed } from './reprice.ts'

export type SaleRow = typeof sales.$inferSelect
/** A sale with the number of its products, and whether it has begun and ended at a time. */
export type SaleView = SaleRow & { products: number; state: 'planned' | 'running' | 'ended' }

/** What an operator types: all products by default, those of a category, or those named. */
export type NewSale = {
  name: string
  percent: number | string
  from?: string | undefined
  to: string
  category?: string | undefined
  slugs: readonly string[]
}

const saleInput = z.object({ name: line(100), percent: percent() })

/**
 * Lowers the prices of products by a percentage for some days. The sale begins and ends by itself. A product that is added
 * to a category later is not in it.
 *
 * @throws AppError VALIDATION_FAILED with the field; NOT_FOUND for an unknown category or product; CONFLICT when a product
 *   has another sale in these days, or when a sale of this name has not ended
 */
export function createSale(db: Db, input: NewSale, now: number): SaleView {
  const { name, percent: percentBps } = parseWith(saleInput, { name: input.name, percent: input.percent })
  if (percentBps === 10_000) throw validationFailed({ percent: ['Must be below 100.'] })
  const { from, to } = input
  const period = { startsAt: from === undefined ? now : readTime(db, from, 'from'), endsAt: readTime(db, to, 'to') }
  if (period.endsAt <= Math.max(period.startsAt, now))
    throw validationFailed({ to: ['Must be after the sale begins, and not over yet.'] })
  return write(db, (tx) => {
    if (findOpenSale(tx, name, now) !== undefined)
      throw new AppError('CONFLICT', `There is a sale "${name}" already. End it first, or choose another name.`)
    const found = productsOf(tx, input)
    if (found.length === 0) throw new AppError('NOT_FOUND', 'No product has a price that could be lower.')
    refuseOverlap(
      tx,
      found.map(({ id }) => id),
      period
    )
    const sale = tx.orm
      .insert(sales)
      .values({ name, percentBps, ...period, createdAt: now })
      .returning()
      .get()
    for (const product of found) {
      tx.orm.insert(saleProducts).values({ saleId: sale.id, productId: product.id }).run()
      lowerPrices(tx, product, sale, now)
    }
    return toView(tx, sale, now)
  })
}

/** The sales, the one that ends last first. */
export function listSales(db: Db, now: number): SaleView[] {
  const rows = db.orm.select().from(sales).orderBy(desc(sales.endsAt), desc(sales.id)).all()
  return rows.map((row) => toView(db, row, now))
}

/**
 * Ends a sale before its end. A product whose sale was changed by hand since keeps it.
 *
 * @throws AppError NOT_FOUND when no sale of this name is planned or running
 */
export function endSale(db: Db, name: string, now: number): SaleView {
  return write(db, (tx) => {
    const sale = findOpenSale(tx, name, now)
    if (sale === undefined) throw new AppError('NOT_FOUND', `No sale "${name}" is planned or running.`)
    const ofSale = tx.orm
      .select({ id: saleProducts.productId })
      .from(saleProducts)
      .innerJoin(products, eq(products.id, saleProducts.productId))
      .where(
        and(
          eq(saleProducts.saleId, sale.id),
          eq(products.saleStartsAt, sale.startsAt),
          eq(products.saleEndsAt, sale.endsAt)
        )
      )
      .all()
    const none = { salePriceMinor: null, saleStartsAt: null, saleEndsAt: null }
    for (const { id } of ofSale) {
      tx.orm
        .update(products)
        .set({ ...none, updatedAt: now })
        .where(eq(products.id, id))
        .run()
      tx.orm.update(variations).set({ salePriceMinor: null }).where(eq(variations.productId, id)).run()
    }
    const ended = tx.orm.update(sales).set({ endedAt: now }).where(eq(sales.id, sale.id)).returning().get()
    return toView(tx, ended, now)
  })
}

/** A first day, or the instant after a last day, in the shop's time zone. */
function readTime(db: Db, text: string, field: 'from' | 'to'): number {
  const at = parseInstant(shopTimeZone(db), text, field === 'from' ? 'start' : 'end')
  if (at === undefined) throw validationFailed({ [field]: ['Must be a day such as 2026-11-27, or an ISO 8601 time.'] })
  return at
}

/** Sales are found by name, in any case. */
function findOpenSale(db: Db, name: string, now: number): SaleRow | undefined {
  return db.orm
    .select()
    .from(sales)
    .where(and(sql`compare_key(${sales.name}) = compare_key(${name})`, isNull(sales.endedAt), gt(sales.endsAt, now)))
    .get()
}

type PricedProduct = { id: number; priceMinor: number }

function productsOf(db: Db, { category, slugs }: NewSale): PricedProduct[] {
  const named = slugs.map((slug) => {
    const product = productBySlug(db, slug)
    if (product === undefined) throw new AppError('NOT_FOUND', `No product has the slug ${slug}.`)
    return product.id
  })
  const ofCategory =
    category === undefined
      ? undefined
      : inArray(
          products.id,
          db.orm
            .select({ id: productCategories.productId })
            .from(productCategories)
            .where(eq(productCategories.categoryId, getCategoryId(db, category)))
        )
  const wanted = named.length === 0 ? ofCategory : or(ofCategory, inArray(products.id, named))
  return db.orm
    .select({ id: products.id, priceMinor: products.priceMinor })
    .from(products)
    .where(and(gt(products.priceMinor, 0), wanted))
    .orderBy(asc(products.id))
    .all()
}

/** A product has one sale price and one period, so two sales of it cannot overlap. */
function refuseOverlap(db: Db, ids: readonly number[], { startsAt, endsAt }: Pick<SaleRow, 'startsAt' | 'endsAt'>) {
  const inList = sql`${products.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
  const ofVariation = sql`EXISTS (SELECT 1 FROM ${variations} WHERE ${variations.productId} = ${products.id} AND ${variations.salePriceMinor} IS NOT NULL)`
  const found = db.orm
    .select({ slug: products.slug })
    .from(products)
    .where(
      and(
        inList,
        or(isNotNull(products.salePriceMinor), ofVariation),
        or(isNull(products.saleStartsAt), lt(products.saleStartsAt, endsAt)),
        or(isNull(products.saleEndsAt), gt(products.saleEndsAt, startsAt))
      )
    )
    .limit(6)
    .all()
  if (found.length === 0) return
  const names = found.slice(0, 5).map(({ slug }) => slug)
  const more = found.length > names.length ? ' and others' : ''
  throw new AppError('CONFLICT', `In these days there is a sale of ${names.join(', ')}${more} already.`, {
    products: names
  })
}

function lowerPrices(tx: Tx, { id: productId, priceMinor }: PricedProduct, sale: SaleRow, now: number): void {
  const lower = { percentBps: -sale.percentBps, stepMinor: chargeStepMinor(setting(tx, 'shop.currency')) }
  const { startsAt: saleStartsAt, endsAt: saleEndsAt } = sale
  tx.orm
    .update(products)
    .set({ salePriceMinor: changed(priceMinor, lower), saleStartsAt, saleEndsAt, updatedAt: now })
    .where(eq(products.id, productId))
    .run()
  const ofEach = tx.orm
    .select({ id: variations.id, minor: variations.priceMinor })
    .from(variations)
    .where(eq(variations.productId, productId))
    .all()
  for (const { id, minor } of ofEach)
    tx.orm
      .update(variations)
      .set({ salePriceMinor: changed(minor, lower) })
      .where(eq(variations.id, id))
      .run()
}

function toView(db: Db, row: SaleRow, now: number): SaleView {
  const counted = db.orm.select({ of: count() }).from(saleProducts).where(eq(saleProducts.saleId, row.id)).get()
  const isOver = row.endedAt !== null || row.endsAt <= now
  return { ...row, products: counted?.of ?? 0, state: isOver ? 'ended' : row.startsAt > now ? 'planned' : 'running' }
}
