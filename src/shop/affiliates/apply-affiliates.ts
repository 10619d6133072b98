import { eq } from 'drizzle-orm'
import { validationFailed } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { findUserByEmail } from '../accounts/find.ts'
import type { AffiliateInput } from '../catalog/import/format.ts'
import { createAffiliate } from './create-affiliate.ts'
import { findAffiliateByCode } from './find.ts'
import type { AffiliateRow } from './rows.ts'
import { affiliates } from './schema.ts'

export type Counts = { created: number; updated: number; unchanged: number }

/**
 * Creates and updates the affiliates of an import file, matched by code. Other affiliates stay, and the same file again
 * changes nothing. The status `pending` in the file does not undo an operator's decision. No emails are sent.
 *
 * @throws AppError VALIDATION_FAILED on `affiliates.N.user` when the account does not exist or the code belongs to
 *   another account, and as `createAffiliate`
 */
export function applyAffiliates(tx: Tx, entries: readonly AffiliateInput[], now: number): Counts {
  const counts: Counts = { created: 0, updated: 0, unchanged: 0 }
  for (const [index, entry] of entries.entries()) counts[applyOne(tx, entry, `affiliates.${index}.user`, now)] += 1
  return counts
}

function applyOne(tx: Tx, entry: AffiliateInput, path: string, now: number): keyof Counts {
  const { code, status, rateBps } = entry
  const user = findUserByEmail(tx, entry.user)
  if (user === undefined) throw validationFailed({ [path]: ['No account has this email.'] })
  const known = findAffiliateByCode(tx, code)
  if (known === undefined) {
    createAffiliate(tx, { userId: user.id, code, status, rateBps }, now)
    return 'created'
  }
  if (known.userId !== user.id) throw validationFailed({ [path]: ['The affiliate code belongs to another account.'] })
  return update(tx, known, { code, rateBps, status: status === 'pending' ? known.status : status }, now)
}

type Wanted = Pick<AffiliateRow, 'code' | 'rateBps' | 'status'>

function update(tx: Tx, known: AffiliateRow, wanted: Wanted, now: number): keyof Counts {
  const { code, rateBps, status } = known
  if (code === wanted.code && rateBps === wanted.rateBps && status === wanted.status) return 'unchanged'
  tx.orm
    .update(affiliates)
    .set({ ...wanted, updatedAt: now })
    .where(eq(affiliates.id, known.id))
    .run()
  return 'updated'
}
