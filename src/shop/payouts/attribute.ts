import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { orderAttributions } from '../orders/schema.ts'

type Attribution = Partial<typeof orderAttributions.$inferInsert>

/** Names an affiliate in the attribution of an order that was stored without one, with other columns that the caller knows. */
export function attributeTo(
  tx: Tx,
  { id, code }: AffiliateRow,
  { orderId, visitId, ...others }: Attribution & { orderId: number; visitId: number }
): void {
  const credited = {
    affiliateId: id,
    visitId,
    affiliateRef: code,
    sourceType: 'referral',
    refOutcome: 'credited'
  } as const
  tx.orm
    .update(orderAttributions)
    .set({ ...credited, ...others })
    .where(eq(orderAttributions.orderId, orderId))
    .run()
}
