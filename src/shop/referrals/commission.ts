import { eq, sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { percentOf, shareMinor } from '../../platform/money.ts'
import { findOwnRate, ratesOfGoods } from '../affiliates/rates.ts'
import type { RateRow } from '../affiliates/rates.ts'
import { isInScope } from '../catalog/coupon-rules.ts'
import { couponScope } from '../catalog/coupons.ts'
import { categories } from '../catalog/schema.ts'
import { categoryIdsOfProduct } from '../catalog/stored-product.ts'
import type { RateSource } from './states.ts'

/** A line of the goods of an order, in minor units. */
export type GoodsLine = {
  itemId: number
  productId: number
  /** After discounts, without tax. */
  baseMinor: number
  /** What the buyer paid for it, with tax. */
  goodsMinor: number
  /** What the refunds so far have given back of that. */
  refundedMinor: number
  /** Whether it sells gift cards, which earn nothing: the order that they pay does. */
  isVoucher?: boolean
}

/** The goods of an order, without shipping, and the coupons that it uses. */
export type Goods = { lines: readonly GoodsLine[]; couponIds: readonly number[] }

/** The affiliate who earns the commission, and the time (epoch ms) whose rates count. */
export type Terms = {
  affiliateId: number
  at: number
  /** The shop's rate at that time, in basis points, for goods without another one. */
  shopRateBps: number
}

/** The rate that a line has, and what gives it. `rateId` is null for the shop's rate. */
type LineRate = { rateBps: number; source: RateSource; rateId: number | null }

/** The commission of a line before refunds, in minor units. */
export type DecidedLine = Pick<GoodsLine, 'itemId' | 'baseMinor'> & LineRate & { commissionMinor: number }

/**
 * Decides the commission of each line of an order: the only place where a rate becomes an amount. Gift cards are excluded.
 * For other goods an exclusion comes first, then the rate of a coupon that is valid for the line, of the product, of its
 * deepest category, the affiliate's own, and the shop's. Within each, a rate for this affiliate comes before one for all; of
 * two that are equal in that, the lower counts. Lines with the same rate are rounded together, half up.
 */
export function decideLines(db: Db, { lines, couponIds }: Goods, terms: Terms): DecidedLine[] {
  const rateOf = rateFinder(db, couponIds, terms)
  const rated = lines.map(({ itemId, productId, baseMinor, isVoucher = false }) => {
    return { itemId, baseMinor, ...(isVoucher ? ofGiftCards : rateOf(productId)) }
  })
  const commissions = new Map<number, number>()
  for (const [rateBps, group] of Map.groupBy(rated, (line) => line.rateBps)) {
    const bases = group.map(({ baseMinor }) => baseMinor)
    const sumMinor = bases.reduce((sum, base) => sum + base, 0)
    const shares = shareMinor(percentOf(sumMinor, rateBps), bases)
    for (const [index, { itemId }] of group.entries()) commissions.set(itemId, shares[index] ?? 0)
  }
  return rated.map((line) => ({ ...line, commissionMinor: commissions.get(line.itemId) ?? 0 }))
}

const ofGiftCards: LineRate = { rateBps: 0, source: 'excluded', rateId: null }

/** Finds the rate of a product in an order with some coupons. */
function rateFinder(
  db: Db,
  couponIds: readonly number[],
  { affiliateId, at, shopRateBps }: Terms
): (productId: number) => LineRate {
  const own = findOwnRate(db, affiliateId, at)
  const basic: LineRate =
    own?.rateBps == null
      ? { rateBps: shopRateBps, source: 'shop', rateId: null }
      : { rateBps: own.rateBps, source: 'affiliate', rateId: own.id }
  const rates = ratesOfGoods(db, affiliateId, at)
  if (rates.length === 0) return () => basic
  const scopes = new Map(couponIds.map((id) => [id, couponScope(db, id)]))
  const depths = depthsOf(db, rates)
  return (productId) => {
    const line = { productId, categoryIds: categoryIdsOfProduct(db, productId) }
    const isFor = (rate: RateRow): boolean => {
      const scope = rate.couponId === null ? undefined : scopes.get(rate.couponId)
      return (
        (scope !== undefined && isInScope(line, scope)) ||
        rate.productId === productId ||
        (rate.categoryId !== null && line.categoryIds.includes(rate.categoryId))
      )
    }
    const [first] = rates.filter(isFor).toSorted((a, b) => compareRates(a, b, depths))
    return first === undefined ? basic : toLineRate(first)
  }
}

function toLineRate({ id, rateBps, couponId, productId }: RateRow): LineRate {
  if (rateBps === null) return { rateBps: 0, source: 'excluded', rateId: id }
  const source = couponId !== null ? 'coupon' : productId !== null ? 'product' : 'category'
  return { rateBps, source, rateId: id }
}

/** The rate that counts comes first. */
function compareRates(a: RateRow, b: RateRow, depths: ReadonlyMap<number, number>): number {
  const rank = ({ rateBps, couponId, productId, categoryId, affiliateId }: RateRow): number[] => [
    rateBps === null ? 0 : 1,
    couponId !== null ? 0 : productId !== null ? 1 : 2,
    -(depths.get(categoryId ?? 0) ?? 0),
    affiliateId === null ? 1 : 0,
    rateBps ?? 0
  ]
  const [left, right] = [rank(a), rank(b)]
  const difference = left.findIndex((value, index) => value !== right[index])
  return difference === -1 ? a.id - b.id : (left[difference] ?? 0) - (right[difference] ?? 0)
}

/** How many categories are above the category of each rate. */
function depthsOf(db: Db, rates: readonly RateRow[]): ReadonlyMap<number, number> {
  const depths = new Map<number, number>()
  for (const { categoryId } of rates) if (categoryId !== null) depths.set(categoryId, depthOf(db, categoryId))
  return depths
}

const parentOf = statement((orm) =>
  orm
    .select({ id: categories.parentId })
    .from(categories)
    .where(eq(categories.id, sql.placeholder('id')))
    .prepare()
)

function depthOf(db: Db, id: number): number {
  const parentId = parentOf(db).get({ id })?.id ?? null
  return parentId === null ? 0 : 1 + depthOf(db, parentId)
}

/** A line's commission, and what its goods cost with tax and how much of that was refunded, in minor units. */
type Refunded = { commissionMinor: number } & Pick<GoodsLine, 'goodsMinor' | 'refundedMinor'>

/**
 * What refunds take back of the commission of a line: the share of the goods that they return, rounded half up. It is
 * computed from the sum of all refunds, so that several take back exactly what one refund of their sum does, and a full
 * one takes back everything.
 */
export function takenBackMinor({ commissionMinor, goodsMinor, refundedMinor }: Refunded): number {
  if (goodsMinor === 0) return 0
  const total = BigInt(goodsMinor)
  const doubledShare = 2n * BigInt(commissionMinor) * BigInt(Math.min(refundedMinor, goodsMinor))
  return Number((doubledShare + total) / (2n * total))
}
