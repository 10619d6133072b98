import type { Tx, Db } from '../../platform/db/database.ts'
import { ApplyRun, applyProduct } from './apply-product.ts'
import type { ApplyOptions } from './apply-product.ts'
import { countChanges, differences } from './changes.ts'
import type { Change, Counts } from './changes.ts'
import type { CatalogFile, CouponInput } from './import/format.ts'
import { isDeepStrictEqual } from 'node:util'
import { and, eq, lt, sql } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { CategoryTree } from './category-tree.ts'
import { couponScope, findCoupon, getCoupon } from './coupons.ts'
import { toCouponEntry } from './export-catalog.ts'
import { setting } from '../settings/settings.ts'
import type { CouponRow } from './rows.ts'
import { couponCategories, couponProducts, coupons } from './schema.ts'
import { productBySlug } from './stored-product.ts'

/** The result of an import: counts by kind, and each product and coupon with the fields that changed. */
export type CatalogResult = { products: Counts; coupons: Counts; categories: Counts; changes: Change[] }

/**
 * Creates and updates the categories, products and coupons of a file, matched by slug and code. Missing fields stay unchanged and
 * nothing is deleted. Importing the same file again writes nothing, so the catalog's revision does not change. The
 * file's plans, campaigns and affiliates are not handled here.
 *
 * @throws AppError VALIDATION_FAILED or CONFLICT when an entry cannot be applied; the caller's transaction must roll back
 */
export function applyCatalogFile(
  tx: Tx,
  file: Pick<CatalogFile, 'categories' | 'products' | 'coupons'>,
  options: ApplyOptions,
  now: number
): CatalogResult {
  const run = new ApplyRun(tx, options, now)
  const categories = run.categories.applyEntries(file.categories)
  const products = file.products.map((product) => applyProduct(run, product))
  const coupons = file.coupons.map((coupon, index) => applyCoupon(run, coupon, `coupons.${index}.`))
  return {
    products: countChanges(products),
    coupons: countChanges(coupons),
    categories,
    changes: [...products, ...coupons]
  }
}

/** The state that all coupons of one import share. */
type CouponRun = { tx: Tx; categories: CategoryTree; now: number }

const byNumber = (a: number, b: number) => a - b

/**
 * Creates or updates a coupon, matched by its code. Its number of uses and whether it is enabled stay unchanged.
 *
 * @param path prefix for field errors: the entry's place in the file
 * @throws AppError VALIDATION_FAILED when its scope contains an unknown product, CONFLICT when the new limit is below
 *   the number of uses
 */
export function applyCoupon({ tx, categories: tree, now }: CouponRun, input: CouponInput, path = ''): Change {
  const { products: slugs, categories, ...columns } = input
  const scope = {
    productIds: slugs
      .map((slug, index) => productIdOf(tx, slug, input.code, `${path}products.${index}`))
      .sort(byNumber),
    categoryIds: tree.of(categories).sort(byNumber)
  }
  const row = findCoupon(tx, input.code)
  if (row === undefined) {
    const { id } = tx.orm
      .insert(coupons)
      .values({ ...columns, codeKey: compareKey(input.code), createdAt: now })
      .returning({ id: coupons.id })
      .get()
    setScope(tx, id, scope)
    return { kind: 'coupon', key: input.code, outcome: 'created', fields: [] }
  }
  return updateCoupon(tx, row, columns, scope)
}

/** Creates a coupon. @throws AppError CONFLICT when the code exists, VALIDATION_FAILED as `applyCoupon` */
export function createCoupon(db: Db, input: CouponInput, now: number): CouponRow {
  return write(db, (tx) => {
    if (findCoupon(tx, input.code) !== undefined)
      throw new AppError('CONFLICT', 'A coupon with this code already exists.')
    applyCoupon({ tx, categories: new CategoryTree(tx), now }, input)
    return getCoupon(tx, input.code)
  })
}

/** A coupon of another shop. Categories are as those of a product. */
export type MovedCoupon = Omit<CouponRow, 'id' | 'codeKey'> & { productIds: number[]; categories: string[] }

/** Creates a coupon of another shop with the number of its uses there. Its code must be free. */
export function createMovedCoupon(tx: Tx, { productIds, categories, ...columns }: MovedCoupon): CouponRow {
  const values = { ...columns, codeKey: compareKey(columns.code) }
  const row = tx.orm.insert(coupons).values(values).returning().get()
  setScope(tx, row.id, { productIds, categoryIds: new CategoryTree(tx).of(categories) })
  return row
}

/** Raises the number of a coupon's uses to that in another shop. @returns whether it was lower */
export function countMovedUses(tx: Tx, couponId: number, used: number): boolean {
  const lower = and(eq(coupons.id, couponId), lt(coupons.used, used))
  // The other shop may have counted more uses than the coupon allows.
  const maxUses = sql`max(${coupons.maxUses}, ${used})`
  return tx.orm.update(coupons).set({ used, maxUses }).where(lower).run().changes > 0
}

type Scope = { productIds: number[]; categoryIds: number[] }
type Columns = Omit<CouponInput, 'products' | 'categories'>

function updateCoupon(tx: Tx, row: CouponRow, wanted: Columns, scope: Scope): Change {
  const current = couponScope(tx, row.id)
  const isSame =
    comparedColumns.every((name) => wanted[name] === row[name]) &&
    isDeepStrictEqual(current.productIds.toSorted(byNumber), scope.productIds) &&
    isDeepStrictEqual(current.categoryIds.toSorted(byNumber), scope.categoryIds)
  if (isSame) return { kind: 'coupon', key: row.code, outcome: 'unchanged', fields: [] }
  if (wanted.maxUses !== null && wanted.maxUses < row.used) {
    const message = `Coupon ${row.code} is used by ${row.used} orders. maxUses cannot be lower than that.`
    throw new AppError('CONFLICT', message)
  }
  const currency = setting(tx, 'shop.currency')
  const before = toCouponEntry(tx, row, currency)
  tx.orm.update(coupons).set(wanted).where(eq(coupons.id, row.id)).run()
  setScope(tx, row.id, scope)
  const fields = differences(before, toCouponEntry(tx, { ...row, ...wanted }, currency))
  return { kind: 'coupon', key: row.code, outcome: 'updated', fields }
}

const comparedColumns = [
  'code',
  'percentBps',
  'amountMinor',
  'startsAt',
  'endsAt',
  'minTotalMinor',
  'maxUses',
  'maxUsesPerCustomer',
  'exclusive'
] as const satisfies readonly (keyof Columns)[]

function setScope({ orm }: Tx, couponId: number, { productIds, categoryIds }: Scope): void {
  orm.delete(couponProducts).where(eq(couponProducts.couponId, couponId)).run()
  orm.delete(couponCategories).where(eq(couponCategories.couponId, couponId)).run()
  for (const productId of productIds) orm.insert(couponProducts).values({ couponId, productId }).run()
  for (const categoryId of categoryIds) orm.insert(couponCategories).values({ couponId, categoryId }).run()
}

function productIdOf(tx: Tx, slug: string, code: string, path: string): number {
  const product = productBySlug(tx, slug)
  if (product !== undefined) return product.id
  throw validationFailed(
    { [path]: ['No product has this slug.'] },
    `Coupon ${code} refers to the product ${slug}, which does not exist.`
  )
}
