import { and, asc, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { write, statement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { toMajor } from '../../platform/money.ts'
import { compareKey } from '../../platform/text.ts'
import { categoryReference } from './category-tree.ts'
import type { CouponScope } from './coupon-rules.ts'
import type { CouponRow } from './rows.ts'
import { categories, couponCategories, couponProducts, coupons, products } from './schema.ts'

const byKey = statement((orm) =>
  orm
    .select()
    .from(coupons)
    .where(eq(coupons.codeKey, sql.placeholder('codeKey')))
    .prepare()
)
const scopeProducts = statement((orm) =>
  orm
    .select({ id: couponProducts.productId })
    .from(couponProducts)
    .where(eq(couponProducts.couponId, sql.placeholder('id')))
    .prepare()
)
const scopeCategories = statement((orm) =>
  orm
    .select({ id: couponCategories.categoryId })
    .from(couponCategories)
    .where(eq(couponCategories.couponId, sql.placeholder('id')))
    .prepare()
)
const productsInScope = statement((orm) =>
  orm
    .select({ slug: products.slug })
    .from(couponProducts)
    .innerJoin(products, eq(products.id, couponProducts.productId))
    .where(eq(couponProducts.couponId, sql.placeholder('id')))
    .orderBy(products.slug)
    .prepare()
)
const categoriesInScope = statement((orm) =>
  orm
    .select({ slug: categories.slug, name: categories.name })
    .from(couponCategories)
    .innerJoin(categories, eq(categories.id, couponCategories.categoryId))
    .where(eq(couponCategories.couponId, sql.placeholder('id')))
    .orderBy(categories.slug)
    .prepare()
)
const addUse = statement((orm) =>
  orm
    .update(coupons)
    .set({ used: sql`${coupons.used} + 1` })
    .where(and(eq(coupons.id, sql.placeholder('id')), or(isNull(coupons.maxUses), lt(coupons.used, coupons.maxUses))))
    .prepare()
)
const subtractUse = statement((orm) =>
  orm
    .update(coupons)
    .set({ used: sql`${coupons.used} - 1` })
    .where(and(eq(coupons.id, sql.placeholder('id')), gt(coupons.used, 0)))
    .prepare()
)

/** Finds a coupon by its code, ignoring case and surrounding spaces. */
export function findCoupon(db: Db, code: string): CouponRow | undefined {
  return byKey(db).get({ codeKey: compareKey(code) })
}

/** As `findCoupon`. @throws AppError NOT_FOUND */
export function getCoupon(db: Db, code: string): CouponRow {
  const coupon = findCoupon(db, code)
  if (coupon === undefined) throw new AppError('NOT_FOUND', 'No coupon has this code.')
  return coupon
}

/** The products and categories that a coupon applies to. */
export function couponScope(db: Db, couponId: number): CouponScope {
  return {
    productIds: scopeProducts(db)
      .all({ id: couponId })
      .map((row) => row.id),
    categoryIds: scopeCategories(db)
      .all({ id: couponId })
      .map((row) => row.id)
  }
}

/**
 * Counts one more order with the coupon; false when it has reached its limit. The UPDATE itself checks the limit, so that
 * two orders cannot both get the last use.
 */
export function takeUse(tx: Tx, couponId: number): boolean {
  return addUse(tx).run({ id: couponId }).changes === 1
}

/** Counts one order less with the coupon, when an order releases its hold. */
export function returnUse(tx: Tx, couponId: number): void {
  subtractUse(tx).run({ id: couponId })
}

/** Disables a coupon for new orders; orders that already have it keep their discount. @throws AppError NOT_FOUND */
export function disableCoupon(db: Db, code: string): CouponRow {
  return write(db, (tx) => {
    const { id, enabled } = getCoupon(tx, code)
    if (enabled) tx.orm.update(coupons).set({ enabled: false }).where(eq(coupons.id, id)).run()
    return getCoupon(tx, code)
  })
}

/**
 * All coupons, ordered by code. They are read while they are used.
 *
 * @param view what the list shows of a coupon
 */
export function listCoupons<T>(db: Db, view: (row: CouponRow) => T): Iterable<T> {
  const next = (last: CouponRow | undefined, limit: number): CouponRow[] =>
    db.orm
      .select()
      .from(coupons)
      .where(last && gt(coupons.codeKey, last.codeKey))
      .orderBy(asc(coupons.codeKey))
      .limit(limit)
      .all()
  return inParts(db, next, (rows) => rows.map(view))
}

/** A coupon as the command line shows it. Amounts are in major units; the scope lists slugs and names. */
export function toCoupon(db: Db, row: CouponRow, currency: string) {
  const major = (minor: number | null) => (minor === null ? null : toMajor(minor, currency))
  return {
    id: row.id,
    code: row.code,
    percent: row.percentBps === null ? null : row.percentBps / 100,
    amount: major(row.amountMinor),
    startsAt: toIsoOrNull(row.startsAt),
    endsAt: toIsoOrNull(row.endsAt),
    minTotal: major(row.minTotalMinor),
    maxUses: row.maxUses,
    maxUsesPerCustomer: row.maxUsesPerCustomer,
    exclusive: row.exclusive,
    used: row.used,
    enabled: row.enabled,
    ...scopeNames(db, row.id),
    createdAt: toIso(row.createdAt)
  }
}

export type CouponView = ReturnType<typeof toCoupon>

/** The scope as the import file states it: slugs of products, names of categories. */
export function scopeNames(db: Db, couponId: number): { products: string[]; categories: string[] } {
  return {
    products: productsInScope(db)
      .all({ id: couponId })
      .map(({ slug }) => slug),
    categories: categoriesInScope(db).all({ id: couponId }).map(categoryReference)
  }
}
