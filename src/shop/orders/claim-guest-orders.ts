import { asc, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import type { users } from '../accounts/schema.ts'
import { giveOrderGrants } from './consequences.ts'
import { placedAsGuest } from './guest-orders.ts'
import { orders } from './schema.ts'
import { isPaidStatus } from './states.ts'

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

type Claimant = Pick<typeof users.$inferSelect, 'id' | 'emailKey' | 'emailVerifiedAt'>

/**
 * Takes the orders that were placed as a guest with this account's email into it, and gives what the paid ones grant.
 * An unverified email proves nothing, so nothing is taken in then. Returns how many were.
 */
export function claimGuestOrders(tx: Tx, user: Claimant, now: number): number {
  if (user.emailVerifiedAt === null) return 0
  const found = guestOrders(tx).all({ emailKey: user.emailKey })
  for (const { id } of found) {
    const order = claim(tx).get({ id, userId: user.id })
    if (isPaidStatus(order.status)) giveOrderGrants(tx, order, now)
  }
  return found.length
}
