import { toReferral } from './view.ts'
import type { ReferralView } from './view.ts'
import type { CommissionEntryRow, ReferralRow } from './rows.ts'
import { referrals } from './schema.ts'
import { and, asc, desc, eq, gt } from 'drizzle-orm'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { getReferral } from './find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { entriesOf } from './ledger.ts'
import { affiliates, visits } from '../affiliates/schema.ts'

/** A referral as operators see it (docs/contract.md A8). */
export type AdminReferral = ReferralView & {
  affiliateCode: string
  orderId: number
  visitId: number
  /** `plus_address`: the buyer's email is a plus address of the affiliate's own. */
  note?: NonNullable<ReferralRow['note']>
}
export type ReferralFilter = { affiliateId?: number; status?: ReferralRow['status'] }

/** The newest referrals, newest first, of the shop or of one affiliate or status. */
export function listAdminReferrals(db: Db, filter: ReferralFilter & { limit: number }): AdminReferral[] {
  const rows = selection(db, filter).orderBy(desc(referrals.id)).limit(filter.limit).all()
  return rows.map(({ referral, affiliateCode }) => toAdminReferral(referral, affiliateCode))
}

/** A referral with its affiliate's code and its campaign. */
export type ExportedReferral = { referral: ReferralRow; affiliateCode: string; campaign: string | null }

/**
 * All matching referrals, oldest first. They are read while they are used.
 *
 * @param view what the list shows of some hundred referrals at once
 */
export function allReferrals<T>(
  db: Db,
  filter: ReferralFilter,
  view: (rows: ExportedReferral[]) => readonly T[]
): Iterable<T> {
  const next = (last: ExportedReferral | undefined, limit: number): ExportedReferral[] =>
    selection(db, filter, last?.referral.id).orderBy(asc(referrals.id)).limit(limit).all()
  return inParts(db, next, view)
}

function selection(db: Db, filter: ReferralFilter, afterId?: number) {
  const conditions = [
    afterId === undefined ? undefined : gt(referrals.id, afterId),
    filter.affiliateId === undefined ? undefined : eq(referrals.affiliateId, filter.affiliateId),
    filter.status === undefined ? undefined : eq(referrals.status, filter.status)
  ]
  return db.orm
    .select({ referral: referrals, affiliateCode: affiliates.code, campaign: visits.campaign })
    .from(referrals)
    .innerJoin(affiliates, eq(affiliates.id, referrals.affiliateId))
    .innerJoin(visits, eq(visits.id, referrals.visitId))
    .where(and(...conditions))
    .$dynamic()
}

/**
 * One referral with its rate, its decision and its ledger entries, oldest first.
 *
 * @throws AppError NOT_FOUND
 */
export function showReferral(db: Db, id: number) {
  const row = getReferral(db, id)
  const { code } = getAffiliateById(db, row.affiliateId)
  return {
    referral: {
      ...toAdminReferral(row, code),
      rate: row.rateBps / 100,
      acceptedAt: toIsoOrNull(row.acceptedAt),
      rejectedFor: row.rejectedFor
    },
    entries: entriesOf(db, id).map(toEntry)
  }
}

/** A referral for operators; see `AdminReferral`. */
export function toAdminReferral(row: ReferralRow, affiliateCode: string): AdminReferral {
  const { id, ...rest } = toReferral(row)
  const note = row.note === null ? {} : { note: row.note }
  return { id, affiliateCode, orderId: row.orderId, visitId: row.visitId, ...rest, ...note }
}

function toEntry({ kind, amountMinor, currency, reason, payoutId, at }: CommissionEntryRow) {
  return { kind, amountMinor, currency, reason, payoutId, at: toIso(at) }
}
