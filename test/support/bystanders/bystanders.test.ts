import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { dropHolder } from '../../../src/shop/orders/holds.ts'
import { emptyShop } from '../temporary-shop.ts'
import { forEveryRow } from './for-every-row.ts'
import { columnsOf, file, idShift, statesOf, tablesOf } from './prepare.ts'
import type { Kind } from './prepare.ts'
import { isListedRead, listedReads } from './reads-of-every-row.ts'
import { bystandersOf, changeBystanders, kindOfStatement, preparedFolder, watchBystanders } from './watch.ts'

function open(kind: Kind): Database.Database {
  const sqlite = new Database(file(preparedFolder(), kind), { readonly: true })
  onTestFinished(() => void sqlite.close())
  return sqlite
}

describe.each(['shopstead', 'sandbox', 'limits'] as const)('the bystanders of %s.db', (kind) => {
  it('have a row in each table, in each state that the table allows', () => {
    const sqlite = open(kind)
    const missing = tablesOf(sqlite).flatMap((table) => [
      ...(sqlite.prepare(`SELECT 1 FROM "${table}"`).get() === undefined ? [table] : []),
      ...[...statesOf(sqlite, table)].flatMap(([column, values]) =>
        values
          .filter((value) => sqlite.prepare(`SELECT 1 FROM "${table}" WHERE "${column}" = ?`).get(value) === undefined)
          .map((value) => `${table}.${column} = ${value}`)
      )
    ])
    expect(missing).toEqual([])
    expect(tablesOf(sqlite)).not.toEqual([])
  })

  it('have IDs of their own, and nothing about them is due before the year 2100', () => {
    const sqlite = open(kind)
    const near = tablesOf(sqlite).flatMap((table) =>
      columnsOf(sqlite, table)
        .filter(({ name, type }) => type === 'INTEGER' && (name === 'id' || name.endsWith('_at')))
        .filter(({ name }) => {
          const first = name === 'id' ? idShift : Date.UTC(2100, 0, 1)
          return sqlite.prepare(`SELECT 1 FROM "${table}" WHERE "${name}" BETWEEN 2 AND ?`).get(first - 1) !== undefined
        })
        .map(({ name }) => `${table}.${name}`)
    )
    expect(near).toEqual([])
  })

  it('notice a change and a deletion of every row of each table, and stay as they are', () => {
    const sqlite = open(kind)
    const bystanders = bystandersOf(preparedFolder())(kind)
    const unnoticed = tablesOf(sqlite).flatMap((table) => {
      const column = columnsOf(sqlite, table)[0]?.name
      const all = [`UPDATE "${table}" SET "${column}" = "${column}"`, `DELETE FROM "${table}"`]
      return [...all, ...all].filter((sql) => bystanders.changesOf(sql, []) === 0)
    })
    expect(unnoticed).toEqual([])
    const noticed = tablesOf(sqlite).filter((table) => bystanders.changesOf(`DELETE FROM "${table}" WHERE 0`, []) !== 0)
    expect(noticed).toEqual([])
  })
})

describe('the watch', () => {
  it('notices a statement of the product that changes a bystander, unless the test does so on purpose', () => {
    const db = emptyShop()
    const watch = watchBystanders()
    const bystander = Number(open('shopstead').prepare('SELECT order_id FROM order_holders').pluck().get())
    write(db, (tx) => dropHolder(tx, bystander - 1))
    expect([...watch.touched]).toEqual([])

    write(db, (tx) => dropHolder(tx, bystander))
    expect([...watch.touched]).toEqual([
      expect.stringMatching(
        /^src\/shop\/orders\/holds\.ts:\d+ changes 1 rows of bystanders: delete from "order_holders"/
      )
    ])

    watch.touched.clear()
    changeBystanders()
    write(db, (tx) => dropHolder(tx, bystander))
    expect([...watch.touched]).toEqual([])
  })

  it('tells a SELECT that reads every row from those with a condition', () => {
    const kinds = [
      'select "id" from "orders"',
      'SELECT id\n FROM orders ORDER BY id',
      'select "id" from "orders" where "id" = ?',
      'SELECT total_changes()',
      'UPDATE orders SET status = ?'
    ].map(kindOfStatement)
    expect(kinds).toEqual(['reads everything', 'reads everything', 'other', 'other', 'changes rows'])
    expect(isListedRead('src/shop/benefits/plans.ts', 'select "id" from "plans" order by "plans"."slug"')).toBe(true)
    expect(isListedRead('src/shop/orders/find.ts', 'select "id" from "plans" order by "plans"."slug"')).toBe(false)
    expect(isListedRead('src/shop/benefits/plans.ts', 'select "id" from "plans"')).toBe(false)
  })

  it('lists only SELECTs that the schema knows', () => {
    const databases = [open('shopstead'), open('sandbox'), open('limits')]
    const unknown = listedReads.filter((sql) => !databases.some((sqlite) => runsOn(sqlite, sql)))
    expect(unknown).toEqual([])
  })

  it('ignores the statements of the test itself', () => {
    emptyShop().sqlite.exec('DELETE FROM settings')
    emptyShop().sqlite.prepare('DELETE FROM settings').run()
    expect([...watchBystanders().touched]).toEqual([])
  })

  it('excuses only statements that the schema knows', () => {
    const databases = [open('shopstead'), open('sandbox'), open('limits')]
    const unknown = forEveryRow.filter(({ statement }) => !databases.some((sqlite) => runsOn(sqlite, statement)))
    expect(unknown).toEqual([])
    expect(databases.some((sqlite) => runsOn(sqlite, 'DELETE FROM nothing'))).toBe(false)
  })
})

function runsOn(sqlite: Database.Database, statement: string): boolean {
  try {
    return sqlite.prepare(statement).source === statement
  } catch {
    return false
  }
}
