import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, expect, test } from 'vitest'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import { insertStatement, rowStatement, rowsStatement, updateStatement } from '../../../src/platform/db/statements.ts'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-statements-'))
const db = openDatabase(join(folder, 'shop.db'))
const { sqlite } = db

afterAll(() => {
  sqlite.close()
  rmSync(folder, { recursive: true })
})

test('a row is inserted, updated and read with any set of columns', () => {
  const lamps = sqliteTable('lamps', {
    id: integer('id').primaryKey({ autoIncrement: true }),
    name: text('name').notNull(),
    isLit: integer('is_lit', { mode: 'boolean' }).notNull().default(true),
    panes: text('panes', { mode: 'json' }).$type<readonly string[]>()
  })
  sqlite.exec(
    'CREATE TABLE lamps (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, is_lit INTEGER NOT NULL DEFAULT 1, panes TEXT) STRICT'
  )
  const insert = insertStatement(lamps)
  const update = updateStatement(lamps)
  const byId = rowStatement(lamps, 'id = ?')
  const from = rowsStatement(lamps, 'id >= ? ORDER BY id DESC')
  const [plain, full] = write(db, (tx) => [
    insert(tx, { name: 'plain', panes: undefined }),
    insert(tx, { name: 'full', isLit: false, panes: ['red', 'blue'] })
  ])
  expect(byId(db, plain ?? 0)).toEqual({ id: plain, name: 'plain', isLit: true, panes: null })
  expect(byId(db, full ?? 0)).toEqual({ id: full, name: 'full', isLit: false, panes: ['red', 'blue'] })
  expect(byId(db, 1000)).toBeUndefined()
  expect(from(db, plain ?? 0)).toEqual([byId(db, full ?? 0), byId(db, plain ?? 0)])
  expect(from(db, 1000)).toEqual([])
  write(db, (tx) => {
    update(tx, full ?? 0, { panes: null })
    update(tx, plain ?? 0, { isLit: false, name: 'dark' })
    // Null is SQL NULL, not the JSON text `null`. A column without a value does not change.
    insert(tx, { name: 'bare', panes: null })
  })
  expect(sqlite.prepare('SELECT name, is_lit AS lit, panes FROM lamps ORDER BY id').all()).toEqual([
    { name: 'dark', lit: 0, panes: null },
    { name: 'full', lit: 0, panes: null },
    { name: 'bare', lit: 1, panes: null }
  ])
})
