import { and, count, eq, sql } from 'drizzle-orm'
import { placeholders, statement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { movedRows } from './schema.ts'

/** A subject of an import. Ids of one kind are unique in the other shop. */
export type MovedKind =
  | 'customer'
  | 'product'
  | 'variation'
  | 'coupon'
  | 'order'
  | 'affiliate'
  | 'referral'
  | 'payout'
  | 'membership'
  | 'download'
  | 'subscription'
  | 'rcp_membership'
  | 'memberpress_transaction'
  | 'redirect'

const find = statement((orm) =>
  orm
    .select({ targetId: movedRows.targetId })
    .from(movedRows)
    .where(
      and(
        eq(movedRows.source, sql.placeholder('source')),
        eq(movedRows.kind, sql.placeholder('kind')),
        eq(movedRows.sourceId, sql.placeholder('sourceId'))
      )
    )
    .prepare()
)
const insert = statement((orm) =>
  orm
    .insert(movedRows)
    .values(placeholders(['source', 'kind', 'sourceId', 'targetId', 'movedAt']))
    .onConflictDoNothing()
    .prepare()
)

/** What was moved in from one other shop, by the ids that rows have there. */
export type MovedRows = {
  /** The id here of a row there; undefined if it was not moved in. */
  find(db: Db, kind: MovedKind, sourceId: string): number | undefined
  /** Remembers that a row was moved in. The first memory of a row stays. */
  remember(tx: Tx, kind: MovedKind, sourceId: string, targetId: number, now: number): void
  /** The number of rows of a kind that were moved in. */
  count(db: Db, kind: MovedKind): number
}

/** @param source the name of the other shop, such as its address */
export function movedFrom(source: string): MovedRows {
  return {
    find: (db, kind, sourceId) => find(db).get({ source, kind, sourceId })?.targetId,
    remember: (tx, kind, sourceId, targetId, now) => {
      insert(tx).run({ source, kind, sourceId, targetId, movedAt: now })
    },
    count: (db, kind) =>
      db.orm
        .select({ rows: count() })
        .from(movedRows)
        .where(and(eq(movedRows.source, source), eq(movedRows.kind, kind)))
        .get()?.rows ?? 0
  }
}
