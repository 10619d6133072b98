import { expect, test } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import { draft, line, makeProduct, place } from '../shop/orders/support.ts'
import { openTestShop } from '../support/shop-context.ts'
import { shopstead } from '../support/command-line.ts'

const hourMs = 60 * 60_000

test('orders reconcile ends the holds that are over, as a server does that is not running', async () => {
  using shop = openTestShop()
  const goods = draft([line(makeProduct(shop.db))])
  const { id: overdue } = place(shop.db, goods, Date.now() - 24 * hourMs)
  const { id: waiting } = place(shop.db, goods, Date.now())
  const { code, json } = await shopstead(shop.dataDir, ['orders', 'reconcile', '--json'])
  expect([code, json]).toMatchObject([0, { holds: 1, failed: 0 }])
  const stateOf = async (id: number) => (await shopstead(shop.dataDir, ['orders', 'show', `${id}`, '--json'])).json
  expect(await stateOf(overdue)).toMatchObject({ order: { status: 'cancelled' } })
  expect(await stateOf(waiting)).toMatchObject({ order: { status: 'pending' } })
})

test('orders reconcile fails when a hold cannot be ended, and ends the others', async () => {
  using shop = openTestShop()
  const goods = draft([line(makeProduct(shop.db))])
  const stuck = place(shop.db, goods, Date.now() - 24 * hourMs)
  const over = place(shop.db, goods, Date.now() - 23 * hourMs)
  shop.db.sqlite.exec(
    `CREATE TRIGGER stuck BEFORE UPDATE ON orders WHEN OLD.id = ${stuck.id} BEGIN SELECT raise(ABORT, 'stuck'); END`
  )
  const { code, json } = await shopstead(shop.dataDir, ['orders', 'reconcile', '--json'])
  expect([code, json]).toMatchObject([1, { holds: 1, failed: 1 }])
  expect([stuck, over].map(({ id }) => getOrder(shop.db, id).status)).toEqual(['pending', 'cancelled'])
})
