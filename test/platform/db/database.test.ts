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

test('the write-ahead log is checkpointed when it holds 16 MB', () => {
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

test('a value read once per turn is read again after a write, in the next turn and inside a transaction', async () => {
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
