import { and, count, eq, isNull } from 'drizzle-orm'
import type { Placeholder, SQL } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { orders } from './schema.ts'

/** Matches the guest orders with an email that do not belong to an account. */
export function placedAsGuest(emailKey: string | Placeholder): SQL | undefined {
  return and(eq(orders.emailKey, emailKey), isNull(orders.userId))
}

/** The number of guest orders with an email. */
export function countGuestOrders(db: Db, emailKey: string): number {
  return db.orm.select({ found: count() }).from(orders).where(placedAsGuest(emailKey)).get()?.found ?? 0
}
