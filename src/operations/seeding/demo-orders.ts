import { and, eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { toMinor } from '../../platform/money.ts'
import { getUser } from '../../shop/accounts/find.ts'
import { getProduct } from '../../shop/catalog/products.ts'
import { variations } from '../../shop/catalog/schema.ts'
import { checkoutQuery } from '../../shop/checkout/input.ts'
import { orderHistory } from '../../shop/orders/schema.ts'
import type { DemoOrder } from './demo-data.ts'
import { dayMs } from './timeline.ts'
import type { TimelineEntry } from './timeline.ts'
import { orderTimeline } from './purchase.ts'
import type { Purchase } from './purchase.ts'

/** The actor in the history of the demo shop's orders; it also identifies them when the shop is seeded again. */
const by = 'demo'

/** Whether the demo orders are in the database. One transaction inserts all of them, so checking for one is enough. */
export function hasDemoOrders(db: Db): boolean {
  return db.orm.select().from(orderHistory).where(eq(orderHistory.by, by)).limit(1).get() !== undefined
}

/** The history of the demo orders up to `now` (epoch milliseconds). */
export function orderTimelines(orders: readonly DemoOrder[], currency: string, now: number): TimelineEntry[] {
  return orders.flatMap((order) => {
    const refundMinor = order.refund === undefined ? undefined : toMinor(order.refund, currency)
    const at = Math.round(now - order.daysAgo * dayMs)
    return orderTimeline((tx) => toPurchase(tx, order), { state: order.state, refundMinor, by }, at, now)
  })
}

function toPurchase(tx: Tx, order: DemoOrder): Purchase {
  const { customer, billing, ref, campaign, utm } = order
  const user = customer === null ? null : getUser(tx, customer)
  return {
    userId: user?.id ?? null,
    email: user?.email ?? order.email ?? '',
    contact: { firstName: billing.firstName, lastName: billing.lastName },
    billingAddress: Object.fromEntries(Object.entries(billing).filter(([, value]) => value !== undefined)),
    notes: order.notes ?? null,
    items: order.items.map(({ slug, sku, quantity }) => {
      const productId = getProduct(tx, slug).id
      return { productId, variationId: sku === undefined ? undefined : variationId(tx, productId, sku), quantity }
    }),
    couponCodes: order.coupon === undefined ? [] : [order.coupon],
    query: checkoutQuery.parse({
      ref,
      campaign,
      utm_source: utm?.source,
      utm_medium: utm?.medium,
      utm_campaign: utm?.campaign,
      utm_content: utm?.content
    })
  }
}

function variationId(tx: Tx, productId: number, sku: string): number {
  const condition = and(eq(variations.productId, productId), eq(variations.sku, sku))
  const row = tx.orm.select({ id: variations.id }).from(variations).where(condition).get()
  if (row === undefined) throw new Error(`the demo shop has no variation ${sku}`)
  return row.id
}
