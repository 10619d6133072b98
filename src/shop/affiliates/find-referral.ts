import { eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ReferralRow } from './rows.ts'
import { referrals } from './schema.ts'

const byId = statement((orm) =>
  orm
    .select()
    .from(referrals)
    .where(eq(referrals.id, sql.placeholder('id')))
    .prepare()
)
const byOrder = statement((orm) =>
  orm
    .select()
    .from(referrals)
    .where(eq(referrals.orderId, sql.placeholder('orderId')))
    .prepare()
)

export function findReferralOfOrder(db: Db, orderId: number): ReferralRow | undefined {
  return byOrder(db).get({ orderId })
}

/** @throws AppError NOT_FOUND */
export function getReferral(db: Db, id: number): ReferralRow {
  const referral = byId(db).get({ id })
  if (referral === undefined) throw new AppError('NOT_FOUND', `There is no referral ${id}.`)
  return referral
}
