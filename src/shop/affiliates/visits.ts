import type { Tx } from '../../platform/db/database.ts'
import { insertStatement } from '../../platform/db/statements.ts'
import { visits } from './schema.ts'

const insertVisit = insertStatement(visits)

/** Records a checkout with an affiliate's ref; returns the visit's id. An order has at most one visit. */
export function recordVisit(
  tx: Tx,
  visit: { affiliateId: number; orderId: number; campaign: string | null },
  now: number
): number {
  return insertVisit(tx, { ...visit, createdAt: now })
}
