import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { emit } from '../outbox/emit.ts'
import { findAffiliateOfUser } from './find.ts'
import { affiliates } from './schema.ts'

/**
 * Takes the person out of the affiliate account of an erased user: it is active no more, an application is turned down
 * without a word to anybody, and what he wrote goes, with the code, which is often his name. Referrals and ledger stay
 * for the books.
 */
export function anonymiseAffiliateOf(tx: Tx, userId: number, now: number): void {
  const affiliate = findAffiliateOfUser(tx, userId)
  if (affiliate === undefined) return
  const { id } = affiliate
  if (affiliate.status === 'pending') emit(tx, 'affiliate.rejected', { affiliateId: id }, now)
  const status = affiliate.status === 'pending' || affiliate.status === 'rejected' ? 'rejected' : 'inactive'
  // No code that is asked for has a space (code.ts), so nobody can have this one already.
  const code = `erased ${id}`
  tx.orm
    .update(affiliates)
    .set({ status, code, codeKey: code, website: null, message: null, updatedAt: now })
    .where(eq(affiliates.id, id))
    .run()
}
