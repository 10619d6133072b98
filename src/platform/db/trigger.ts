import { getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

/** What SQLite does by itself when rows of a table change. Drizzle cannot declare it; `npm run db:generate` writes it. */
export type Trigger = {
  name: string
  /** `AFTER INSERT`, `BEFORE DELETE`, `AFTER UPDATE OF stock` */
  event: `${'BEFORE' | 'AFTER'} ${'INSERT' | 'UPDATE' | 'DELETE'}${'' | ` OF ${string}`}`
  on: SQLiteTable
  /** The condition on OLD and NEW; without one the trigger runs for each row. */
  when?: string
  /** Statements without the last semicolon. */
  run: string
}

export function triggerSql({ name, event, on, when, run }: Trigger): string {
  const condition = when === undefined ? '' : ` WHEN ${when}`
  return `CREATE TRIGGER \`${name}\` ${event} ON \`${getTableName(on)}\`${condition} BEGIN ${run}; END`
}
