import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { toMajor } from '../../platform/money.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { ShopContext } from '../context.ts'
import type { Address } from '../orders/address.ts'
import { findOrder } from '../orders/find.ts'
import { listOrders, invoiceUrls } from '../orders/view.ts'
import type { Page, OrderView } from '../orders/view.ts'
import type { OrderRow } from '../orders/find.ts'
import { isModuleOn } from '../settings/settings.ts'
import { toBuyerOrder } from './buyer-order.ts'
import type { BuyerOrder } from './buyer-order.ts'

/** A line with its product, so that a site can link the product and order it again. */
type OwnLine = {
  productId: number
  variationId: number | null
  /** Null if the product is not published any more. */
  productSlug: string | null
  sku: string | null
  type: ProductType
  name: string
  quantity: number
  /** Before discounts. */
  unitPrice: number
  total: number
}

/** An order as its customer sees it. */
export type OwnOrder = Omit<BuyerOrder, 'order'> & {
  order: BuyerOrder['order'] & {
    orderToken: string
    lines: OwnLine[]
    billingAddress: Address | null
    shippingAddress: Address | null
  }
}

type Listed = ReturnType<typeof listOrders>
/** A page of a customer's orders, each with the address of its invoice. */
export type OwnOrders = Omit<Listed, 'orders'> & { orders: (OrderView & { invoiceUrl: string | null })[] }

type StoredLine = Omit<OwnLine, 'unitPrice' | 'total'> & { unitPriceMinor: number; totalMinor: number }

const linesOf = rawStatement<[number], StoredLine>(
  `SELECT i.product_id AS productId, i.variation_id AS variationId, i.type, i.name, i.quantity,
          coalesce(i.sku, p.sku) AS sku,
          CASE WHEN p.published THEN p.slug END AS productSlug,
          i.unit_price_minor AS unitPriceMinor, i.total_minor AS totalMinor
     FROM order_items i JOIN products p ON p.id = i.product_id
    WHERE i.order_id = +? ORDER BY i.id`
)

/** One page of a customer's orders, newest first. */
export function listOwnOrders(shop: ShopContext, userId: number, page: Page): OwnOrders {
  const { orders, pagination } = listOrders(shop.db, userId, page)
  const urls = invoiceUrls(
    shop,
    orders.map(({ id }) => id)
  )
  return { orders: orders.map((order) => ({ ...order, invoiceUrl: urls.get(order.id) ?? null })), pagination }
}

/**
 * An order of a logged-in customer and what they can do with it.
 *
 * @throws AppError NOT_FOUND, also for an order of another person and while the module commerce is off
 */
export function getOwnOrder(shop: ShopContext, userId: number, orderId: number, now: number): OwnOrder {
  const order = isModuleOn(shop.db, 'commerce') ? findOrder(shop.db, orderId) : undefined
  if (order?.userId !== userId) throw new AppError('NOT_FOUND', 'You have no order with this number.')
  return toOwnOrder(shop, order, now)
}

/** An order as its customer sees it, and what they can do with it. */
export function toOwnOrder(shop: ShopContext, order: OrderRow, now: number): OwnOrder {
  const { order: shown, ...options } = toBuyerOrder(shop, order, now)
  return {
    order: {
      ...shown,
      email: order.email,
      orderToken: order.publicToken,
      lines: toLines(shop.db, order),
      billingAddress: order.billingAddress,
      shippingAddress: order.shippingAddress
    },
    ...options
  }
}

function toLines(db: Db, { id, currency }: OrderRow): OwnLine[] {
  return linesOf(db)
    .all(id)
    .map(({ unitPriceMinor, totalMinor, ...line }) => ({
      ...line,
      unitPrice: toMajor(unitPriceMinor, currency),
      total: toMajor(totalMinor, currency)
    }))
}
