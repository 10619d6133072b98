import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase, disableBusyTimeout, writeWhenFree } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A server's connection, and a connection of another process that has just begun to write. */
function lockedDatabase(lockTimeoutMs?: number): { db: Db; release: () => void } {
  const file = join(temporaryFolder(), 'some.db')
  const [db, other] = [openDatabase(file, { lockTimeoutMs }), openDatabase(file)]
  onTestFinished(() => [db, other].forEach(({ sqlite }) => void sqlite.close()))
  db.sqlite.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
  disableBusyTimeout(db.sqlite)
  other.sqlite.exec('BEGIN IMMEDIATE')
  return { db, release: () => void other.sqlite.exec('COMMIT') }
}

const note = (db: Db, text: string): Promise<unknown> =>
  writeWhenFree(db, (tx) => void tx.sqlite.prepare('INSERT INTO notes (text) VALUES (?)').run(text))
const notes = (db: Db): unknown[] => db.sqlite.prepare('SELECT text FROM notes ORDER BY id').pluck().all()

test('writes wait for the lock in their order while reads go on', async () => {
  const { db, release } = lockedDatabase()
  const writes = Promise.all(['first', 'second', 'third'].map((text) => note(db, text)))
  // The first turn tries to write. A try that waited for the lock would keep these turns from coming, and then fail.
  for (let turns = 0; turns < 20; turns += 1) {
    await turn()
    expect(notes(db)).toEqual([])
  }
  release()
  const late = note(db, 'fourth')
  await Promise.all([writes, late])
  expect(notes(db)).toEqual(['first', 'second', 'third', 'fourth'])
})

test('a write fails and writes nothing when the lock is not free within its timeout', async () => {
  const { db, release } = lockedDatabase(200)
  const started = performance.now()
  const refusals = await Promise.allSettled([note(db, 'first'), note(db, 'second')])
  expect(refusals).toMatchObject([
    { status: 'rejected', reason: { code: 'SQLITE_BUSY' } },
    { status: 'rejected', reason: { code: 'SQLITE_BUSY' } }
  ])
  expect(performance.now() - started).toBeGreaterThan(190)
  release()
  await note(db, 'third')
  expect(notes(db)).toEqual(['third'])
})

test('a write whose own work fails rejects at once and delays no other write', async () => {
  const { db, release } = lockedDatabase()
  const waiting = writeWhenFree(db, () => {
    throw new Error('not this one')
  })
  const next = note(db, 'next')
  release()
  await expect(waiting).rejects.toThrow('not this one')
  await next
  expect(notes(db)).toEqual(['next'])
})

test('writes of one turn share one transaction, and a failed one rolls back only itself', async () => {
  const { db, release } = lockedDatabase()
  release()
  db.sqlite.exec('CREATE TABLE numbers (value INTEGER PRIMARY KEY) STRICT')
  const other = openDatabase(db.sqlite.name)
  onTestFinished(() => void other.sqlite.close())
  const seenBeside = (): unknown[] => other.sqlite.prepare('SELECT value FROM numbers ORDER BY value').pluck().all()
  const put = (value: number): Promise<unknown> =>
    writeWhenFree(db, (tx) => {
      tx.sqlite.prepare('INSERT INTO numbers VALUES (?)').run(value)
      if (value === 3) throw new Error('not three')
      return seenBeside()
    })
  const outcomes = await Promise.allSettled([1, 2, 3, 2, 4].map((value) => put(value)))
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: [] },
    { status: 'fulfilled', value: [] },
    { status: 'rejected', reason: { message: 'not three' } },
    { status: 'rejected', reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } },
    { status: 'fulfilled', value: [] }
  ])
  expect(seenBeside()).toEqual([1, 2, 4])
})

test('a write that undoes the shared transaction fails alone, and the others are written', async () => {
  const { db, release } = lockedDatabase()
  release()
  const undoAll = writeWhenFree(db, (tx) => {
    tx.sqlite.prepare("INSERT INTO notes (text) VALUES ('undone')").run()
    tx.sqlite.exec('ROLLBACK')
    throw new Error('nothing is left')
  })
  const outcomes = await Promise.allSettled([note(db, 'before'), undoAll, note(db, 'after')])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(notes(db)).toEqual(['before', 'after'])
})

test('hundreds of writes of one turn are all written in order, and other work runs between batches', async () => {
  const { db, release } = lockedDatabase()
  release()
  const texts = Array.from({ length: 300 }, (_, index) => `note ${index}`)
  let turns = 0
  const ticking = setInterval(() => (turns += 1), 0)
  await Promise.all(texts.map((text) => note(db, text)))
  clearInterval(ticking)
  expect(notes(db)).toEqual(texts)
  expect(turns).toBeGreaterThan(0)
})
