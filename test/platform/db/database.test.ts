import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { oncePerTurn, openDatabase, write } from '../../../src/platform/db/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-database-'))
const file = join(folder, 'shop.db')
const db = openDatabase(file)
const { sqlite } = db

afterAll(() => {
  sqlite.close()
  rmSync(folder, { recursive: true })
})

test('no statement leaves the planner a value to look at', () => {
  const { source } = sqlite.prepare(
    'SELECT ? AS a, @b AS b FROM (SELECT 1) WHERE 1 = ? ORDER BY a LIMIT ? OFFSET @most'
  )
  expect(source).toBe(
    'SELECT +? AS a, +@b AS b FROM (SELECT 1) WHERE 1 = +? ORDER BY a LIMIT CAST(? AS INTEGER) OFFSET CAST(@most AS INTEGER)'
  )
})

test('the write-ahead log is folded in when it holds 16 MB', () => {
  const filling = join(folder, 'filling.db')
  const { sqlite: filled } = openDatabase(filling)
  filled.exec('CREATE TABLE files (bytes BLOB) STRICT')
  const file = filled.prepare('INSERT INTO files VALUES (zeroblob(8 * 1024 * 1024))')
  file.run()
  expect(statSync(filling).size).toBeLessThan(1024 * 1024)
  file.run()
  expect(statSync(filling).size).toBeGreaterThan(16 * 1024 * 1024)
  filled.close()
})

test('values arrive as they were given, and what only looks like a parameter is left alone', () => {
  sqlite.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB, "of?" TEXT) STRICT')
  sqlite
    .prepare(`INSERT INTO things (id, text, bytes, "of?") VALUES (?, ?, ?, 'it''s ?') -- and ?`)
    .run(7, '007', Buffer.from([0, 255]))
  sqlite.prepare('INSERT INTO things (id, text) VALUES (@id, @text)').run({ id: 8, text: null })
  const rows = sqlite.prepare('SELECT id, text, bytes, "of?" AS "of" FROM things ORDER BY id LIMIT ? OFFSET ?')
  expect(rows.all(1, 0)).toEqual([{ id: 7, text: '007', bytes: Buffer.from([0, 255]), of: "it's ?" }])
  expect(rows.all(-1, 1)).toEqual([{ id: 8, text: null, bytes: null, of: null }])
})

test('what is read once a turn is read anew after a write, in the next turn, and inside a transaction', async () => {
  sqlite.exec('CREATE TABLE counters (value INTEGER) STRICT; INSERT INTO counters VALUES (1)')
  let reads = 0
  const value = oncePerTurn((db) => {
    reads += 1
    return db.sqlite.prepare('SELECT value FROM counters').pluck().get()
  })
  const another = openDatabase(file)
  await turn()
  expect([value(db), value(db), value(db), reads]).toEqual([1, 1, 1, 1])

  write(db, (tx) => void tx.sqlite.exec('UPDATE counters SET value = 2'))
  expect([value(db), value(db), reads]).toEqual([2, 2, 2])

  another.sqlite.exec('UPDATE counters SET value = 3')
  await turn()
  expect([value(db), reads]).toEqual([3, 3])

  const rollBack = new Error('and back')
  const provisional = (): unknown =>
    write(db, (tx) => {
      tx.sqlite.exec('UPDATE counters SET value = 4')
      expect([value(tx), value(tx)]).toEqual([4, 4])
      throw rollBack
    })
  expect(provisional).toThrow(rollBack)
  expect(value(db)).toBe(3)
  another.sqlite.close()
})
