import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { bool, json } from '../../../src/platform/db/columns.ts'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import { insertion } from '../../../src/platform/db/insert.ts'

const lamps = sqliteTable('lamps', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
  color: text('color').default('green'),
  lit: bool('lit').notNull().default(true),
  size: json('size', z.object({ cm: z.int() }))
})
const newLamp = insertion(lamps)

function openLamps() {
  const db = openDatabase(':memory:')
  db.sqlite.exec(
    'CREATE TABLE lamps (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, color TEXT, lit INTEGER NOT NULL, size TEXT)'
  )
  return db
}

it('stores a row as the query builder does: defaults for columns that it leaves out, and null where it says null', () => {
  const db = openLamps()
  const rows = [
    { name: 'left out' },
    { name: 'undefined', color: undefined, lit: undefined, size: undefined },
    { name: 'null', color: null, size: null },
    { id: 70, name: 'given', color: 'red', lit: false, size: { cm: 12 } }
  ]
  const returned = write(db, (tx) => rows.map((row) => newLamp.get(tx, row)))
  const built = write(db, (tx) =>
    rows.map((row) =>
      tx.orm
        .insert(lamps)
        .values({ ...row, id: undefined })
        .returning()
        .get()
    )
  )
  expect(returned).toEqual([
    { id: 1, name: 'left out', color: 'green', lit: true, size: null },
    { id: 2, name: 'undefined', color: 'green', lit: true, size: null },
    { id: 3, name: 'null', color: null, lit: true, size: null },
    { id: 70, name: 'given', color: 'red', lit: false, size: { cm: 12 } }
  ])
  expect(built.map((row, index) => ({ ...row, id: returned[index]?.id }))).toEqual(returned)
})

it('inserts a row without reading it', () => {
  const db = openLamps()
  write(db, (tx) => newLamp.run(tx, { name: 'harbour', size: { cm: 3 } }))
  expect(db.orm.select().from(lamps).all()).toEqual([
    { id: 1, name: 'harbour', color: 'green', lit: true, size: { cm: 3 } }
  ])
})
