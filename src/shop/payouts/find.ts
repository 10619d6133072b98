import { and, asc, desc, eq, inArray, isNotNull, isNull, lt } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { ShopContext } from '../context.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { requireAffiliate } from '../affiliates/gate.ts'
import { affiliates } from '../affiliates/schema.ts'
import { openCursor, sealCursor } from '../referrals/list.ts'
import type { ReferralsQuery } from '../referrals/list.ts'
import { commissionEntries, payoutFailures, payouts, referrals } from '../referrals/schema.ts'
import type { CommissionEntryRow, PayoutRow } from '../referrals/store.ts'
import type { OwnPayout, PayoutLineView, PayoutState, PayoutView } from './shapes.ts'

export type FailureRow = typeof payoutFailures.$inferSelect

/** Finds a payout by its id. @throws AppError NOT_FOUND */
export function getPayout(db: Db, id: number): PayoutRow {
  const payout = db.orm.select().from(payouts).where(eq(payouts.id, id)).get()
  if (payout === undefined) throw new AppError('NOT_FOUND', `Payout ${id} does not exist.`)
  return payout
}

/** Why and when a payout failed; undefined for one that did not. */
export function findFailure(db: Db, payoutId: number): FailureRow | undefined {
  return db.orm.select().from(payoutFailures).where(eq(payoutFailures.payoutId, payoutId)).get()
}

/** What a payout paid for one referral: negative for a commission, positive for a debt that it set off; `referralId` is null for bonuses. */
export type PaidEntry = Pick<CommissionEntryRow, 'affiliateId' | 'currency' | 'referralId' | 'amountMinor'> & {
  orderId: number | null
}

/** What a payout paid, one entry for each of its referrals with an amount; also of one that failed later. */
export function entriesOfPayout(db: Db, id: number): PaidEntry[] {
  return entriesOfPayouts(db, [id]).get(id) ?? []
}

/** As `entriesOfPayout`, for several payouts at once, by their ids. */
function entriesOfPayouts(db: Db, ids: readonly number[]): ReadonlyMap<number, PaidEntry[]> {
  const { affiliateId, currency, referralId, amountMinor, payoutId } = commissionEntries
  const rows = db.orm
    .select({ payoutId, affiliateId, currency, referralId, orderId: referrals.orderId, amountMinor })
    .from(commissionEntries)
    .leftJoin(referrals, eq(referrals.id, referralId))
    .where(inArray(payoutId, [...ids]))
    .orderBy(asc(commissionEntries.id))
    .all()
  const byPayout = [...Map.groupBy(rows, (row) => row.payoutId ?? 0)]
  return new Map(byPayout.map(([id, entries]) => [id, firstOfReferrals(entries)]))
}

/** The entries of a failure come second. */
function firstOfReferrals(entries: readonly PaidEntry[]): PaidEntry[] {
  const first = new Map<string, PaidEntry>()
  for (const entry of entries) {
    const about = `${entry.affiliateId} ${entry.referralId}`
    if (!first.has(about)) first.set(about, entry)
  }
  return [...first.values()]
}

/** A payout for operators, with the code of its affiliate. */
export type AdminPayout = PayoutView & { affiliateCode: string; paidBy: string; failureReason: string | null }

export type PayoutListFilter = { affiliateId?: number; state?: PayoutState; limit: number; beforeId?: number }

/** Payouts, the newest first. */
export function listAdminPayouts(db: Db, { affiliateId, state, limit, beforeId }: PayoutListFilter): AdminPayout[] {
  const failed = payoutFailures.payoutId
  const rows = db.orm
    .select({ payout: payouts, failure: payoutFailures, affiliateCode: affiliates.code })
    .from(payouts)
    .innerJoin(affiliates, eq(affiliates.id, payouts.affiliateId))
    .leftJoin(payoutFailures, eq(failed, payouts.id))
    .where(
      and(
        affiliateId === undefined ? undefined : eq(payouts.affiliateId, affiliateId),
        beforeId === undefined ? undefined : lt(payouts.id, beforeId),
        state === undefined ? undefined : state === 'failed' ? isNotNull(failed) : isNull(failed)
      )
    )
    .orderBy(desc(payouts.id))
    .limit(limit)
    .all()
  return rows.map(({ payout, failure, affiliateCode }) => ({
    ...toPayout(payout, failure),
    affiliateCode,
    paidBy: payout.paidBy,
    failureReason: failure?.reason ?? null
  }))
}

/** One payout with what it paid for each referral. @throws AppError NOT_FOUND */
export function showPayout(db: Db, id: number): { payout: AdminPayout; lines: PayoutLineView[] } {
  const { affiliateId } = getPayout(db, id)
  const [payout] = listAdminPayouts(db, { affiliateId, beforeId: id + 1, limit: 1 })
  if (payout === undefined) throw new Error(`payout ${id} has no affiliate`)
  return { payout, lines: toLines(entriesOfPayout(db, id)) }
}

function toLines(entries: readonly PaidEntry[] = []): PayoutLineView[] {
  return entries.map(({ referralId, orderId, amountMinor }) => ({ referralId, orderId, amountMinor: -amountMinor }))
}

function toPayout(
  { id, amountMinor, currency, reference, createdAt }: PayoutRow,
  failure: FailureRow | null
): PayoutView {
  return {
    id,
    amountMinor,
    currency,
    state: failure === null ? 'paid' : 'failed',
    reference,
    createdAtUtc: toIso(createdAt),
    failedAtUtc: toIsoOrNull(failure?.createdAt)
  }
}

/**
 * One page of the payouts of a user's affiliate account, the newest first, also while the account is not active.
 *
 * @throws AppError AFFILIATE_NOT_FOUND; VALIDATION_FAILED on `cursor`
 */
export function listOwnPayouts(
  { db, keys }: Pick<ShopContext, 'db' | 'keys'>,
  userId: number,
  { limit, cursor }: ReferralsQuery
): { payouts: OwnPayout[]; nextCursor: string | null } {
  const candidate = findAffiliateOfUser(db, userId)
  const beforeId = cursor === undefined ? Number.MAX_SAFE_INTEGER : openCursor(keys.cursor, candidate?.id, cursor)
  const { id: affiliateId } = requireAffiliate(db, candidate)
  const rows = listAdminPayouts(db, { affiliateId, beforeId, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const entries = entriesOfPayouts(
    db,
    shown.map(({ id }) => id)
  )
  const page = shown.map(({ affiliateCode: _code, paidBy: _by, failureReason: _why, ...payout }) => ({
    ...payout,
    lines: toLines(entries.get(payout.id))
  }))
  const last = page.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? sealCursor(keys.cursor, affiliateId, last.id) : null
  return { payouts: page, nextCursor }
}

/** A payout as the data of its events. */
export function toPayoutEvent({ id, affiliateId, amountMinor, currency }: PayoutRow) {
  return { payoutId: id, affiliateId, amountMinor, currency }
}
