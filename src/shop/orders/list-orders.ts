import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { isModuleOn } from '../settings/settings.ts'
import { toOrder } from './view.ts'
import type { OrderFacts, OrderLine, OrderView } from './view.ts'

export type Page = { page: number; perPage: number }
export type Pagination = { page: number; perPage: number; total: number; totalPages: number }

const totalOfCustomer = rawStatement<[number], { total: number }>(
  'SELECT total FROM customer_order_totals WHERE user_id = ?'
)

const facts = `
  SELECT o.id, o.status, o.currency, o.total_minor AS totalMinor, o.created_at AS createdAt, o.updated_at AS updatedAt,
         o.renewal_of AS renewalOf,
         a.affiliate_ref AS affiliateRef, a.affiliate_campaign AS affiliateCampaign, a.visit_id AS visitId,
         a.source_type AS sourceType, a.utm_source AS utmSource, a.utm_medium AS utmMedium, a.utm_campaign AS utmCampaign,
         a.utm_content AS utmContent, a.marketing_utm_source AS marketingUtmSource,
         a.marketing_utm_medium AS marketingUtmMedium, a.marketing_utm_campaign AS marketingUtmCampaign,
         a.marketing_utm_content AS marketingUtmContent, r.id AS referralId, r.status AS referralStatus
    FROM orders o LEFT JOIN order_attributions a ON a.order_id = o.id LEFT JOIN referrals r ON r.order_id = o.id`

/** Reads the ids of the page only from the covering index, so that skipping to a late page reads no rows. */
const pageOfCustomer = rawStatement<{ userId: number; limit: number; offset: number }, OrderFacts>(
  `${facts}
   WHERE o.id IN (SELECT id FROM orders WHERE user_id = @userId ORDER BY created_at DESC, id DESC LIMIT @limit OFFSET @offset)
   ORDER BY o.created_at DESC, o.id DESC`
)
const oneOrder = rawStatement<[number], OrderFacts>(`${facts} WHERE o.id = ?`)

const linesOfOrders = rawStatement<[string], OrderLine & { orderId: number }>(
  `SELECT order_id AS orderId, name, quantity, total_minor AS totalMinor FROM order_items
   WHERE order_id IN (SELECT value FROM json_each(?)) ORDER BY order_id, id`
)

/** One page of a customer's orders, newest first. Runs three statements, regardless of the number of orders. */
export function listOrders(
  db: Db,
  userId: number,
  { page, perPage }: Page
): { orders: OrderView[]; pagination: Pagination } {
  return readSnapshot(db, () => {
    if (!isModuleOn(db, 'commerce')) return { orders: [], pagination: { page, perPage, total: 0, totalPages: 0 } }
    const total = totalOfCustomer(db).get(userId)?.total ?? 0
    const offset = (page - 1) * perPage
    const rows = offset >= total ? [] : pageOfCustomer(db).all({ userId, limit: perPage, offset })
    return { orders: withLines(db, rows), pagination: { page, perPage, total, totalPages: Math.ceil(total / perPage) } }
  })
}

/** The public form of an order; undefined if it does not exist. */
export function findOrderView(db: Db, id: number): OrderView | undefined {
  return withLines(db, oneOrder(db).all(id))[0]
}

/** Adds the lines of all rows with one statement. */
function withLines(db: Db, rows: readonly OrderFacts[]): OrderView[] {
  if (rows.length === 0) return []
  const ids = JSON.stringify(rows.map((row) => row.id))
  const byOrder = Map.groupBy(linesOfOrders(db).all(ids), (line) => line.orderId)
  return rows.map((row) => toOrder(row, byOrder.get(row.id) ?? []))
}
