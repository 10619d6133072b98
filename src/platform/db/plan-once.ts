import type Database from 'better-sqlite3'

/**
 * Makes a connection plan each statement once, when it is prepared. better-sqlite3 compiles SQLite with STAT4, and such
 * a build plans a statement again when a bound value might change the best plan (https://sqlite.org/c3ref/prepare.html).
 * For a statement with a join, an ORDER BY or a LIMIT that costs four times as much as running it. The planner does not
 * look at a value behind a unary `+`, so every placeholder gets one. (SQLite's own switch, SQLITE_DBCONFIG_ENABLE_QPSG,
 * cannot be set through better-sqlite3.) A partial index is used only where a statement spells its condition out.
 */
export function planOnce(sqlite: Database.Database): void {
  const prepare = sqlite.prepare.bind(sqlite) as (source: string) => Database.Statement
  sqlite.prepare = ((source: string) => prepare(source.replace(placeholder, hideValue))) as typeof sqlite.prepare
}

/** A placeholder, with its LIMIT or OFFSET; quoted text and comments match first and stay as they are. */
const placeholder = /'[^']*'|"[^"]*"|--[^\n]*|\b(limit|offset)\s+(\?|@\w+)|(\?|@\w+)/gi

function hideValue(found: string, keyword?: string, count?: string, value?: string): string {
  if (keyword !== undefined) return `${keyword} CAST(${count} AS INTEGER)`
  return value === undefined ? found : `+${value}`
}
