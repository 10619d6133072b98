import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { accountSummary } from '../../../src/shop/entitlements/entitlements.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { person } from '../benefits/support.ts'
import { placeOrder } from './records.ts'

it('a summary takes five statements in one snapshot, however many orders there are, and neither scans nor sorts them', async () => {
  using shop = openTestShop()
  const user = await person(shop)
  for (let index = 0; index < 50; index += 1) placeOrder(shop, user.id, 'completed', index)
  const said: string[] = []
  const sqlite = new Database(join(shop.dataDir, 'shopstead.db'), { verbose: (source) => said.push(String(source)) })
  try {
    accountSummary({ sqlite, orm: drizzle(sqlite) }, user, { isLoggedIn: true }, shop.clock.now())
    expect([said[0], said.at(-1), said.length]).toEqual(['BEGIN DEFERRED', 'COMMIT', 7])
    const reading = said.filter((source) => source.includes('orders'))
    // The benefits of a person are few. They only look up whether their order is on hold.
    const [ofBenefits, ofOrders] = [true, false].map((is) =>
      reading.filter((source) => /FROM (memberships|subscriptions) /.test(source) === is)
    )
    const planOf = (sources: readonly string[] = []) =>
      sources
        .flatMap((source) => shop.db.sqlite.prepare(`EXPLAIN QUERY PLAN ${source}`).all())
        .map((step) => JSON.stringify(step))
    expect([ofBenefits?.length, ofOrders?.length]).toEqual([2, 2])
    expect(planOf(ofOrders).filter((step) => /SCAN (orders|customer)|TEMP B-TREE/.test(step))).toEqual([])
    expect(planOf(ofBenefits).filter((step) => /SCAN o\b/.test(step))).toEqual([])
  } finally {
    sqlite.close()
  }
})
