import { and, asc, eq, ne, sql, sum } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { getOrder } from './find.ts'
import type { OrderRow } from './find.ts'
import { orderCredits, orderRefunds } from './schema.ts'

export type OrderCreditRow = typeof orderCredits.$inferSelect

/** A credit and the refund of the other order that pays it. */
type Credit = { credit: OrderCreditRow; refund: OrderRefundRow }
type OrderRefundRow = typeof orderRefunds.$inferSelect

const sumOf = statement((orm) =>
  orm
    .select({ minor: sum(orderCredits.amountMinor).mapWith(Number) })
    .from(orderCredits)
    .where(and(eq(orderCredits.orderId, sql.placeholder('orderId')), ne(orderCredits.state, 'returned')))
    .prepare()
)

/** What credits pay of an order, in minor units. */
export function creditedMinor(db: Db, orderId: number): number {
  return sumOf(db).get({ orderId })?.minor ?? 0
}

/** What the buyer of an order has to pay, or has paid: its total without its credits. */
export function dueMinor(db: Db, { id, totalMinor }: Pick<OrderRow, 'id' | 'totalMinor'>): number {
  return Math.max(0, totalMinor - creditedMinor(db, id))
}

/** The credits of an order that are held or spent, oldest first. */
export function creditsOf(db: Db, orderId: number): Credit[] {
  return withRefunds(db, and(eq(orderCredits.orderId, orderId), ne(orderCredits.state, 'returned')))
}

/** The credits that an order gives to others, and that are not spent. */
export function creditsHeldFrom(db: Db, orderId: number): Credit[] {
  return withRefunds(db, and(eq(orderRefunds.orderId, orderId), eq(orderCredits.state, 'held')))
}

function withRefunds(db: Db, which: ReturnType<typeof and>): Credit[] {
  return db.orm
    .select({ credit: orderCredits, refund: orderRefunds })
    .from(orderCredits)
    .innerJoin(orderRefunds, eq(orderRefunds.id, orderCredits.refundId))
    .where(which)
    .orderBy(asc(orderCredits.id))
    .all()
}

/** What an order has promised to the payment of others, in minor units: it cannot be refunded otherwise. */
export function promisedMinor(db: Db, orderId: number): number {
  return creditsHeldFrom(db, orderId).reduce((total, { credit }) => total + credit.amountMinor, 0)
}

/** Lets what another order gives back pay a part of an order, which is not paid. The refund is requested until then. */
export function holdCredit(tx: Tx, orderId: number, { id: refundId, amountMinor }: OrderRefundRow, now: number): void {
  tx.orm
    .insert(orderCredits)
    .values({ orderId, refundId, amountMinor, state: 'held', createdAt: now, updatedAt: now })
    .run()
}

/** Whether an order has a credit, or had one that was returned. */
export function hadCredits(db: Db, orderId: number): boolean {
  const found = db.orm.select({ id: orderCredits.id }).from(orderCredits).where(eq(orderCredits.orderId, orderId)).get()
  return found !== undefined
}

/** Returns held credits: the other orders keep what they would have given back. */
export function returnCredits(tx: Tx, credits: readonly Credit[], now: number): void {
  for (const { credit, refund } of credits) {
    if (credit.state !== 'held') continue
    setCreditState(tx, credit.id, 'returned', now)
    tx.orm.update(orderRefunds).set({ state: 'failed' }).where(eq(orderRefunds.id, refund.id)).run()
  }
}

/**
 * The refunds that pay the held credits of an order, whose payment has arrived. A credit that its order cannot give any more,
 * because it was refunded otherwise in the meantime, is returned.
 */
export function spendCredits(tx: Tx, orderId: number, now: number): { spent: OrderRefundRow[]; lost: number[] } {
  const spent: OrderRefundRow[] = []
  const lost: number[] = []
  for (const found of creditsOf(tx, orderId)) {
    const { credit, refund } = found
    if (credit.state !== 'held') continue
    const { totalMinor, refundedMinor } = getOrder(tx, refund.orderId)
    if (totalMinor - refundedMinor < credit.amountMinor) {
      returnCredits(tx, [found], now)
      lost.push(refund.orderId)
    } else {
      setCreditState(tx, credit.id, 'spent', now)
      spent.push(refund)
    }
  }
  return { spent, lost }
}

function setCreditState(tx: Tx, id: number, state: OrderCreditRow['state'], now: number): void {
  tx.orm.update(orderCredits).set({ state, updatedAt: now }).where(eq(orderCredits.id, id)).run()
}
