import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { oncePerTurn } from '../../../src/platform/once-for.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('a value read once per turn is read again after a write, in the next turn and inside a transaction', async () => {
  const file = join(temporaryFolder(), 'shop.db')
  const [db, another] = [openDatabase(file), openDatabase(file)]
  onTestFinished(() => [db, another].forEach(({ sqlite }) => void sqlite.close()))
  db.sqlite.exec('CREATE TABLE counters (value INTEGER) STRICT; INSERT INTO counters VALUES (1)')
  let reads = 0
  const value = oncePerTurn((db: Db) => {
    reads += 1
    return db.sqlite.prepare('SELECT value FROM counters').pluck().get()
  })
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
})
