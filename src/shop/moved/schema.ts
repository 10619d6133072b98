import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { instant } from '../../platform/db/columns.ts'

/**
 * What was moved in from another shop: the row there, and the row that it became here. A second import leaves these out.
 * `source` names the other shop, `kind` is a subject of the import.
 */
export const movedRows = sqliteTable(
  'moved_rows',
  {
    source: text('source').notNull(),
    kind: text('kind').notNull(),
    sourceId: text('source_id').notNull(),
    /** The row's id here. */
    targetId: integer('target_id').notNull(),
    movedAt: instant('moved_at').notNull()
  },
  (t) => [primaryKey({ columns: [t.source, t.kind, t.sourceId] })]
)
