import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { emit } from '../webhooks/emit.ts'
import { findAffiliateOfUser } from './find.ts'
import type { AffiliateStatus } from './rows.ts'
import { affiliates } from './schema.ts'

const statusOfErased: Readonly<Record<AffiliateStatus, AffiliateStatus>> = {
  pending: 'rejected',
  active: 'inactive',
  inactive: 'inactive',
  rejected: 'rejected'
}

/**
 * Anonymises the affiliate account of an erased user. The account is deactivated, or a pending application rejected
 * without an email. Website and message are deleted, and the code, which often is the person's name, is replaced.
 * Referrals and ledger stay for accounting.
 */
export function anonymiseAffiliateOf(tx: Tx, userId: number, now: number): void {
  const affiliate = findAffiliateOfUser(tx, userId)
  if (affiliate === undefined) return
  const { id } = affiliate
  if (affiliate.status === 'pending') emit(tx, 'affiliate.rejected', { affiliateId: id }, now)
  const status = statusOfErased[affiliate.status]
  // Unique: a code that is chosen for an affiliate cannot contain a space (code.ts).
  const code = `erased ${id}`
  tx.orm
    .update(affiliates)
    .set({ status, code, codeKey: code, website: null, message: null, updatedAt: now })
    .where(eq(affiliates.id, id))
    .run()
}
