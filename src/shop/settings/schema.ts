import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { bool, instant } from '../../platform/db/columns.ts'
import type { Trigger } from '../../platform/db/trigger.ts'

/** Settings that differ from their defaults. The value is JSON text. */
export const settings = sqliteTable('settings', {
  key: text('key').primaryKey(),
  value: text('value').notNull(),
  updatedAt: instant('updated_at').notNull()
})

/** Which shop this database is of, in one row (platform/shop-id.ts). */
export const identity = sqliteTable(
  'identity',
  { id: integer('id').primaryKey(), shopId: text('shop_id').notNull(), createdAt: instant('created_at').notNull() },
  (t) => [check('identity_one_row', sql`${t.id} = 1`)]
)

/** Modules that were switched on or off; the others have their default. */
export const modules = sqliteTable(
  'modules',
  {
    name: text('name').primaryKey(),
    enabled: bool('enabled').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [check('modules_enabled', sql`${t.enabled} IN (0, 1)`)]
)

/**
 * Counters that triggers increment with every change of `settings` (settings and modules) or `catalog`, by any process.
 * A server caches data until the revision changes.
 */
export const revisions = sqliteTable('revisions', {
  name: text('name').primaryKey(),
  value: integer('value').notNull()
})

/** The statement of a trigger that increments a revision. */
export function raiseRevision(name: 'settings' | 'catalog'): string {
  return `UPDATE revisions SET value = value + 1 WHERE name = '${name}'`
}

const run = raiseRevision('settings')

export const triggers: readonly Trigger[] = [
  { name: 'settings_inserted', event: 'AFTER INSERT', on: settings, run },
  { name: 'settings_updated', event: 'AFTER UPDATE', on: settings, run },
  { name: 'settings_deleted', event: 'AFTER DELETE', on: settings, run },
  { name: 'modules_inserted', event: 'AFTER INSERT', on: modules, run },
  { name: 'modules_updated', event: 'AFTER UPDATE', on: modules, run }
]
