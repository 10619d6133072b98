import { describe, expect, it } from 'vitest'
import { cleanUp } from '../../src/operations/housekeeping.ts'
import { write } from '../../src/platform/db/database.ts'
import { insertOrder } from '../../src/shop/orders/create-order.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { draft, line, makeProduct, makeUser } from '../shop/orders/support.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'

const dayMs = 86_400_000
const withData =
  "SELECT id FROM orders WHERE email IS NOT NULL OR email_key IS NOT NULL OR contact <> '{}' OR billing_address IS NOT NULL ORDER BY id"

function all(shop: TestShop, sql: string): unknown[] {
  return shop.db.sqlite.prepare(sql).pluck().all()
}

/** A day of a shop: unpaid orders of guests that are given up, and one that is paid. */
function tradeForADay(shop: TestShop, productId: number): void {
  const now = shop.clock.now()
  write(shop.db, (tx) => {
    for (let count = 0; count < 6; count += 1) {
      const notes = 'Please ring twice. '.repeat(20)
      const { id } = insertOrder(tx, draft([line(productId)], { email: `guest${count}@shop.example`, notes }), now)
      moveOrder(tx, id, count === 0 ? 'processing' : 'cancelled', { by: 'hold', reason: 'test' }, now)
    }
  })
}

describe('the clean-up', () => {
  it('removes the person from unpaid guest orders after thirty days, and from no other order', async () => {
    using shop = openTestShop()
    const product = makeProduct(shop.db, { stock: null })
    const user = makeUser(shop.db, 'lena@shop.example')
    const place = (changes: object, status: 'pending' | 'failed' | 'cancelled' | 'processing'): number =>
      write(shop.db, (tx) => {
        const { id } = insertOrder(tx, draft([line(product)], changes), shop.clock.now())
        if (status !== 'pending') moveOrder(tx, id, status, { by: 'hold', reason: 'test' }, shop.clock.now())
        return id
      })
    const cancelled = place({}, 'cancelled')
    const failed = place({ email: null }, 'failed')
    const kept = [place({}, 'pending'), place({}, 'processing'), place({ userId: user.id }, 'cancelled')]
    shop.clock.advance(30 * dayMs - 1)
    const young = place({}, 'cancelled')
    await cleanUp(shop)
    expect(all(shop, withData)).toEqual([cancelled, failed, ...kept, young])
    shop.clock.advance(2)
    await cleanUp(shop)
    expect(all(shop, withData)).toEqual([...kept, young])
    expect(all(shop, 'SELECT count(*) FROM orders')).toEqual([6])
  })

  it('keeps what months of unpaid orders store within bounds', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'events.keepDays', '31', shop.clock.now())
    const product = makeProduct(shop.db, { stock: null })
    const figures: { people: number; events: number }[] = []
    for (let day = 1; day <= 100; day += 1) {
      tradeForADay(shop, product)
      shop.clock.advance(dayMs)
      await cleanUp(shop)
      figures.push({ people: all(shop, withData).length, events: all(shop, 'SELECT id FROM events').length })
    }
    // The paid order of each day keeps its buyer.
    expect((figures.at(-1)?.people ?? 0) - 100).toBe(5 * 30)
    expect(figures.at(-1)?.events).toBe(figures[50]?.events)
  })

  it('deletes more old events than one batch has, but not those of a waiting delivery', async () => {
    using shop = openTestShop()
    const insert = shop.db.sqlite.prepare('INSERT INTO events (type, payload, created_at) VALUES (?, ?, ?)')
    write(shop.db, () => {
      for (let count = 0; count < 1_700; count += 1) insert.run('order.paid', '{}', shop.clock.now())
    })
    const mail = shop.db.sqlite.prepare(
      `INSERT INTO mails (event_id, template, recipient, data, state, next_attempt_at, created_at)
       VALUES (7, 'order_receipt', 'lena@shop.example', '{"orderId":1}', 'queued', 0, 0)`
    )
    mail.run()
    shop.clock.advance(91 * dayMs)
    insert.run('order.paid', '{}', shop.clock.now())
    await cleanUp(shop)
    expect(all(shop, 'SELECT id FROM events')).toEqual([7, 1_701])
  })

  it('ends between two transactions when the server stops, and continues at its next start', async () => {
    using shop = openTestShop()
    const insert = shop.db.sqlite.prepare('INSERT INTO events (type, payload, created_at) VALUES (?, ?, ?)')
    write(shop.db, () => {
      for (let count = 0; count < 1_000; count += 1) insert.run('order.paid', '{}', shop.clock.now())
    })
    shop.clock.advance(91 * dayMs)
    const left = () => Number(all(shop, 'SELECT count(*) FROM events')[0])
    await cleanUp(shop, () => left() < 1_000)
    expect(left()).toBe(900)
    await cleanUp(shop)
    expect(left()).toBe(0)
  })
})
