import type { ReferralRow } from './rows.ts'
import { referrals } from './schema.ts'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { rowStatement } from '../../platform/db/statements.ts'

const byId = rowStatement(referrals, 'id = ?')
const byOrder = rowStatement(referrals, 'order_id = ?')

/** Finds the referral of an order. An order has at most one. */
export function findReferralOfOrder(db: Db, orderId: number): ReferralRow | undefined {
  return byOrder(db, orderId)
}

/** Finds a referral by its id. @throws AppError NOT_FOUND */
export function getReferral(db: Db, id: number): ReferralRow {
  const referral = byId(db, id)
  if (referral === undefined) throw new AppError('NOT_FOUND', `Referral ${id} does not exist.`)
  return referral
}
