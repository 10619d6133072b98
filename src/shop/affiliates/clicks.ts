import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { toDay } from '../../platform/iso-time.ts'
import { tryTakePoint } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { isModuleOn } from '../settings/settings.ts'
import { isCreditable } from './credit.ts'
import { findAffiliateByRef } from './find.ts'

const addClicks = rawStatement<{ affiliateId: number; day: string; clicks: number }>(
  `INSERT INTO affiliate_clicks (affiliate_id, day, clicks) VALUES (@affiliateId, @day, @clicks)
   ON CONFLICT DO UPDATE SET clicks = clicks + excluded.clicks`
)

/** A visitor who arrived by an affiliate's link. `userId` is null without a session. */
export type Click = { ref: string; userId: number | null; addressKey: string }

/**
 * Counts a click on an affiliate's link for today (UTC). Nothing is stored about the visitor. A click does not count if
 * the ref names no active affiliate, if the affiliate opened the link, or past the limit of the address (click_ip); the
 * caller does not learn which.
 */
export async function countClick(shop: Limits, { ref, userId, addressKey }: Click, now: number): Promise<void> {
  if (!isModuleOn(shop.db, 'affiliates')) return
  const affiliate = findAffiliateByRef(shop.db, ref)
  if (affiliate === undefined || affiliate.userId === userId || !isCreditable(shop.db, affiliate)) return
  if (!(await tryTakePoint(shop, { bucket: 'click_ip', key: addressKey }))) return
  await writeWhenFree(shop.db, (tx) => recordClicks(tx, affiliate.id, 1, now))
}

/** Adds clicks to the day of `at` (UTC). */
export function recordClicks(tx: Tx, affiliateId: number, clicks: number, at: number): void {
  addClicks(tx).run({ affiliateId, day: toDay(at), clicks })
}
