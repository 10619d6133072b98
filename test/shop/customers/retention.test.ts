import { describe, expect, it } from 'vitest'
import { cleanUp } from '../../../src/operations/housekeeping.ts'
import { write } from '../../../src/platform/db/database.ts'
import { startSession } from '../../../src/shop/accounts/sessions.ts'
import { composeEmail } from '../../../src/shop/mailer/compose.ts'
import { insertOrder } from '../../../src/shop/orders/create-order.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { buy, person, product } from '../benefits/support.ts'
import { draft, line, makeProduct, makeUser } from '../orders/support.ts'

const dayMs = 86_400_000
const yearMs = 365 * dayMs

function all(shop: TestShop, sql: string): unknown[] {
  return shop.db.sqlite.prepare(sql).pluck().all()
}

/** Like makeUser, at the time of the shop's clock. */
function makeMember(shop: TestShop, email: string) {
  const user = makeUser(shop.db, email)
  shop.db.sqlite.prepare('UPDATE users SET active_at = ? WHERE id = ?').run(shop.clock.now(), user.id)
  return user
}

describe('a paid guest order', () => {
  const open = () => {
    const shop = openTestShop()
    const productId = makeProduct(shop.db, { stock: null })
    const place = (changes: object, ...states: ('processing' | 'completed' | 'on-hold')[]): number =>
      write(shop.db, (tx) => {
        const { id } = insertOrder(tx, draft([line(productId)], changes), shop.clock.now())
        for (const state of states) moveOrder(tx, id, state, { by: 'test', reason: 'test' }, shop.clock.now())
        return id
      })
    const known = () =>
      all(shop, "SELECT id FROM orders WHERE email IS NOT NULL OR email_key IS NOT NULL OR contact <> '{}' ORDER BY id")
    return { shop, place, known }
  }

  it('loses its buyer and its tracking number after four years, but no amount and no document', async () => {
    const { shop, place, known } = open()
    using _shop = shop
    const old = place({}, 'processing')
    shipOrder(shop.db, old, { items: null, carrier: 'DHL', tracking: '0034', url: null }, 'test', shop.clock.now())
    const sums = all(shop, 'SELECT total_minor FROM orders')
    const documents = all(shop, 'SELECT buyer FROM invoices')
    shop.clock.advance(2)
    const ofMember = place({ userId: makeMember(shop, 'lena@shop.example').id }, 'processing', 'completed')
    const unfinished = place({}, 'processing')
    shop.clock.advance(4 * yearMs - 3)
    const young = place({}, 'processing', 'completed')
    setSetting(shop.db, 'privacy.dormantYears', '0', shop.clock.now())
    await cleanUp(shop)
    expect(known()).toEqual([old, ofMember, unfinished, young])
    shop.clock.advance(2)
    await cleanUp(shop)
    expect(known()).toEqual([ofMember, unfinished, young])
    expect(all(shop, `SELECT total_minor FROM orders WHERE id = ${old}`)).toEqual(sums)
    expect(all(shop, `SELECT buyer FROM invoices WHERE order_id = ${old}`)).toEqual(documents)
    expect(all(shop, 'SELECT tracking FROM shipments')).toEqual([null])
  })

  it('keeps its buyer while its subscription renews, as do its renewals', async () => {
    const { shop, place, known } = open()
    using _shop = shop
    const first = place({}, 'processing', 'completed')
    const renewal = place({}, 'processing', 'completed')
    shop.db.sqlite.prepare('UPDATE orders SET renewal_of = ? WHERE id = ?').run(first, renewal)
    shop.db.sqlite
      .prepare("INSERT INTO gateway_subscriptions (gateway_id, order_id, current_period_end) VALUES ('sub_1', ?, 0)")
      .run(first)
    shop.clock.advance(5 * yearMs)
    await cleanUp(shop)
    expect(known()).toEqual([first, renewal])
    shop.db.sqlite.prepare("UPDATE gateway_subscriptions SET ended_at = 1 WHERE gateway_id = 'sub_1'").run()
    await cleanUp(shop)
    expect(known()).toEqual([])
  })

  it('is found beyond the first hundred, and stays for ever with 0', async () => {
    const { shop, place, known } = open()
    using _shop = shop
    for (let count = 0; count < 250; count += 1) {
      place({}, 'processing', ...(count % 2 === 0 ? (['completed'] as const) : []))
      shop.clock.advance(1)
    }
    shop.clock.advance(5 * yearMs)
    setSetting(shop.db, 'privacy.guestYears', '0', shop.clock.now())
    await cleanUp(shop)
    expect(known()).toHaveLength(250)
    setSetting(shop.db, 'privacy.guestYears', '4', shop.clock.now())
    await cleanUp(shop)
    expect(known()).toHaveLength(125)
  })
})

