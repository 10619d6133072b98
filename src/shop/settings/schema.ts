import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { bool, instant } from '../../platform/db/columns.ts'
import type { Trigger } from '../../platform/db/trigger.ts'

/** Settings that an operator has moved away from their defaults; the value is JSON text. */
export const settings = sqliteTable('settings', {
  key: text('key').primaryKey(),
  value: text('value').notNull(),
  updatedAt: instant('updated_at').notNull()
})

/** Modules that have been switched; a module without a row is on. */
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
 * Counters that triggers raise with every change of `settings` (settings and modules) or `catalog`, whichever process
 * made it: what a server keeps in memory is valid while its revision stands.
 */
export const revisions = sqliteTable('revisions', {
  name: text('name').primaryKey(),
  value: integer('value').notNull()
})

/** The statement of a trigger on a table that the revision counts changes of. */
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
