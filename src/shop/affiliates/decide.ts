import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { eraseRows } from '../../platform/db/personal.ts'
import type { AffiliateDecision } from '../mail/queue.ts'
import { getUserById } from '../accounts/find.ts'
import { emit } from '../webhooks/emit.ts'
import { mailAffiliate } from './notify.ts'
import { getAffiliate, findAffiliateOfUser } from './find.ts'
import type { AffiliateRow, AffiliateStatus } from './find.ts'
import { hashesOfErased, takeOverErased } from './former.ts'
import { affiliates } from './schema.ts'

/** The states that each decision applies to, and the state it leads to. */
const decisions: Readonly<Record<AffiliateDecision, { from: readonly AffiliateStatus[]; to: AffiliateStatus }>> = {
  approve: { from: ['pending', 'inactive', 'rejected'], to: 'active' },
  reject: { from: ['pending'], to: 'rejected' },
  deactivate: { from: ['active'], to: 'inactive' }
}

/**
 * Decides about an affiliate for an operator, with an event and an email. The
 * affiliate keeps what they have earned. The same decision again changes nothing.
 *
 * @param ref the affiliate's code or id
 * @throws AppError NOT_FOUND, TRANSITION_REFUSED (details.from, details.to)
 */
export function decideAffiliate(db: Db, ref: string, decision: AffiliateDecision, now: number): AffiliateRow {
  const { from, to } = decisions[decision]
  return write(db, (tx) => {
    const affiliate = getAffiliate(tx, ref)
    if (affiliate.status === to) return affiliate
    if (!from.includes(affiliate.status)) throw refused(affiliate.status, to)
    notify(tx, affiliate, decision, now)
    if (decision === 'approve') takeOverErased(tx, affiliate, now)
    return changeAffiliate(tx, affiliate, { status: to }, now)
  })
}

/** Changes the code or the status of an affiliate, with an event that has both values. */
export function changeAffiliate(
  tx: Tx,
  affiliate: AffiliateRow,
  change: Partial<Pick<AffiliateRow, 'code' | 'status'>>,
  now: number
): AffiliateRow {
  const changed = tx.orm
    .update(affiliates)
    .set({ ...change, updatedAt: now })
    .where(eq(affiliates.id, affiliate.id))
    .returning()
    .get()
  const terms = ({ code, status }: AffiliateRow) => ({ code, status })
  emit(tx, 'affiliate.changed', { affiliateId: affiliate.id, from: terms(affiliate), to: terms(changed) }, now)
  return changed
}

function refused(from: AffiliateStatus, to: AffiliateStatus): AppError {
  const message = `An affiliate with the status ${from} cannot become ${to}.`
  return new AppError('TRANSITION_REFUSED', message, { from, to })
}

const eventOf = { approve: 'affiliate.approved', reject: 'affiliate.rejected', deactivate: null } as const

function notify(tx: Tx, { id: affiliateId }: AffiliateRow, decision: AffiliateDecision, now: number): void {
  const type = eventOf[decision]
  const caused = type === null ? {} : { eventId: emit(tx, type, { affiliateId }, now) }
  mailAffiliate(tx, { template: 'affiliate_decision', data: { affiliateId, decision }, ...caused }, now)
}

const statusOfErased: Readonly<Record<AffiliateStatus, AffiliateStatus>> = {
  pending: 'rejected',
  active: 'inactive',
  inactive: 'inactive',
  rejected: 'rejected'
}

/**
 * Anonymises the affiliate account of an erased user. The account is deactivated, or a pending application rejected
 * without an email. Website and message are deleted, and the code, which often is the person's name, is replaced.
 * Referrals and ledger stay for accounting. Keyed hashes find the mailbox and the code again (former.ts). It runs before
 * the account loses its email.
 */
export function anonymiseAffiliateOf(tx: Tx, userId: number, now: number): void {
  const affiliate = findAffiliateOfUser(tx, userId)
  if (affiliate === undefined) return
  const { id } = affiliate
  if (affiliate.status === 'pending') emit(tx, 'affiliate.rejected', { affiliateId: id }, now)
  const status = statusOfErased[affiliate.status]
  const hashes = hashesOfErased(tx, affiliate, getUserById(tx, userId))
  eraseRows(tx, affiliates, eq(affiliates.id, id), { status, ...hashes, updatedAt: now })
}
