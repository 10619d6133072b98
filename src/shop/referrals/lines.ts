import { asc, eq, sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { takenBackMinor } from './commission.ts'
import type { DecidedLine, Goods } from './commission.ts'
import { referralLines } from './schema.ts'

export type ReferralLineRow = typeof referralLines.$inferSelect

const byReferral = statement((orm) =>
  orm
    .select()
    .from(referralLines)
    .where(eq(referralLines.referralId, sql.placeholder('referralId')))
    .orderBy(asc(referralLines.id))
    .prepare()
)

/** The commission of each line of a referral's order, in the order of its lines. */
export function linesOf(db: Db, referralId: number): ReferralLineRow[] {
  return byReferral(db).all({ referralId })
}

/** Replaces the commission of each line: the order is new, or its goods cost something else. */
export function storeLines(
  tx: Tx,
  referralId: number,
  lines: readonly (DecidedLine & { takenBackMinor?: number })[]
): void {
  tx.orm.delete(referralLines).where(eq(referralLines.referralId, referralId)).run()
  const rows = lines.map(({ itemId, ...line }) => ({ ...line, referralId, orderItemId: itemId }))
  if (rows.length > 0) tx.orm.insert(referralLines).values(rows).run()
}

/** What a referral earns, in minor units: the commission of its lines after refunds. */
export function sumOfLines(lines: readonly Pick<ReferralLineRow, 'commissionMinor' | 'takenBackMinor'>[]): number {
  return lines.reduce((sum, { commissionMinor, takenBackMinor }) => sum + commissionMinor - takenBackMinor, 0)
}

/** Takes back of each line what the refunds so far return of it. */
export function takeBackLines(tx: Tx, referralId: number, { lines: goods }: Goods): void {
  for (const { id, orderItemId, commissionMinor } of linesOf(tx, referralId)) {
    const line = goods.find(({ itemId }) => itemId === orderItemId)
    if (line !== undefined) setTakenBack(tx, id, takenBackMinor({ commissionMinor, ...line }))
  }
}

/** Takes back everything: the whole order was refunded. */
export function takeBackAll(tx: Tx, referralId: number): void {
  for (const { id, commissionMinor } of linesOf(tx, referralId)) setTakenBack(tx, id, commissionMinor)
}

function setTakenBack(tx: Tx, id: number, takenBack: number): void {
  tx.orm.update(referralLines).set({ takenBackMinor: takenBack }).where(eq(referralLines.id, id)).run()
}
