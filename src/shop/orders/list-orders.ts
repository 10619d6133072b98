import { asc, desc, eq, inArray, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db, Orm } from '../../platform/db/database.ts'
import { referrals } from '../affiliates/schema.ts'
import { isModuleOn } from '../settings/settings.ts'
import { customerOrderTotals, orderAttributions, orderItems, orders } from './schema.ts'
import { toOrder } from './view.ts'
import type { OrderView } from './view.ts'

export type Page = { page: number; perPage: number }
export type Pagination = { page: number; perPage: number; total: number; totalPages: number }

const totalOfCustomer = statement((orm) =>
  orm
    .select({ total: customerOrderTotals.total })
    .from(customerOrderTotals)
    .where(eq(customerOrderTotals.userId, sql.placeholder('userId')))
    .prepare()
)

/** Ids of one page, read off the covering index alone, so that skipping to a late page touches no rows. */
const pageIds = (orm: Orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    .where(eq(orders.userId, sql.placeholder('userId')))
    .orderBy(desc(orders.createdAt), desc(orders.id))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))

const pageOfCustomer = statement((orm) => factsOf(orm, inArray(orders.id, pageIds(orm))).prepare())
const orderFacts = statement((orm) => factsOf(orm, eq(orders.id, sql.placeholder('id'))).prepare())

const itemsOfOrders = statement((orm) =>
  orm
    .select({
      orderId: orderItems.orderId,
      name: orderItems.name,
      quantity: orderItems.quantity,
      totalMinor: orderItems.totalMinor
    })
    .from(orderItems)
    .where(sql`${orderItems.orderId} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`)
    .orderBy(asc(orderItems.orderId), asc(orderItems.id))
    .prepare()
)

function factsOf(orm: Orm, condition: SQL) {
  return orm
    .select({
      order: {
        id: orders.id,
        status: orders.status,
        currency: orders.currency,
        totalMinor: orders.totalMinor,
        createdAt: orders.createdAt,
        updatedAt: orders.updatedAt
      },
      attribution: orderAttributions,
      referral: { id: referrals.id, status: referrals.status }
    })
    .from(orders)
    .leftJoin(orderAttributions, eq(orderAttributions.orderId, orders.id))
    .leftJoin(referrals, eq(referrals.orderId, orders.id))
    .where(condition)
    .orderBy(desc(orders.createdAt), desc(orders.id))
}

/** One page of a customer's orders, newest first, in three statements however many there are. */
export function listOrders(
  db: Db,
  userId: number,
  { page, perPage }: Page
): { orders: OrderView[]; pagination: Pagination } {
  if (!isModuleOn(db, 'commerce')) return { orders: [], pagination: { page, perPage, total: 0, totalPages: 0 } }
  const total = totalOfCustomer(db).get({ userId })?.total ?? 0
  const offset = (page - 1) * perPage
  const rows = offset >= total ? [] : pageOfCustomer(db).all({ userId, limit: perPage, offset })
  return { orders: withItems(db, rows), pagination: { page, perPage, total, totalPages: Math.ceil(total / perPage) } }
}

/** One order in its public form; undefined when there is none. */
export function findOrderView(db: Db, id: number): OrderView | undefined {
  return withItems(db, orderFacts(db).all({ id }))[0]
}

type FactRow = ReturnType<ReturnType<typeof orderFacts>['all']>[number]

/** Adds the lines of all rows by one statement. */
export function withItems(db: Db, rows: readonly FactRow[]): OrderView[] {
  if (rows.length === 0) return []
  const ids = JSON.stringify(rows.map((row) => row.order.id))
  const byOrder = Map.groupBy(itemsOfOrders(db).all({ ids }), (item) => item.orderId)
  return rows.map((row) => toOrder({ ...row, items: byOrder.get(row.order.id) ?? [] }))
}
