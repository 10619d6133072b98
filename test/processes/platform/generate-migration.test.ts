import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { journal, migrateDatabase } from '../../../src/platform/db/migrate.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const migrations = 'src/platform/db/migrations'

/** A copy of the sources in which db:generate can run. */
function copySources(): string {
  const copy = temporaryFolder()
  for (const name of ['src', '.config', 'package.json', 'tsconfig.json']) {
    cpSync(name, join(copy, name), { recursive: true })
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  return copy
}

function edit(file: string, instead: string, text: string): void {
  const before = readFileSync(file, 'utf8')
  expect(before).toContain(instead)
  writeFileSync(file, before.replace(instead, text))
}

function generate(copy: string, ...options: string[]): void {
  execFileSync('node', ['.config/generate-migration.ts', '--name', 'fixture', ...options], { cwd: copy, stdio: 'pipe' })
}

/** The database of the newest version, with rows in every table, after the migrations of a copy. */
function migratedShop(copy: string): Database.Database & Disposable {
  const file = join(temporaryFolder(), 'shopstead.db')
  writeFileSync(file, gunzipSync(readFileSync(`test/golden/${journal().at(-1)?.tag}.db.gz`)))
  const db = openDatabase(file)
  migrateDatabase(db, join(copy, migrations))
  return Object.assign(db.sqlite, { [Symbol.dispose]: () => void db.sqlite.close() })
}

const value = (sqlite: Database.Database, sql: string): unknown => sqlite.prepare(sql).pluck().get()

describe('a generated migration', () => {
  it('builds tables again with their triggers, STRICT, rows and ids', () => {
    const copy = copySources()
    const states = join(copy, 'src/shop/orders/states.ts')
    const row = readFileSync(states, 'utf8').match(/ {2}processing: \{.*?\n {2}\},\n/s)?.[0] ?? ''
    edit(states, row, `${row}${row.replace('processing', 'packed')}`)
    edit(join(copy, 'src/shop/orders/schema.ts'), 'orders are never deleted', 'no order is deleted')
    edit(
      join(copy, 'src/shop/orders/schema.ts'),
      "notes: personal(text('notes'), null),",
      "notes: personal(text('notes'), null), gift: notPersonal(text('gift')),"
    )
    edit(
      join(copy, 'src/shop/settings/schema.ts'),
      `integer('value').notNull()`,
      `integer('value').notNull().default(1)`
    )
    using before = migratedShop('.')
    generate(copy)
    using after = migratedShop(copy)

    const count = 'SELECT count(*) FROM orders'
    expect(value(after, count)).toBe(value(before, count))
    const sequence = `SELECT seq FROM sqlite_sequence WHERE name = 'orders'`
    expect(value(after, sequence)).toBe(value(before, sequence))
    expect(value(after, `SELECT strict FROM pragma_table_list WHERE name = 'orders'`)).toBe(1)

    expect(value(after, 'SELECT count(gift) FROM orders')).toBe(0)

    const id = `(SELECT max(id) FROM orders WHERE user_id IS NOT NULL)`
    expect(() => after.exec(`DELETE FROM orders WHERE id = ${id}`)).toThrow('no order is deleted')
    expect(() => after.exec('DELETE FROM order_history')).toThrow('append-only')
    expect(() => after.exec(`UPDATE orders SET status = 'lost' WHERE id = ${id}`)).toThrow('orders_status')
    after.exec(`UPDATE orders SET status = 'packed' WHERE id = ${id}`)

    const total = `SELECT total FROM customer_order_totals WHERE user_id = (SELECT user_id FROM orders WHERE id = ${id})`
    const expected = Number(value(after, total)) - 1
    const userId = value(after, `SELECT user_id FROM orders WHERE id = ${id}`)
    after.exec(`UPDATE orders SET user_id = NULL WHERE id = ${id}`)
    expect(value(after, `SELECT total FROM customer_order_totals WHERE user_id = ${String(userId)}`)).toBe(expected)

    const revision = `SELECT value FROM revisions WHERE name = 'settings'`
    const known = Number(value(after, revision))
    after.exec(`UPDATE modules SET enabled = 0`)
    expect(value(after, revision)).toBeGreaterThan(known)
  })

  it('is asked for by a trigger that has changed, with --custom', () => {
    const copy = copySources()
    edit(join(copy, 'src/shop/orders/schema.ts'), 'orders are never deleted', 'no order is deleted')
    expect(() => generate(copy)).toThrow(
      'Triggers differ from those in src/shop/**/schema.ts: orders_kept. Pass --custom'
    )
    generate(copy, '--custom')
    using shop = migratedShop(copy)
    expect(() => shop.exec('DELETE FROM orders')).toThrow('no order is deleted')
  })

  it('is not written where nothing has changed, and leaves earlier ones as they are', () => {
    const copy = copySources()
    generate(copy)
    const files = (folder: string): Record<string, string> =>
      Object.fromEntries(
        globSync('**/*.*', { cwd: folder }).map((file) => [file, readFileSync(join(folder, file), 'utf8')])
      )
    expect(files(join(copy, migrations))).toEqual(files(migrations))
  })
})
