import { is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { expect, test } from 'vitest'
import * as affiliates from '../../../src/shop/affiliates/schema.ts'
import * as checkout from '../../../src/shop/checkout/schema.ts'
import * as payments from '../../../src/shop/payments/schema.ts'
import { emptyShop } from '../../support/temporary-shop.ts'

const tables = [affiliates, checkout, payments]
  .flatMap((schema) => Object.values(schema))
  .filter((table) => is(table, SQLiteTable))
  .map((table) => getTableConfig(table))

test.each(tables)(
  'the columns of $name accept the same values in the code and in the database',
  ({ name, columns }) => {
    const { sqlite } = emptyShop()
    const sql = String(sqlite.prepare('SELECT sql FROM sqlite_master WHERE name = ?').pluck().get(name))
    const lists = sql.matchAll(/"(\w+)" IN \(('[^)]*')\)/g)
    const inDatabase = Object.fromEntries([...lists].map(([, column = '', list = '']) => [column, list.split(', ')]))
    const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`)
    const inCode = columns.flatMap((column) =>
      column.enumValues === undefined ? [] : [[column.name, quoted(column.enumValues)] as const]
    )
    expect(Object.fromEntries(inCode)).toEqual(inDatabase)
  }
)
