import { describe, expect, it } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import { draft, line, makeProduct, move, place } from '../shop/orders/support.ts'
import { shopstead } from '../support/command-line.ts'
import { openTestShop } from '../support/shop-context.ts'

const hourMs = 3_600_000

/** A shop of the present with orders of the given ages. */
function shopWithOrders(orders: readonly { email: string; ageMs: number }[]) {
  const shop = openTestShop()
  const product = makeProduct(shop.db, { stock: 50 })
  const ids = orders.map(({ email, ageMs }) => {
    const { id } = place(shop.db, draft([line(product)], { email }))
    shop.db.sqlite.prepare('UPDATE orders SET created_at = ? WHERE id = ?').run(Date.now() - ageMs, id)
    return id
  })
  const statuses = () => ids.map((id) => getOrder(shop.db, id).status)
  const stock = () => shop.db.sqlite.prepare('SELECT stock FROM products').pluck().get()
  return { shop, ids, statuses, stock, [Symbol.dispose]: () => shop[Symbol.dispose]() }
}

describe('shopstead orders cancel --unpaid', () => {
  it('cancels the unpaid orders of an age and an email domain, and returns their stock', async () => {
    using opened = shopWithOrders([
      { email: 'a@Bot.example', ageMs: 3 * hourMs },
      { email: 'b@bot.example', ageMs: 0.5 * hourMs },
      { email: 'c@friend.example', ageMs: 3 * hourMs },
      { email: 'd@notbot.example', ageMs: 3 * hourMs },
      { email: 'e@bot.example', ageMs: 3 * hourMs }
    ])
    const { shop, ids, statuses, stock } = opened
    move(shop.db, ids[4] ?? 0, 'processing')
    const args = ['orders', 'cancel', '--unpaid', '--older-than', '1h', '--email-domain', 'BOT.example']
    const refused = await shopstead(shop.dataDir, args)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Cancel 1 unpaid order? Pass --yes')])
    const done = await shopstead(shop.dataDir, [...args, '--yes', '--json'])
    expect([done.code, done.json]).toEqual([0, { cancelled: [ids[0]], failed: [] }])
    expect([...statuses(), stock()]).toEqual(['cancelled', 'pending', 'pending', 'pending', 'processing', 46])
  })

  it('cancels all unpaid orders without a filter, after a question on a terminal', async () => {
    using opened = shopWithOrders(Array.from({ length: 12 }, () => ({ email: 'a@bot.example', ageMs: 0 })))
    const kept = await shopstead(opened.shop.dataDir, ['orders', 'cancel', '--unpaid'], { answers: [false] })
    expect([kept.code, new Set(opened.statuses())]).toEqual([1, new Set(['pending'])])
    const done = await shopstead(opened.shop.dataDir, ['orders', 'cancel', '--unpaid'], { answers: [true] })
    expect(done.stdout).toContain('12 orders cancelled')
    expect([new Set(opened.statuses()), opened.stock()]).toEqual([new Set(['cancelled']), 50])
    const again = await shopstead(opened.shop.dataDir, ['orders', 'cancel', '--unpaid', '--yes'])
    expect([again.code, again.stdout]).toEqual([0, 'No unpaid orders match.\n'])
  })

  it.each([
    [['orders', 'cancel'], 'Give the number of an order, or --unpaid.'],
    [['orders', 'cancel', '1', '--unpaid'], 'Give the number of an order or --unpaid, not both.'],
    [['orders', 'cancel', '1', '--older-than', '1h'], 'Give the number of an order or --unpaid, not both.'],
    [['orders', 'cancel', '--unpaid', '--older-than', '1 hour'], '--older-than must be an age such as 30m, 1h or 2d.']
  ])('refuses %j', async (args, message) => {
    using shop = openTestShop()
    const { code, stderr } = await shopstead(shop.dataDir, args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
