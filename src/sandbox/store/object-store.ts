import Database from 'better-sqlite3'
import { checkpointPages, transact, writeThisTurn } from '../../platform/db/database.ts'
import { schemaSql } from './schema.ts'
import type { HiddenOf, Kind, Objects } from './objects.ts'

const schemaVersion = 4
const busyTimeoutMs = 5_000

/** A stored object, and the data that the sandbox stores with it but never returns. */
export type Stored<K extends Kind> = { object: Objects[K]; hidden: HiddenOf<K> }
export type Filter =
  | { field: string; value: string | number; test?: '=' | '<' | '<=' | '>' | '>=' }
  | { field: string; value: readonly string[]; test: 'in' }
export type Page = { limit: number; after?: string | undefined; before?: string | undefined }

/** The sandbox's database. The command line and the server share its file, so they see the same Stripe. */
export type Store = {
  prepare: <Row = unknown>(sql: string) => Database.Statement<unknown[], Row>
  /** Runs `work` in one IMMEDIATE transaction, which rolls back if it throws. */
  write: <T>(work: () => T) => T
  /** Runs `work` in a transaction shared with the other writes of this event-loop turn; resolves after the commit. */
  writeThisTurn: <T>(work: () => T) => Promise<T>
  find: <K extends Kind>(kind: K, id: string) => Stored<K> | undefined
  findAny: (id: string) => { kind: Kind; body: unknown } | undefined
  /** Inserts or replaces an object. Without `hidden`, the stored hidden data is kept. */
  put: <K extends Kind>(kind: K, object: Objects[K], hidden?: HiddenOf<K>) => void
  /** One page, newest first, as Stripe lists. A filter's `field` is a path such as `metadata.order_id`. */
  list: <K extends Kind>(
    kind: K,
    filters?: readonly Filter[],
    page?: Page
  ) => { objects: Objects[K][]; hasMore: boolean }
  close: () => void
}

type Row = { seq: number; kind: Kind; body: string; hidden: string | null }

/** Opens or creates the sandbox's file. A file with another schema version is emptied, because it holds only test data. */
export function openStore(file: string): Store {
  const sqlite = new Database(file, { timeout: busyTimeoutMs })
  try {
    sqlite.pragma(`busy_timeout = ${busyTimeoutMs}`)
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = NORMAL')
    // With the default, savepoints write their rollback data to a file: half of the bytes that a checkout wrote.
    sqlite.pragma('temp_store = MEMORY')
    sqlite.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    createSchema(sqlite)
  } catch (error) {
    sqlite.close()
    throw error
  }
  return storeOver(sqlite)
}

function createSchema(sqlite: Database.Database): void {
  const version = (): unknown => sqlite.pragma('user_version', { simple: true })
  if (version() === schemaVersion) return
  const create = sqlite.transaction(() => {
    if (version() === schemaVersion) return
    const tables = sqlite
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .pluck()
    for (const name of tables.all()) sqlite.exec(`DROP TABLE "${String(name)}"`)
    sqlite.exec(schemaSql)
    sqlite.pragma(`user_version = ${schemaVersion}`)
  })
  create.immediate()
}

function storeOver(sqlite: Database.Database): Store {
  const statements = new Map<string, Database.Statement>()
  const prepare = <R = unknown>(sql: string): Database.Statement<unknown[], R> => {
    const known = statements.get(sql) ?? sqlite.prepare(sql)
    statements.set(sql, known)
    return known as Database.Statement<unknown[], R>
  }
  return {
    prepare,
    write: (work) => transact(sqlite, work),
    writeThisTurn: (work) => writeThisTurn(sqlite, work),
    find: <K extends Kind>(kind: K, id: string) => {
      const row = prepare<Row>('SELECT * FROM objects WHERE id = ? AND kind = ?').get(id, kind)
      return row && toStored<K>(row)
    },
    findAny: (id) => {
      const row = prepare<Row>('SELECT * FROM objects WHERE id = ?').get(id)
      const body: unknown = row && JSON.parse(row.body)
      return row && { kind: row.kind, body }
    },
    put: (kind, object, hidden) => {
      prepare(`INSERT INTO objects (id, kind, body, hidden) VALUES (?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET body = excluded.body, hidden = coalesce(excluded.hidden, hidden)`).run(
        object.id,
        kind,
        JSON.stringify(object),
        hidden === undefined ? null : JSON.stringify(hidden)
      )
    },
    list: <K extends Kind>(kind: K, filters: readonly Filter[] = [], page: Page = { limit: 100 }) =>
      listObjects<K>(prepare, kind, filters, page),
    close: () => sqlite.close()
  }
}

function listObjects<K extends Kind>(
  prepare: Store['prepare'],
  kind: K,
  filters: readonly Filter[],
  page: Page
): { objects: Objects[K][]; hasMore: boolean } {
  const backwards = page.before !== undefined
  // A literal, so that SQLite can use the partial indexes. Safe, because a kind never comes from a client.
  const where = [`kind = '${kind}'`]
  const values: unknown[] = []
  for (const filter of filters) {
    const path = `body ->> '$.${filter.field.replaceAll(/[^\w.]/g, '')}'`
    if (filter.test === 'in') where.push(`${path} IN (SELECT value FROM json_each(?))`)
    else where.push(`${path} ${filter.test ?? '='} ?`)
    values.push(filter.test === 'in' ? JSON.stringify(filter.value) : filter.value)
  }
  const edge = page.before ?? page.after
  if (edge !== undefined) {
    where.push(`seq ${backwards ? '>' : '<'} (SELECT seq FROM objects WHERE id = ?)`)
    values.push(edge)
  }
  const sql = `SELECT * FROM objects WHERE ${where.join(' AND ')} ORDER BY seq ${backwards ? 'ASC' : 'DESC'} LIMIT ?`
  const rows = prepare<Row>(sql).all(...values, page.limit + 1)
  const shown = rows.slice(0, page.limit)
  if (backwards) shown.reverse()
  return { objects: shown.map((row) => toStored<K>(row).object), hasMore: rows.length > page.limit }
}

function toStored<K extends Kind>(row: Row): Stored<K> {
  // Only `put` writes rows, with an object and hidden data of this kind.
  return { object: JSON.parse(row.body), hidden: row.hidden === null ? undefined : JSON.parse(row.hidden) }
}
