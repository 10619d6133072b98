import { asc, eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { rowStatement } from '../../platform/db/statements.ts'
import { compareKey } from '../../platform/text.ts'
import type { AffiliateRow, AffiliateStatus } from './rows.ts'
import { affiliates } from './schema.ts'

const byCodeKey = rowStatement(affiliates, 'code_key = ?')
const byUser = rowStatement(affiliates, 'user_id = ?')

export const findAffiliateById = rowStatement(affiliates, 'id = ?')

/** Codes are one and the same whatever their case and the spaces around them. */
export function findAffiliateByCode(db: Db, code: string): AffiliateRow | undefined {
  return byCodeKey(db, compareKey(code))
}

/** Who a `ref` names: by code, else by id. No code consists of digits alone, so the two cannot be mistaken. */
export function findAffiliateByRef(db: Db, ref: string): AffiliateRow | undefined {
  const named = findAffiliateByCode(db, ref)
  if (named !== undefined) return named
  return /^[1-9]\d{0,14}$/.test(ref.trim()) ? findAffiliateById(db, Number(ref)) : undefined
}

export function findAffiliateOfUser(db: Db, userId: number): AffiliateRow | undefined {
  return byUser(db, userId)
}

/** @throws AppError NOT_FOUND */
export function getAffiliateById(db: Db, id: number): AffiliateRow {
  const affiliate = findAffiliateById(db, id)
  if (affiliate === undefined) throw new AppError('NOT_FOUND', `There is no affiliate ${id}.`)
  return affiliate
}

/**
 * The affiliate that an operator names by code or id.
 *
 * @throws AppError NOT_FOUND
 */
export function getAffiliate(db: Db, ref: string): AffiliateRow {
  const affiliate = findAffiliateByRef(db, ref)
  if (affiliate === undefined) throw new AppError('NOT_FOUND', 'There is no affiliate with this code or id.')
  return affiliate
}

/** All of them, or those in one state, in the order in which they came. */
export function listAffiliates(db: Db, filter: { status?: AffiliateStatus } = {}): AffiliateRow[] {
  const condition = filter.status === undefined ? sql`true` : eq(affiliates.status, filter.status)
  return db.orm.select().from(affiliates).where(condition).orderBy(asc(affiliates.id)).all()
}
