import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeOldShop, oldShopOrders } from '../../bench/old-shop/old-shop.ts'
import { shopstead } from '../../support/command-line.ts'
import { startShop } from '../../support/running-shop.ts'

let dataDir: string
beforeAll(async () => void (dataDir = await makeOldShop(oldShopOrders.medium)), 300_000)
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

it('a shop of ten years is found sound', async () => {
  const { json } = await shopstead<{ checks: { name: string; status: string }[] }>(dataDir, [
    'health',
    '--deep',
    '--json'
  ])
  expect(json.checks.filter(({ status }) => status === 'failed')).toEqual([])
  expect(json.checks.find(({ name }) => name === 'database')?.status).toBe('ok')
})

it('a shop of ten years lists the orders of its oldest and its newest customer', async () => {
  const shop = await startShop({ dataDir, seed: null })
  try {
    const rows = shop.app.db.sqlite
      .prepare<[], { email: string; total: number }>(
        `SELECT u.email, t.total FROM users u JOIN customer_order_totals t ON t.user_id = u.id
         WHERE u.id IN ((SELECT min(user_id) FROM orders), (SELECT max(user_id) FROM orders))`
      )
      .all()
    expect(rows).toHaveLength(2)
    for (const { email, total } of rows) {
      const visitor = shop.visitor()
      const { status } = await visitor.post('/auth/login', { email, password: 'tidal-basalt-93' })
      expect(status).toBe(200)
      const { data } = await visitor.get<{ orders: unknown[] }>('/orders')
      expect(data.orders).toHaveLength(total)
    }
  } finally {
    await shop.stop()
  }
})
