import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareSchema } from '../../src/operations/backup/inspect.ts'
import { journal, migrateDatabase, migrationStatus } from '../../src/platform/db/migrate.ts'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wrongTotals } from '../support/wrong-totals.ts'
import { another, contentOf, golden, goldenFolder, newest, shopBeforeBaseline, withAnother } from './migrate-support.ts'
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
    expect(migrateDatabase(db)).toMatchObject({ version: newest, pending: [], other: null })
    expect(lostRows(before, contentOf(db.sqlite))).toEqual([])
    expect(compareSchema(db.sqlite)).toEqual({ problem: undefined, additions: [] })
    expect(wrongTotals(db.sqlite)).toEqual([])
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
    expect(migrateDatabase(db, folder)).toMatchObject({ applied: [another] })
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

const moveAway = 'this version cannot migrate it: move the data folder away'

describe('shopstead migrate', () => {
  it('makes no backup of a database that is up to date', async () => {
    const dataDir = temporaryFolder()
    expect((await shopstead(dataDir, ['init', '--json'])).code).toBe(0)
    expect((await shopstead(dataDir, ['migrate', '--json'])).json).toMatchObject({ applied: [], snapshot: null })
    expect(existsSync(join(dataDir, 'backups'))).toBe(false)
  })

  it('writes nothing with --status', async () => {
    const nowhere = join(temporaryFolder(), 'data')
    const pending = journal().map(({ tag }) => tag)
    const status = { version: null, applied: [], pending }
    expect((await shopstead(nowhere, ['migrate', '--status', '--json'])).json).toEqual(status)
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

  it.each([['migrate'], ['serve'], ['dev', '--port', '0'], ['orders', 'list']])(
    'refuses a database from before the baseline with one line: %s',
    async (...command) => {
      const { dataDir, db } = shopBeforeBaseline()
      const before = contentOf(db.sqlite)
      const { code, stderr } = await shopstead(dataDir, command)
      expect({ code, stderr: stderr.trim() }).toEqual({ code: 1, stderr: expect.stringContaining(moveAway) })
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(contentOf(db.sqlite)).toEqual(before)
    }
  )

  it('reports a database from before the baseline in its status and in health', async () => {
    const { dataDir } = shopBeforeBaseline()
    writeFileSync(join(dataDir, 'secret.key'), 'k'.repeat(43), { mode: 0o600 })
    expect((await shopstead(dataDir, ['migrate', '--status'])).stdout).toContain('before version 1.0.0')
    const { json } = await shopstead<{ checks: object[] }>(dataDir, ['health', '--json'])
    expect(json.checks).toContainEqual({
      name: 'migrations',
      status: 'failed',
      message: expect.stringContaining('before version 1.0.0'),
      advice: expect.stringContaining('Move the data folder away')
    })
  })
})
