import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { expect, test } from 'vitest'
import type { Db } from '../../../src/platform/db/database.ts'
import { isEmailOfOrder, listAllOrders, listOrdersOfPerson } from '../../../src/shop/orders/admin-view.ts'
import { countGuestOrders } from '../../../src/shop/orders/guest-orders.ts'
import { emptyShop } from '../../support/temporary-shop.ts'

const none = () => null
const email = 'lena@shop.example'
const lena = { id: 7, emailKey: email, emailVerifiedAt: 1 }

const looks: [string, (db: Db) => unknown][] = [
  ['an account', (db) => listAllOrders(db, { userId: 7, limit: 20 }, none)],
  ['an account and a state', (db) => listAllOrders(db, { userId: 7, status: 'completed', limit: 20 }, none)],
  ['an email', (db) => listAllOrders(db, { emailKey: email, limit: 20 }, none)],
  ['an email and a state', (db) => listAllOrders(db, { emailKey: email, status: 'completed', limit: 20 }, none)],
  ['both and a state', (db) => listAllOrders(db, { userId: 7, emailKey: email, status: 'failed', limit: 20 }, none)],
  ['whether there is one', (db) => isEmailOfOrder(db, email)],
  ['a person', (db) => listOrdersOfPerson(db, lena, none)],
  ['guests with an email', (db) => countGuestOrders(db, email)]
]

test.each(looks)("a look for the orders of %s reads that person's alone", (_name, look) => {
  const { file } = emptyShop()
  const said: string[] = []
  const sqlite = new Database(file, { verbose: (source) => said.push(String(source)) })
  try {
    look({ sqlite, orm: drizzle(sqlite) })
    expect(said).toHaveLength(1)
    const steps = sqlite.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${said[0]}`).all()
    const reads = steps.map(({ detail }) => detail).filter((detail) => / orders\b/.test(detail))
    expect(reads).not.toEqual([])
    for (const detail of reads) {
      expect(detail).toMatch(/^SEARCH orders USING .*INDEX orders_by_(user|email) \((user_id|email_key)=\?/)
    }
  } finally {
    sqlite.close()
  }
})
