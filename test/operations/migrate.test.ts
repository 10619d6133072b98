import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { journal, migrateDatabase, migrationStatus } from '../../src/platform/db/migrate.ts'
import { exitOf, runShopstead } from '../support/command-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ours = 'src/platform/db/migrations'
const goldenFolder = 'test/golden'
const newest = journal().at(-1)?.tag ?? ''

/** The golden database of a version, in a new folder. */
function golden(tag: string): { db: Db; dataDir: string } {
  const dataDir = temporaryFolder()
  writeFileSync(join(dataDir, 'shopstead.db'), gunzipSync(readFileSync(join(goldenFolder, `${tag}.db.gz`))))
  const db = openDatabase(join(dataDir, 'shopstead.db'))
  onTestFinished(() => void db.sqlite.close())
  return { db, dataDir }
}

/** A folder with the program's migrations and one more. */
function withAnother(sql: string): string {
  const folder = join(temporaryFolder(), 'migrations')
  cpSync(ours, folder, { recursive: true })
  const file = join(folder, 'meta', '_journal.json')
  const meta = JSON.parse(readFileSync(file, 'utf8')) as { entries: object[] }
  meta.entries.push({ idx: 99, version: '6', when: Date.UTC(2100, 0, 1), tag: '9999_another', breakpoints: true })
  writeFileSync(file, JSON.stringify(meta))
  writeFileSync(join(folder, '9999_another.sql'), sql)
  return folder
}

