import { sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { visits } from './schema.ts'

const insertVisit = statement((orm) =>
  orm
    .insert(visits)
    .values({
      affiliateId: sql.placeholder('affiliateId'),
      orderId: sql.placeholder('orderId'),
      campaign: sql.placeholder('campaign'),
      createdAt: sql.placeholder('createdAt')
    })
    .returning({ id: visits.id })
    .prepare()
)

/** Records that a checkout came by way of an affiliate; returns the visit's id. An order has one visit at most. */
export function recordVisit(
  tx: Tx,
  visit: { affiliateId: number; orderId: number; campaign: string | null },
  now: number
): number {
  return insertVisit(tx).get({ ...visit, createdAt: now }).id
}
