import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareSchema } from '../../src/operations/backup/compare-schema.ts'
import { journal, migrateDatabase, migrationStatus } from '../../src/platform/db/migrate.ts'
import { findProducts } from '../../src/shop/catalog/search/find-products.ts'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wrongTotals } from '../support/wrong-totals.ts'
import { contentOf, golden, goldenFolder, newest, oldShop, withAnother } from './migrate-support.ts'
import type { Rows } from './migrate-support.ts'

/** The rows of `before` that are missing or changed in `after`; columns and tables may be new. */
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
  it('exists for the newest schema version, with a row in each table', () => {
    expect(versionsKept).toContain(newest)
    const { db } = golden(newest)
    expect([...contentOf(db.sqlite)].filter(([, rows]) => rows.length === 0).map(([table]) => table)).toEqual([])
  })

  it.each(versionsKept)('of %s is migrated to the newest version with every row unchanged', (tag) => {
    const { db } = golden(tag)
    const before = contentOf(db.sqlite)
    expect(compareSchema(db.sqlite)).toEqual({ problem: undefined, additions: [] })
    expect(migrateDatabase(db)).toMatchObject({ version: newest, pending: [], newer: false })
    expect(lostRows(before, contentOf(db.sqlite))).toEqual([])
    expect(compareSchema(db.sqlite)).toEqual({ problem: undefined, additions: [] })
    expect(wrongTotals(db.sqlite)).toEqual([])
  })

  it('has a search index after the migration that creates it, like one that imports have filled', () => {
    const [migrated, filled] = ['0010_unpaid-guests', '0011_product-search'].map((tag) => golden(tag).db)
    if (migrated === undefined || filled === undefined) throw new Error('A golden database is missing.')
    for (const db of [migrated, filled]) migrateDatabase(db)
    for (const text of [undefined, 'lantern', 'lantren', 'wool', 'LAMP', '%', 'a_b'])
      for (const literal of [true, false]) {
        const query = { text, literal, page: 1, perPage: 100 }
        expect(findProducts(migrated, query, 0)).toEqual(findProducts(filled, query, 0))
      }
    expect(findProducts(migrated, { text: 'lantren', page: 1, perPage: 1 }, 0).total).toBeGreaterThan(0)
  })

  it('keeps the children of a table that a migration rebuilds', () => {
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

describe('a failed migration leaves the database as it was', () => {
  it.each([
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
})

describe('shopstead migrate', () => {
  const pending = journal()
    .slice(1)
    .map(({ tag }) => tag)

  it('copies a database that holds rows before it changes it', async () => {
    const { dataDir, db } = oldShop()
    db.sqlite.exec(`INSERT INTO settings (key, value, updated_at) VALUES ('shop.name', '"Old"', 0)`)
    expect(await shopstead(dataDir, ['serve', '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'CONFLICT', message: expect.stringContaining('shopstead migrate') } }
    })
    const migrated = await shopstead<{ snapshot: string }>(dataDir, ['migrate', '--json'])
    expect(migrated).toMatchObject({ code: 0, json: { version: newest, applied: pending, pending: [] } })
    const { json, code } = await shopstead(dataDir, ['backup', 'verify', migrated.json.snapshot, '--json'])
    expect({ code, json }).toMatchObject({ code: 0, json: { verified: true, counts: { settings: 1 } } })
    expect(migrated.json.snapshot).toMatch(/before-migration\.db$/)
  })

  it('copies no database that is empty or up to date', async () => {
    const { dataDir } = oldShop()
    expect((await shopstead(dataDir, ['migrate', '--json'])).json).toMatchObject({
      applied: pending,
      snapshot: null
    })
    expect((await shopstead(dataDir, ['migrate', '--json'])).json).toMatchObject({ applied: [], snapshot: null })
    expect(existsSync(join(dataDir, 'backups'))).toBe(false)
  })

  it('prints with --status what is pending, and writes nothing', async () => {
    const { dataDir } = oldShop()
    const status = { version: journal()[0]?.tag, applied: [journal()[0]?.tag], pending }
    expect((await shopstead(dataDir, ['migrate', '--status', '--json'])).json).toEqual(status)
    const nowhere = join(temporaryFolder(), 'data')
    expect((await shopstead(nowhere, ['migrate', '--status', '--json'])).json).toMatchObject({ version: null })
    expect(existsSync(nowhere)).toBe(false)
  })

  it('refuses a database of a newer Shopstead with one line, as every other command does', async () => {
    const { dataDir, db } = golden(newest)
    db.sqlite.exec(`INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', ${Date.UTC(2100, 0, 1)})`)
    for (const command of [['migrate'], ['serve'], ['orders', 'list']]) {
      const { code, stderr } = await shopstead(dataDir, command)
      expect(code).toBe(1)
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(stderr).toContain('newer Shopstead')
    }
  })
})