type Rows = Record<string, unknown>[]
/** Every row of every table, in key order. */
function contentOf(sqlite: Database.Database): Map<string, Rows> {
  const names = sqlite
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name NOT LIKE 'products\\_search\\_%' ESCAPE '\\' AND name <> '__drizzle_migrations'`
    )
    .pluck()
    .all()
  return new Map(names.map((name) => [name, sqlite.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all() as Rows]))
}

/** The rows of `before` that are missing or different in `after`. New columns and tables do not count. */
function lostRows(before: Map<string, Rows>, after: Map<string, Rows>): string[] {
  return [...before].flatMap(([table, rows]) =>
    rows.flatMap((row, index) => {
      const now = after.get(table)?.[index]
      const same = now !== undefined && Object.keys(row).every((name) => String(row[name]) === String(now[name]))
      return same ? [] : [`${table} ${JSON.stringify(row)}`]
    })
  )
}

const versionsKept = readdirSync(goldenFolder)
  .filter((name) => name.endsWith('.db.gz'))
  .map((name) => name.replace('.db.gz', ''))

describe('a golden database', () => {
  test('exists for the newest schema version, with a row in each table', () => {
    expect(versionsKept).toContain(newest)
    const { db } = golden(newest)
    expect([...contentOf(db.sqlite)].filter(([, rows]) => rows.length === 0).map(([table]) => table)).toEqual([])
  })

  test.each(versionsKept)('of %s migrates to the newest version without losing a row', (tag) => {
    const { db } = golden(tag)
    const before = contentOf(db.sqlite)
    expect(migrateDatabase(db)).toMatchObject({ version: newest, pending: [], newer: false })
    expect(lostRows(before, contentOf(db.sqlite))).toEqual([])
  })

  test('keeps child rows when a migration rebuilds their parent table', () => {
    const { db } = golden(newest)
    const before = contentOf(db.sqlite)
    const ddl = String(db.sqlite.prepare(`SELECT sql FROM sqlite_schema WHERE name = 'users'`).pluck().get())
    const made = ddl.replace('`users`', '`__new_users`').replaceAll('"users".', '')
    const columns = (db.sqlite.pragma('table_info(users)') as { name: string }[]).map(({ name }) => `"${name}"`).join()
    const folder = withAnother(
      [
        'PRAGMA foreign_keys=OFF;',
        `${made};`,
        `INSERT INTO __new_users (${columns}) SELECT ${columns} FROM users;`,
        'DROP TABLE users;',
        'ALTER TABLE __new_users RENAME TO users;',
        'PRAGMA foreign_keys=ON;',
        'ALTER TABLE users ADD COLUMN nickname text;'
      ].join('--> statement-breakpoint\n')
    )
    expect(migrateDatabase(db, folder)).toMatchObject({ applied: ['9999_another'] })
    expect(lostRows(before, contentOf(db.sqlite))).toEqual([])
    expect(db.sqlite.pragma('foreign_keys', { simple: true })).toBe(1)
  })
})

describe('a failed migration leaves the database unchanged', () => {
  test.each([
    [
      'fails halfway',
      `DELETE FROM coupons;--> statement-breakpoint\nCREATE TABLE users (id integer);`,
      'already exists'
    ],
    ['leaves rows without their parents', 'DELETE FROM products;', 'refer to rows that do not exist'],
    [
      'violates a CHECK constraint',
      `PRAGMA ignore_check_constraints = ON; UPDATE sessions SET remember_me = 7;`,
      'CHECK'
    ]
  ])('when it %s', (_what, sql, reason) => {
    const { db } = golden(newest)
    const before = contentOf(db.sqlite)
    expect(() => migrateDatabase(db, withAnother(sql))).toThrow(reason)
    expect(contentOf(db.sqlite)).toEqual(before)
    expect(migrationStatus(db).version).toBe(newest)
    expect(db.sqlite.pragma('foreign_keys', { simple: true })).toBe(1)
  })

  test('when its process is killed', async () => {
    const { db, dataDir } = golden(newest)
    const before = contentOf(db.sqlite)
    const folder = withAnother(
      `DELETE FROM coupon_products;
       CREATE TABLE numbers AS WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n LIMIT 1000000000) SELECT x FROM n;`
    )
    const script = `
      const { openDatabase } = await import('./src/platform/db/database.ts')
      const { migrateDatabase } = await import('./src/platform/db/migrate.ts')
      const db = openDatabase(${JSON.stringify(join(dataDir, 'shopstead.db'))})
      console.log('begins')
      migrateDatabase(db, ${JSON.stringify(folder)})`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script])
    const ended = exitOf(child)
    await new Promise((resolve) => child.stdout.once('data', resolve))
    await new Promise((resolve) => setTimeout(resolve, 400))
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    expect(contentOf(db.sqlite)).toEqual(before)
    expect(db.sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
  })
})

describe('shopstead migrate', () => {
  /** A database with only the first migration applied. */
  function oldShop(): { dataDir: string; db: Db } {
    const dataDir = join(temporaryFolder(), 'data')
    mkdirSync(dataDir)
    const folder = join(temporaryFolder(), 'migrations')
    cpSync(ours, folder, { recursive: true })
    const file = join(folder, 'meta', '_journal.json')
    const meta = JSON.parse(readFileSync(file, 'utf8')) as { entries: object[] }
    writeFileSync(file, JSON.stringify({ ...meta, entries: meta.entries.slice(0, 1) }))
    const db = openDatabase(join(dataDir, 'shopstead.db'))
    migrateDatabase(db, folder)
    onTestFinished(() => void db.sqlite.close())
    return { dataDir, db }
  }
  const pending = journal()
    .slice(1)
    .map(({ tag }) => tag)

  test('backs up a database with rows before it changes it', async () => {
    const { dataDir, db } = oldShop()
    db.sqlite.exec(`INSERT INTO settings (key, value, updated_at) VALUES ('shop.name', '"Old"', 0)`)
    expect(await runShopstead(dataDir, ['serve', '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'CONFLICT', message: expect.stringContaining('shopstead migrate') } }
    })
    const migrated = await runShopstead<{ snapshot: string }>(dataDir, ['migrate', '--json'])
    expect(migrated).toMatchObject({ code: 0, json: { version: newest, applied: pending, pending: [] } })
    const { json, code } = await runShopstead(dataDir, ['backup', 'verify', migrated.json.snapshot, '--json'])
    expect({ code, json }).toMatchObject({ code: 0, json: { verified: true, counts: { settings: 1 } } })
    expect(migrated.json.snapshot).toMatch(/before-migration\.db$/)
  })

  test('makes no backup of an empty or current database', async () => {
    const { dataDir } = oldShop()
    expect((await runShopstead(dataDir, ['migrate', '--json'])).json).toMatchObject({
      applied: pending,
      snapshot: null
    })
    expect((await runShopstead(dataDir, ['migrate', '--json'])).json).toMatchObject({ applied: [], snapshot: null })
    expect(existsSync(join(dataDir, 'backups'))).toBe(false)
  })

  test('reports pending migrations with --status and changes nothing', async () => {
    const { dataDir } = oldShop()
    const status = { version: journal()[0]?.tag, applied: [journal()[0]?.tag], pending }
    expect((await runShopstead(dataDir, ['migrate', '--status', '--json'])).json).toEqual(status)
    const nowhere = join(temporaryFolder(), 'data')
    expect((await runShopstead(nowhere, ['migrate', '--status', '--json'])).json).toMatchObject({ version: null })
    expect(existsSync(nowhere)).toBe(false)
  })

  test('rejects a database of a newer Shopstead with one line, as every other command does', async () => {
    const { dataDir, db } = golden(newest)
    db.sqlite.exec(`INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', ${Date.UTC(2100, 0, 1)})`)
    for (const command of [['migrate'], ['serve'], ['orders', 'list']]) {
      const { code, stderr } = await runShopstead(dataDir, command)
      expect(code).toBe(1)
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(stderr).toContain('newer Shopstead')
    }
  })

  test('applies each migration once when two processes run it at the same time', async () => {
    const { dataDir } = oldShop()
    const both = await Promise.all([1, 2].map(() => runShopstead(dataDir, ['migrate', '--json'])))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(both.flatMap(({ json }) => json['applied'])).toEqual(pending)
  })
})
