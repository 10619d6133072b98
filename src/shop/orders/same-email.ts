import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import type { OrderRow } from './rows.ts'

const later = rawStatement<{ emailKey: string | null; id: number; since: number }, { id: number }>(
  'SELECT id FROM orders WHERE email_key = @emailKey AND id > @id AND created_at >= @since LIMIT 1'
)
const earlier = rawStatement<{ emailKey: string | null; id: number; limit: number }, { createdAt: number }>(
  'SELECT created_at AS createdAt FROM orders WHERE email_key = @emailKey AND id < @id ORDER BY id DESC LIMIT @limit'
)

/** Whether another order with the same email was placed after this one, at `since` (epoch ms) or later. */
export function hasOrderSince(db: Db, { id, emailKey }: Pick<OrderRow, 'id' | 'emailKey'>, since: number): boolean {
  return later(db).get({ id, emailKey, since }) !== undefined
}

/** How many orders with the same email were placed within `withinMs` before this one; counts to `limit` at most. */
export function countOrdersBefore(
  db: Db,
  { id, emailKey, createdAt }: Pick<OrderRow, 'id' | 'emailKey' | 'createdAt'>,
  withinMs: number,
  limit: number
): number {
  return earlier(db)
    .all({ id, emailKey, limit })
    .filter((order) => order.createdAt > createdAt - withinMs).length
}
