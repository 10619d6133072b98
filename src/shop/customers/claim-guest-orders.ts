import { asc, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import { giveOrderGrants } from '../orders/transition.ts'
import { checkReferral } from '../orders/review.ts'
import { placedAsGuest } from '../orders/find.ts'
import { orders } from '../orders/schema.ts'
import { isPaidStatus } from '../orders/states.ts'

const guestOrders = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    .where(placedAsGuest(sql.placeholder('emailKey')))
    .orderBy(asc(orders.id))
    .prepare()
)
const claim = statement((orm) =>
  orm
    .update(orders)
    .set({ userId: sql`${sql.placeholder('userId')}` })
    .where(eq(orders.id, sql.placeholder('id')))
    .returning()
    .prepare()
)

/**
 * Moves the orders that were placed as a guest with this account's email into the account, and gives what the paid ones
 * grant. An unverified email proves nothing, so it moves no order. The referral of an affiliate's own order is rejected.
 *
 * @returns how many orders were moved
 */
export function claimGuestOrders(
  tx: Tx,
  user: Pick<UserRow, 'id' | 'emailKey' | 'emailVerifiedAt'>,
  now: number
): number {
  if (user.emailVerifiedAt === null) return 0
  const found = guestOrders(tx).all({ emailKey: user.emailKey })
  for (const { id } of found) {
    const order = claim(tx).get({ id, userId: user.id })
    // The account may be the affiliate who is credited with the order.
    checkReferral(tx, order, now)
    if (isPaidStatus(order.status)) giveOrderGrants(tx, order, now)
  }
  return found.length
}
