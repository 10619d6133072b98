import { getTableName } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { shareMinor } from '../../platform/money.ts'
import type { GrantKind, GrantSpec } from '../catalog/grants.ts'
import { benefitKinds, kindOf } from './kinds.ts'

/** A paid order whose grants are given; `userId` is null for a guest's order. */
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
  /** The total of the line after its discounts, which is the amount of a donation. */
  totalMinor: number
  grants: readonly GrantSpec[]
}

type OrderBenefit = { kind: GrantKind; id: number; itemId: number }

/**
 * The benefits that an order gave and has not revoked. The last period comes first, so that none moves before it is
 * revoked.
 */
const givenByOrder = rawStatement<{ orderId: number }, OrderBenefit>(
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
 * Gives the buyer the grants of a paid order's lines, once for each line and kind, however often it is called. A line is
 * not given again when its benefit has expired or was ended by an operator. A guest's order gives what needs no account;
 * call this again when an account claims it. Emits `membership.started`, `subscription.started` and `donation.received`.
 */
export function giveGrants(tx: Tx, order: GrantedOrder, now: number): void {
  const { orderId, userId } = order
  const items = order.items.filter(({ grants }) => grants.length > 0)
  if (items.length === 0) return
  if (userId !== null) claimGuestGrants(tx, orderId, userId)
  const given = new Set(
    givenByOrder(tx)
      .all({ orderId })
      .map(({ itemId, kind }) => `${itemId} ${kind}`)
  )
  for (const item of items) {
    const grants = item.grants.filter(({ kind }) => !given.has(`${item.id} ${kind}`))
    giveItem(tx, order, { ...item, grants }, now)
  }
}

function claimGuestGrants(tx: Tx, orderId: number, userId: number): void {
  for (const { guests } of Object.values(benefitKinds))
    if (typeof guests === 'object') guests.claim(tx, orderId, userId)
}

export type Granting = readonly Pick<GrantedItem, 'grants'>[]

/** Whether one of the grants is of a kind that only an account can use. */
export function needsAccount(items: Granting): boolean {
  return items.some(({ grants }) => grants.some((grant) => kindOf(grant).guests === 'need an account'))
}

/** Whether one of the grants is a file to download. */
export function givesFiles(items: Granting): boolean {
  return items.some(({ grants }) => grants.some(({ kind }) => kind === 'download'))
}

/** Whether one of the grants is something to use, such as a file or a membership. */
export function givesAccess(items: Granting): boolean {
  return items.some(({ grants }) => grants.some((grant) => kindOf(grant).guests !== 'nothing to use'))
}

function giveItem(tx: Tx, { orderId, userId, currency }: GrantedOrder, item: GrantedItem, now: number) {
  const { productId, quantity } = item
  const to = { productId, quantity, source: { orderId, orderItemId: item.id }, currency }
  const weights = item.grants.map((grant) => (kindOf(grant).sharesTotal ? 1 : 0))
  const shares = shareMinor(weights.includes(1) ? item.totalMinor : 0, weights)
  for (const [index, grant] of item.grants.entries()) {
    const kind = kindOf(grant)
    const amountMinor = shares[index] ?? 0
    // A coupon can reduce a donation to zero; then the shop has received nothing.
    if (kind.sharesTotal && amountMinor === 0) continue
    if (userId !== null) kind.start(tx, { ...to, amountMinor, userId }, grant, now)
    else if (typeof kind.guests === 'object') kind.guests.start(tx, { ...to, amountMinor }, grant, now)
  }
}

/**
 * Ends the benefits that an order gave, immediately. Later periods from other orders start earlier. A second call
 * changes nothing. Emits `membership.ended` and `subscription.ended`. The reconciler cancels ended subscriptions at the
 * gateway.
 *
 * @param options.keepSubscriptions does not end subscriptions, because a later renewal pays for their period
 * @param options.itemIds only the benefits of these lines, which the order does not give again
 */
export function revokeGrants(
  tx: Tx,
  orderId: number,
  { keepSubscriptions, itemIds }: { keepSubscriptions: boolean; itemIds?: readonly number[] },
  now: number
): void {
  for (const { kind, id, itemId } of givenByOrder(tx).all({ orderId })) {
    if (itemIds?.includes(itemId) === false) continue
    if (keepSubscriptions && benefitKinds[kind].renewal !== null) continue
    benefitKinds[kind].end(tx, id, itemIds === undefined ? { orderItemId: null } : {}, now)
  }
}
