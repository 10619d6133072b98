import { and, asc, desc, eq, getTableColumns, inArray, isNotNull, isNull, lt } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { affiliates } from '../affiliates/schema.ts'
import { commissionEntries, payoutFailures, payouts, referrals } from '../referrals/schema.ts'
import type { CommissionEntryRow, PayoutRow } from '../referrals/store.ts'
import type { PayoutLineView, PayoutState, PayoutView } from './shapes.ts'

export type FailureRow = typeof payoutFailures.$inferSelect

/** Finds a payout by its id. */
export function findPayout(db: Db, id: number): PayoutRow | undefined {
  return db.orm.select().from(payouts).where(eq(payouts.id, id)).get()
}

/** As `findPayout`. @throws AppError NOT_FOUND */
export function getPayout(db: Db, id: number): PayoutRow {
  const payout = findPayout(db, id)
  if (payout === undefined) throw new AppError('NOT_FOUND', `Payout ${id} does not exist.`)
  return payout
}

/** All payouts to a user's affiliate account, the oldest first. */
export function payoutsOfUser(db: Db, userId: number): PayoutRow[] {
  return db.orm
    .select(getTableColumns(payouts))
    .from(payouts)
    .innerJoin(affiliates, eq(affiliates.id, payouts.affiliateId))
    .where(eq(affiliates.userId, userId))
    .orderBy(asc(payouts.id))
    .all()
}

/** Why and when a payout failed; undefined for one that did not. */
export function findFailure(db: Db, payoutId: number): FailureRow | undefined {
  return db.orm.select().from(payoutFailures).where(eq(payoutFailures.payoutId, payoutId)).get()
}

/** What a payout paid for one referral: negative for a commission, positive for a debt that it set off; `referralId` is null for bonuses. */
export type PaidEntry = Pick<CommissionEntryRow, 'affiliateId' | 'currency' | 'referralId' | 'amountMinor'> & {
  orderId: number | null
  /** The day on which the order was placed, and the rate of its commission. */
  day: string | null
  rateBps: number | null
}

/** What a payout paid, one entry for each of its referrals with an amount; also of one that failed later. */
export function entriesOfPayout(db: Db, id: number): PaidEntry[] {
  return entriesOfPayouts(db, [id]).get(id) ?? []
}

/** As `entriesOfPayout`, for several payouts at once, by their ids. */
export function entriesOfPayouts(db: Db, ids: readonly number[]): ReadonlyMap<number, PaidEntry[]> {
  const { affiliateId, currency, referralId, amountMinor, payoutId } = commissionEntries
  const rows = db.orm
    .select({
      payoutId,
      affiliateId,
      currency,
      referralId,
      amountMinor,
      orderId: referrals.orderId,
      day: referrals.day,
      rateBps: referrals.rateBps
    })
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

/** What a payout paid for each referral, as people see it. */
export function toLines(entries: readonly PaidEntry[] = []): PayoutLineView[] {
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

/** A payout as the data of its events. */
export function toPayoutEvent({ id, affiliateId, amountMinor, currency }: PayoutRow) {
  return { payoutId: id, affiliateId, amountMinor, currency }
}
