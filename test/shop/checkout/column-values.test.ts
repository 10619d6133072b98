import { is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { expect, test } from 'vitest'
import * as affiliates from '../../../src/shop/affiliates/schema.ts'
import * as checkout from '../../../src/shop/checkout/schema.ts'
import * as payments from '../../../src/shop/payments/schema.ts'
import { emptyShop } from '../orders/temporary-shop.ts'

const lists = [affiliates, checkout, payments]
  .flatMap((schema) => Object.values(schema))
  .filter((table) => is(table, SQLiteTable))
  .flatMap((table) => {
    const { name, columns } = getTableConfig(table)
    return columns.flatMap((column) =>
      column.enumValues === undefined ? [] : [{ table: name, column: column.name, values: column.enumValues }]
    )
  })

test.each(lists)(
  '$table.$column takes in the database what it takes in the code: $values',
  ({ table, column, values }) => {
    const { sqlite } = emptyShop()
    const sql = String(sqlite.prepare('SELECT sql FROM sqlite_master WHERE name = ?').pluck().get(table))
    const [, allowed = ''] = new RegExp(`"${column}" IN \\(([^)]*)\\)`).exec(sql) ?? []
    expect(allowed.split(', ')).toEqual(values.map((value: string) => `'${value}'`))
  }
)
