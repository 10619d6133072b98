import { getTableName } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { shareMinor } from '../../platform/money.ts'
import type { GrantKind, GrantSpec } from '../catalog/grants.ts'
import { benefitKinds, kindOf } from './kinds.ts'

/** What giving asks of a paid order; `userId` is null while the order is a guest's. */
export type GrantedOrder = {
  orderId: number
  userId: number | null
  currency: string
  items: readonly GrantedItem[]
}
export type GrantedItem = {
  id: number
  productId: number
  quantity: number
  /** After its share of discounts: what a donation comes to. */
  totalMinor: number
  grants: readonly GrantSpec[]
}

type Given = { kind: GrantKind; id: number; itemId: number }

/** What an order has given and not taken back; the last period first, so that none moves up before it is taken back. */
const givenByOrder = rawStatement<{ orderId: number }, Given>(
  `${Object.entries(benefitKinds)
    .map(
      ([kind, { table, since }]) =>
        `SELECT '${kind}' AS kind, id, order_item_id AS itemId, ${since} AS startedAt
           FROM ${getTableName(table)} WHERE order_id = @orderId AND order_item_id IS NOT NULL`
    )
    .join(' UNION ALL ')}
   ORDER BY startedAt DESC, id DESC`
)

/**
 * Gives the buyer what a paid order's lines grant, once for each line however often it is called: a line that was given
 * stays given even when its benefit has expired or an operator has ended it. A guest's order gives nothing until an account takes
 * it in; call it again then. Writes `membership.started`, `subscription.started` and `donation.received`.
 */
export function giveGrants(tx: Tx, order: GrantedOrder, now: number): void {
  const { userId } = order
  const items = order.items.filter(({ grants }) => grants.length > 0)
  if (userId === null || items.length === 0) return
  const given = new Set(
    givenByOrder(tx)
      .all({ orderId: order.orderId })
      .map(({ itemId }) => itemId)
  )
  for (const item of items) if (!given.has(item.id)) giveItem(tx, { ...order, userId }, item, now)
}

function giveItem(
  tx: Tx,
  order: { orderId: number; userId: number; currency: string },
  item: GrantedItem,
  now: number
) {
  const { productId, quantity } = item
  const source = { orderId: order.orderId, orderItemId: item.id }
  const to = { userId: order.userId, productId, quantity, source, currency: order.currency }
  const weights = item.grants.map((grant) => (kindOf(grant).sharesTotal ? 1 : 0))
  const shares = shareMinor(weights.includes(1) ? item.totalMinor : 0, weights)
  for (const [index, grant] of item.grants.entries()) {
    const kind = kindOf(grant)
    const amountMinor = shares[index] ?? 0
    // A coupon can bring a donation down to nothing, and nothing has been received then.
    if (!kind.sharesTotal || amountMinor > 0) kind.start(tx, { ...to, amountMinor }, grant, now)
  }
}

/**
 * Takes back what an order gave and nothing else, at once; periods of other orders that were to follow move up. Calling it
 * again does nothing. Writes `membership.ended` and `subscription.ended`. What the gateway would go on charging for is
 * cancelled there by the reconciler.
 *
 * @param options.keepSubscriptions leaves subscriptions in force, because a later renewal pays for their period
 */
export function revokeGrants(
  tx: Tx,
  orderId: number,
  { keepSubscriptions }: { keepSubscriptions: boolean },
  now: number
): void {
  for (const { kind, id } of givenByOrder(tx).all({ orderId })) {
    if (keepSubscriptions && benefitKinds[kind].renewal !== null) continue
    benefitKinds[kind].end(tx, id, { orderItemId: null }, now)
  }
}
