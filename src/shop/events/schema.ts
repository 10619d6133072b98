import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { instant, json } from '../../platform/db/columns.ts'

/** The outbox: each event is written in the transaction that causes it. */
export const events = sqliteTable(
  'events',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    type: text('type').notNull(),
    payload: json('payload', z.record(z.string(), z.unknown())).notNull(),
    /** The operator whose command caused it, by the name on the server; null for the shop itself and for visitors. */
    by: text('by'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [index('events_by_type').on(t.type, t.id)]
)
