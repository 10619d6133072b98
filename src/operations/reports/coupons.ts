import { and, count, desc, eq, exists, gte, lt, sql, sum } from 'drizzle-orm'
import { z } from 'zod'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { coupons } from '../../shop/catalog/schema.ts'
import { orderCoupons, orders } from '../../shop/orders/schema.ts'
import { setting } from '../../shop/settings/settings.ts'
import { shopDays, spanOf } from './days.ts'
import { amount, chartsByCurrency, defineReport, limitOption, money } from './report.ts'
import type { Column } from './report.ts'

/** What the orders that were paid in some days and used a coupon add up to. */
type Used = {
  code: string
  currency: string
  orders: number
  discountMinor: number
  revenueMinor: number
  refundedMinor: number
}

const figure = { ...money, isFigure: true } as const

const columns: readonly Column<Used>[] = [
  { key: 'code', kind: 'text', title: 'Code', value: ({ code }) => code },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  { key: 'orders', kind: 'count', title: 'Orders', total: 'sum', isFigure: true, value: (row) => row.orders },
  { key: 'discount', ...figure, title: 'Discount', value: amount(({ discountMinor }) => discountMinor) },
  { key: 'revenue', ...figure, title: 'Revenue', value: amount(({ revenueMinor }) => revenueMinor) },
  { key: 'refunded', ...figure, title: 'Refunded', value: amount(({ refundedMinor }) => refundedMinor) }
]

/** What each coupon sold in some days, the highest revenue first. */
export const couponsReport = defineReport({
  name: 'coupons',
  title: 'Coupons',
  about: 'orders, discount and revenue of each coupon code',
  example: 'report coupons --from 2026-01-01',
  period: shopDays,
  options: [limitOption],
  input: z.object({ limit: z.number() }),
  columns,
  totals: { label: 'All coupons', by: ({ currency }) => currency },
  bar: ({ revenueMinor }) => revenueMinor,
  read: ({ shop: { db }, period: days, options: { limit } }) => {
    const { rows, totals } = readSnapshot(db, () => usedWithin(db, spanOf(db, days)))
    return {
      rows,
      limit,
      counted: totals,
      charts: chartsByCurrency({ title: 'Revenue by coupon', kind: 'bars', most: 20 }, rows, (row) => ({
        label: row.code,
        minor: row.revenueMinor
      })),
      notes: [
        'Orders that were paid in these days, with what was refunded of them later. Revenue is what the buyers paid. An order with several coupons is in the row of each of them, and once in the total.'
      ]
    }
  }
})

/** A row for each coupon and currency, and for each currency the sums of the orders, which can have several coupons. */
function usedWithin(db: Db, { startsAt, endsAt }: { startsAt: number; endsAt: number }) {
  const { orm } = db
  const own = setting(db, 'reports.imported') ? undefined : eq(orders.imported, false)
  const arePaid = and(gte(orders.paidAt, startsAt), lt(orders.paidAt, endsAt), own)
  const sums = {
    currency: orders.currency,
    orders: count(),
    revenueMinor: sum(orders.totalMinor).mapWith(Number),
    refundedMinor: sum(orders.refundedMinor).mapWith(Number)
  }
  const rows: Used[] = orm
    .select({ code: coupons.code, ...sums, discountMinor: sum(orderCoupons.discountMinor).mapWith(Number) })
    .from(orders)
    .innerJoin(orderCoupons, eq(orderCoupons.orderId, orders.id))
    .innerJoin(coupons, eq(coupons.id, orderCoupons.couponId))
    .where(arePaid)
    .groupBy(coupons.id, orders.currency)
    .orderBy(desc(sum(orders.totalMinor)), coupons.code)
    .all()
  const withCoupon = orm
    .select({ one: sql`1` })
    .from(orderCoupons)
    .where(eq(orderCoupons.orderId, orders.id))
  const totals: Used[] = orm
    .select({ code: sql<string>`''`, ...sums, discountMinor: sum(orders.discountMinor).mapWith(Number) })
    .from(orders)
    .where(and(arePaid, exists(withCoupon)))
    .groupBy(orders.currency)
    .all()
  return { rows, totals }
}
