import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { statement } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { affiliates } from './schema.ts'

export type AffiliateRow = typeof affiliates.$inferSelect
export type AffiliateStatus = AffiliateRow['status']

export const affiliateStatuses = affiliates.status.enumValues

const byId = statement((orm) =>
  orm
    .select()
    .from(affiliates)
    .where(eq(affiliates.id, sql.placeholder('id')))
    .prepare()
)
const byCodeKey = statement((orm) =>
  orm
    .select()
    .from(affiliates)
    .where(eq(affiliates.codeKey, sql.placeholder('codeKey')))
    .prepare()
)
const byUser = statement((orm) =>
  orm
    .select()
    .from(affiliates)
    .where(eq(affiliates.userId, sql.placeholder('userId')))
    .prepare()
)

/** Finds an affiliate by its id. */
export function findAffiliateById(db: Db, id: number): AffiliateRow | undefined {
  return byId(db).get({ id })
}

/** Finds an affiliate by code, ignoring case and surrounding spaces. */
export function findAffiliateByCode(db: Db, code: string): AffiliateRow | undefined {
  return byCodeKey(db).get({ codeKey: compareKey(code) })
}

/** Finds the affiliate of a `ref`, which is a code or an id. A code cannot consist of digits only, so `ref` is unambiguous. */
export function findAffiliateByRef(db: Db, ref: string): AffiliateRow | undefined {
  const byCode = findAffiliateByCode(db, ref)
  if (byCode !== undefined) return byCode
  return /^[1-9]\d{0,14}$/.test(ref.trim()) ? findAffiliateById(db, Number(ref)) : undefined
}

/** Finds the affiliate account of a user. A user has at most one. */
export function findAffiliateOfUser(db: Db, userId: number): AffiliateRow | undefined {
  return byUser(db).get({ userId })
}

/** As `findAffiliateById`. @throws AppError NOT_FOUND */
export function getAffiliateById(db: Db, id: number): AffiliateRow {
  const affiliate = findAffiliateById(db, id)
  if (affiliate === undefined) throw new AppError('NOT_FOUND', `Affiliate ${id} does not exist.`)
  return affiliate
}

/** Finds an affiliate by code or id, as an operator types it. @throws AppError NOT_FOUND */
export function getAffiliate(db: Db, ref: string): AffiliateRow {
  const affiliate = findAffiliateByRef(db, ref)
  if (affiliate === undefined) throw new AppError('NOT_FOUND', 'No affiliate has this code or id.')
  return affiliate
}

/**
 * All affiliates, or those with one status, oldest first. They are read while they are used.
 *
 * @param view what the list shows of an affiliate
 */
export function listAffiliates<T>(
  db: Db,
  { status }: { status?: AffiliateStatus | undefined },
  view: (row: AffiliateRow) => T
): Iterable<T> {
  const next = (last: AffiliateRow | undefined, limit: number): AffiliateRow[] =>
    db.orm
      .select()
      .from(affiliates)
      .where(and(status && eq(affiliates.status, status), last && gt(affiliates.id, last.id)))
      .orderBy(asc(affiliates.id))
      .limit(limit)
      .all()
  return inParts(db, next, (rows) => rows.map(view))
}