describe('a dormant account', () => {
  const statuses = (shop: TestShop) => all(shop, 'SELECT status FROM users ORDER BY id')
  const mailed = (shop: TestShop) =>
    all(shop, "SELECT recipient FROM mails WHERE template = 'account_dormant' ORDER BY id")
  const notice = 30 * dayMs

  it('gets an email thirty days before it is erased after three years', async () => {
    using shop = openTestShop()
    const lena = makeMember(shop, 'lena@shop.example')
    shop.clock.advance(3 * yearMs - notice)
    await cleanUp(shop)
    expect(mailed(shop)).toEqual([])
    shop.clock.advance(1)
    await cleanUp(shop)
    await cleanUp(shop)
    expect(mailed(shop)).toEqual(['lena@shop.example'])
    const email = composeEmail(
      shop,
      { template: 'account_dormant', data: { userId: lena.id }, recipient: '' },
      shop.clock.now()
    )
    expect(email.opening.join(' ')).toContain('log in once before that day')
    shop.clock.advance(notice)
    await cleanUp(shop)
    expect(statuses(shop)).toEqual(['active'])
    shop.clock.advance(1)
    await cleanUp(shop)
    expect(statuses(shop)).toEqual(['erased'])
  })

  it('stays when its owner logs in after the email, which is then obsolete', async () => {
    using shop = openTestShop()
    const { id: userId } = makeMember(shop, 'lena@shop.example')
    shop.clock.advance(3 * yearMs)
    await cleanUp(shop)
    write(shop.db, (tx) => startSession(tx, { userId, rememberMe: false }, shop.clock.now()))
    expect(() =>
      composeEmail(shop, { template: 'account_dormant', data: { userId }, recipient: '' }, shop.clock.now())
    ).toThrow('in use again')
    shop.clock.advance(notice + 1)
    await cleanUp(shop)
    expect(statuses(shop)).toEqual(['active'])
    shop.clock.advance(2 * yearMs)
    await cleanUp(shop)
    expect(mailed(shop)).toHaveLength(1)
  })

  it('is not one that has an order, something to use, or a role', async () => {
    using shop = openTestShop()
    const ordered = makeMember(shop, 'ordered@shop.example')
    const guest = makeMember(shop, 'guest@shop.example')
    const admin = makeMember(shop, 'admin@shop.example')
    shop.db.sqlite.prepare('UPDATE users SET is_admin = 1 WHERE id = ?').run(admin.id)
    const student = await person(shop)
    const grants = [{ kind: 'course', course: 'glazing' }] as const
    buy(shop, { userId: student.id, orderId: 1, productId: product(shop), grants: [...grants] })
    const dormant = makeMember(shop, 'dormant@shop.example')
    shop.clock.advance(2 * yearMs)
    const item = line(makeProduct(shop.db, { stock: null }))
    write(shop.db, (tx) => {
      for (const buyer of [{ userId: ordered.id }, { email: 'guest@shop.example' }]) {
        const { id } = insertOrder(tx, draft([item], buyer), shop.clock.now())
        for (const to of ['processing', 'completed'] as const)
          moveOrder(tx, id, to, { by: 'test', reason: 'test' }, shop.clock.now())
      }
    })
    shop.clock.advance(yearMs)
    await cleanUp(shop)
    expect(mailed(shop)).toEqual(['dormant@shop.example'])
    shop.clock.advance(notice + 1)
    await cleanUp(shop)
    expect(all(shop, "SELECT id FROM users WHERE status = 'erased'")).toEqual([dormant.id])
    expect([ordered, guest, admin, student].length).toBe(statuses(shop).filter((status) => status === 'active').length)
  })

  it('is asked about a hundred times in a clean-up, and never with 0', async () => {
    using shop = openTestShop()
    for (let count = 0; count < 103; count += 1) makeMember(shop, `buyer${count}@shop.example`)
    shop.clock.advance(3 * yearMs)
    setSetting(shop.db, 'privacy.dormantYears', '0', shop.clock.now())
    await cleanUp(shop)
    expect(mailed(shop)).toHaveLength(0)
    setSetting(shop.db, 'privacy.dormantYears', '3', shop.clock.now())
    await cleanUp(shop)
    expect(mailed(shop)).toHaveLength(100)
    setSetting(shop.db, 'privacy.dormantYears', '0', shop.clock.now())
    shop.clock.advance(notice + 1)
    await cleanUp(shop)
    expect(all(shop, 'SELECT count(*) FROM users WHERE dormant_mail_at IS NULL')).toEqual([103])
  })
})
