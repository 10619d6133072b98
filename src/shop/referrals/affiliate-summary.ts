import { toIso } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { getUserById } from '../accounts/find.ts'
import { balanceOf } from './balance.ts'
import type { Balance } from './balance.ts'
import type { AffiliateRow } from '../affiliates/rows.ts'
import { summariseVisits } from './summary.ts'
import type { CampaignCounts, VisitCounts } from './summary.ts'
import { toAffiliate } from '../affiliates/view.ts'
import type { AffiliateView } from '../affiliates/view.ts'

/** An affiliate as operators see it. */
export type AdminAffiliate = AffiliateView & {
  userId: number
  email: string
  displayName: string
  /** Percent; null when the shop's rate applies. */
  ownRate: number | null
  website: string | null
  message: string | null
  createdAt: string
}

/** An affiliate for operators, with name and email of the account. */
export function toAdminAffiliate(db: Db, affiliate: AffiliateRow): AdminAffiliate {
  const { email, displayName } = getUserById(db, affiliate.userId)
  const { userId, rateBps, website, message, createdAt } = affiliate
  return {
    ...toAffiliate(db, affiliate),
    userId,
    email,
    displayName,
    ownRate: rateBps === null ? null : rateBps / 100,
    website,
    message,
    createdAt: toIso(createdAt)
  }
}

/** One affiliate with the balance, and the visits and conversions in total and by campaign. */
export function showAffiliate(
  db: Db,
  affiliate: AffiliateRow
): { affiliate: AdminAffiliate; balance: Balance; visits: VisitCounts; campaigns: CampaignCounts[] } {
  const { total, campaigns } = summariseVisits(db, affiliate.id)
  const balance = balanceOf(db, affiliate.id)
  return { affiliate: toAdminAffiliate(db, affiliate), balance, visits: total, campaigns }
}
