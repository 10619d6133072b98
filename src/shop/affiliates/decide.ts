import { queueMail } from '../mail/queue-mail.ts'
import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { getUserById } from '../accounts/find.ts'
import { emit } from '../outbox/emit.ts'
import type { AffiliateRow, AffiliateStatus } from './rows.ts'
import { affiliates } from './schema.ts'

export type Decision = 'approve' | 'reject' | 'deactivate'

/** From which states each decision leads where. Who was rejected or deactivated can be approved after all. */
const decisions: Readonly<Record<Decision, { from: readonly AffiliateStatus[]; to: AffiliateStatus }>> = {
  approve: { from: ['pending', 'inactive', 'rejected'], to: 'active' },
  reject: { from: ['pending'], to: 'rejected' },
  deactivate: { from: ['active'], to: 'inactive' }
}

/**
 * An operator decides about an affiliate. An approval and a rejection are told, by event and by mail; what he has
 * earned so far stays his. Deciding the same again changes nothing.
 *
 * @throws AppError TRANSITION_REFUSED (details.from, details.to)
 */
export function decideAffiliate(tx: Tx, affiliate: AffiliateRow, decision: Decision, now: number): AffiliateRow {
  const { from, to } = decisions[decision]
  if (affiliate.status === to) return affiliate
  if (!from.includes(affiliate.status)) {
    const message = `An affiliate who is ${affiliate.status} cannot become ${to}.`
    throw new AppError('TRANSITION_REFUSED', message, { from: affiliate.status, to })
  }
  if (decision !== 'deactivate') tell(tx, affiliate, decision === 'approve', now)
  return tx.orm
    .update(affiliates)
    .set({ status: to, updatedAt: now })
    .where(eq(affiliates.id, affiliate.id))
    .returning()
    .get()
}

function tell(tx: Tx, { id: affiliateId, userId }: AffiliateRow, approved: boolean, now: number): void {
  const eventId = emit(tx, approved ? 'affiliate.approved' : 'affiliate.rejected', { affiliateId }, now)
  const user = getUserById(tx, userId)
  // An erased account has no address that a person reads.
  if (user.status === 'erased') return
  queueMail(
    tx,
    { template: 'affiliate_decision', recipient: user.email, data: { affiliateId, approved }, eventId },
    now
  )
}
