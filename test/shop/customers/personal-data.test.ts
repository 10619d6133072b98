import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import type { Db } from '../../../src/platform/db/database.ts'
import { isDeletedWithPerson, markOf } from '../../../src/platform/db/personal.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { exportPerson } from '../../../src/shop/customers/export-person.ts'
import { golden, newest } from '../../operations/migrate-support.ts'

const files = globSync('src/shop/**/schema.ts').map((file) => pathToFileURL(resolve(file)).href)
const modules = await Promise.all(files.map((file) => import(file) as Promise<Record<string, unknown>>))
const tables = modules.flatMap((module) => Object.values(module)).filter((value) => is(value, SQLiteTable))
type Table = ReturnType<typeof getTableConfig>
type Column = Table['columns'][number]

/** The tables whose rows lead to an account or an order by foreign keys, or by the id in a column. */
function tablesOfPersons(): Set<string> {
  const found = new Set(['users', 'orders'])
  const leads = ({ columns, foreignKeys }: Table): boolean =>
    columns.some(({ name }) => name === 'user_id' || name === 'order_id') ||
    foreignKeys.some((key) => found.has(getTableName(key.reference().foreignTable)))
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const table of tables.map(getTableConfig)) if (leads(table)) found.add(table.name)
  }
  return found
}

const canHoldText = ({ dataType, enumValues }: Column): boolean =>
  ['json', 'buffer'].includes(dataType) || (dataType === 'string' && (enumValues ?? []).length === 0)

/** The columns whose mark is missing: each column of an account, and every free text of what belongs to a person. */
function undecided(): string[] {
  const ofPersons = tablesOfPersons()
  return tables
    .filter((table) => !isDeletedWithPerson(table))
    .map(getTableConfig)
    .filter(({ name, columns }) => ofPersons.has(name) || columns.some((column) => markOf(column) !== undefined))
    .flatMap(({ name, columns }) =>
      columns
        .filter((column) => markOf(column) === undefined)
        .filter((column) => (name === 'users' ? !column.primary : canHoldText(column)))
        .map((column) => `${name}.${column.name}`)
    )
}

const marked = (...kinds: string[]): { table: string; column: Column }[] =>
  tables.map(getTableConfig).flatMap(({ name: table, columns }) =>
    columns
      .filter((column) => kinds.includes(markOf(column)?.kind ?? ''))
      .filter(canHoldText)
      .map((column) => ({ table, column }))
  )

/** Where the rows of the person are: the first order, its parts, and the account of the first affiliate. */
const rowsOf: Record<string, string> = {
  users: 'id = (SELECT user_id FROM affiliates WHERE id = 1)',
  affiliates: 'id = 1',
  orders: 'id = 1',
  shipments: 'order_id = 1',
  order_changes: 'order_id = 1',
  declarations: 'order_id = 1',
  gift_cards: 'order_id = 1',
  order_coupons: 'order_id = 1',
  mails: 'id = (SELECT max(id) FROM mails)'
}

const traceOf = (table: string, { name }: Column): string => `trace ${table} ${name}.`
/** A text in the column, in the shape that its table requires. */
function storedTrace(table: string, column: Column): string {
  const trace = traceOf(table, column)
  if (column.dataType === 'json') return JSON.stringify({ firstName: trace })
  if (column.name === 'customer_key') return `email:${trace}`
  return trace
}

/** A shop in which every personal column of one person contains a text of its own. */
function shopWithTraces(): { db: Db; userId: number } {
  const { db } = golden(newest)
  const userId = Number(db.sqlite.prepare('SELECT user_id FROM affiliates WHERE id = 1').pluck().get())
  db.sqlite.prepare('UPDATE orders SET user_id = ? WHERE id = 1').run(userId)
  db.sqlite
    .prepare(`UPDATE mails SET data = json_object('userId', ?) WHERE id = (SELECT max(id) FROM mails)`)
    .run(userId)
  const { coupon } = db.sqlite.prepare('SELECT id AS coupon FROM coupons LIMIT 1').get() as { coupon: number }
  db.sqlite
    .prepare(
      `INSERT OR IGNORE INTO order_coupons (order_id, coupon_id, code, discount_minor, counted) VALUES (1, ?, 'X', 0, 1)`
    )
    .run(coupon)
  for (const { table, column } of marked('personal', 'internal')) {
    const where = rowsOf[table] ?? `the test does not know the rows of ${table}`
    const value = storedTrace(table, column)
    const { changes } = db.sqlite.prepare(`UPDATE ${table} SET ${column.name} = ? WHERE ${where}`).run(value)
    expect(changes, `${table}.${column.name}`).toBeGreaterThan(0)
  }
  return { db, userId }
}

describe('the personal data of a shop', () => {
  it('is marked: every column of a person has a mark, or a test fails', () => {
    expect(undecided()).toEqual([])
  })

  it('is exported, column by column', () => {
    const { db, userId } = shopWithTraces()
    const exported = JSON.stringify(exportPerson(db, getUserById(db, userId), 0))
    const missing = marked('personal').filter(({ table, column }) => !exported.includes(traceOf(table, column)))
    expect(missing.map(({ table, column }) => `${table}.${column.name}`)).toEqual([])
  })

  it('is erased, column by column and in the tables whose rows go', () => {
    const { db, userId } = shopWithTraces()
    erasePerson(db, userId, 0)
    const names = db.sqlite.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all()
    const rest = names.flatMap((name) => db.sqlite.prepare(`SELECT * FROM "${name}"`).all())
    expect([...JSON.stringify(rest).matchAll(/trace \w+ \w+\./g)].map(([trace]) => trace)).toEqual([])
    for (const table of tables.filter(isDeletedWithPerson)) {
      const left = db.sqlite
        .prepare(`SELECT count(*) FROM ${getTableName(table)} WHERE user_id = ?`)
        .pluck()
        .get(userId)
      expect([getTableName(table), left]).toEqual([getTableName(table), 0])
    }
  })

  it('is kept in a column only for a reason', () => {
    const kept = tables.map(getTableConfig).flatMap(({ name: table, columns }) =>
      columns.flatMap((column) => {
        const mark = markOf(column)
        return mark?.kind === 'kept' ? [{ column: `${table}.${column.name}`, reason: mark.reason }] : []
      })
    )
    expect(kept.map(({ column }) => column)).toContain('invoices.buyer')
    for (const { reason } of kept) expect(reason).toMatch(/^[A-Z].{20,}\.$/)
  })
})
