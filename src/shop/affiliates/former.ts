import { eq, isNotNull } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { keyedHash } from '../../platform/db/keyed-hash.ts'
import { compareKey } from '../../platform/text.ts'
import { getUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { AffiliateRow } from './find.ts'
import { affiliates } from './schema.ts'

/** What stays of an erased affiliate: hashes that find the mailbox and the code again, and nothing that shows them. */
export function hashesOfErased(db: Db, { code }: AffiliateRow, { emailKey }: Pick<UserRow, 'emailKey'>) {
  return { mailboxHash: keyedHash(db, 'mailbox', emailKey), codeHash: codeHashOf(db, code) }
}

/** Whether an erased affiliate had this code: its links are still out there, and must not earn for another person. */
export function wasCodeOfErased(db: Db, code: string): boolean {
  const had = db.orm
    .select({ id: affiliates.id })
    .from(affiliates)
    .where(eq(affiliates.codeHash, codeHashOf(db, code)))
    .get()
  return had !== undefined
}

function codeHashOf(db: Db, code: string): string {
  return keyedHash(db, 'affiliate code', compareKey(code))
}

/**
 * Finds the erased affiliate accounts of an approved affiliate's mailbox again. What they owe, and what the shop owes them,
 * counts for the new account from now on.
 */
export function takeOverErased(tx: Tx, { id, userId }: AffiliateRow, now: number): void {
  const { emailKey } = getUserById(tx, userId)
  tx.orm
    .update(affiliates)
    .set({ successorId: id, updatedAt: now })
    .where(eq(affiliates.mailboxHash, keyedHash(tx, 'mailbox', emailKey)))
    .run()
}

/** The ids of the erased accounts of an affiliate's mailbox. */
export function erasedAccountsOf(db: Db, affiliateId: number): number[] {
  return db.orm
    .select({ id: affiliates.id })
    .from(affiliates)
    .where(eq(affiliates.successorId, affiliateId))
    .all()
    .map(({ id }) => id)
}

/** The new account of each erased affiliate whose mailbox came back, by the id of the erased account. */
export function successorsOfErased(db: Db): ReadonlyMap<number, number | null> {
  const { id, successorId } = affiliates
  const rows = db.orm.select({ id, successorId }).from(affiliates).where(isNotNull(successorId)).all()
  return new Map(rows.map((row) => [row.id, row.successorId]))
}
