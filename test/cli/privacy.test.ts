import { cleanUp } from '../../src/operations/housekeeping.ts'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { queueMail } from '../../src/shop/mail/queue.ts'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { draft, line, makeProduct, makeUser, move, place } from '../shop/orders/support.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'
import { shopstead } from '../support/command-line.ts'

const said = {
  contact: { firstName: 'Lena', phone: '0431 555' },
  billingAddress: { city: 'Berlin' },
  shippingAddress: { address1: 'Hafenstraße 3', city: 'Kiel' },
  notes: 'Ring at Hansen'
}

/** An account with an order, another as a guest in another spelling of its email, each with its receipt, and a stranger's. */
function lenasShop(shop: TestShop, verified: boolean) {
  const lena = makeUser(shop.db, 'lena@shop.example', verified)
  const lines = [line(makeProduct(shop.db))]
  const spelt = { account: 'lena@shop.example', guest: 'Lena@Shop.example', stranger: 'other@shop.example' }
  const mine = place(shop.db, draft(lines, { ...said, userId: lena.id, email: spelt.account }))
  const asGuest = place(shop.db, draft(lines, { ...said, email: spelt.guest }))
  const strangers = place(shop.db, draft(lines, { contact: {}, billingAddress: null, email: spelt.stranger }))
  for (const { id: orderId, email } of [mine, asGuest, strangers]) {
    const mail = { template: 'order_receipt', recipient: email ?? '', data: { orderId } } as const
    write(shop.db, (tx) => queueMail(tx, mail, orderId))
  }
  shop.db.sqlite.prepare(`UPDATE mails SET state = 'sent'`).run()
  return { lena, mine: mine.id, asGuest: asGuest.id }
}

const exported = async (shop: TestShop) => {
  const { json, stderr } = await shopstead(shop.dataDir, ['users', 'export', 'lena@shop.example', '--json'])
  const { orders, messages } = json as { orders: { id: number }[]; messages: unknown[] }
  return { json, stderr, orders, ids: orders.map(({ id }) => id), messages: messages.length }
}

test('an export holds all that is kept of every order, those of a guest with the verified email too', async () => {
  using shop = openTestShop()
  const { mine, asGuest } = lenasShop(shop, true)
  const { json, stderr, orders, ids, messages } = await exported(shop)
  expect(ids).toEqual([asGuest, mine])
  expect(orders).toMatchObject([said, said])
  expect([json['includesGuestOrders'], messages, stderr]).toEqual([true, 2, ''])
})

test("an export of an account with an unverified email leaves out a guest's orders, and says so", async () => {
  using shop = openTestShop()
  const { lena, mine } = lenasShop(shop, false)
  const { json, stderr, ids, messages } = await exported(shop)
  expect(ids).toEqual([mine])
  expect([json['includesGuestOrders'], messages]).toEqual([false, 1])
  expect(stderr).toContain('Guest orders with this email: 1.')
  expect(stderr).toContain(`users verify ${lena.id}`)
})

test('an erasure leaves nothing of the person in a guest order or its receipt, verified or not', async () => {
  using shop = openTestShop()
  const { lena, mine } = lenasShop(shop, false)
  const erase = (...words: string[]) => shopstead(shop.dataDir, ['users', 'erase', String(lena.id), '--json', ...words])
  const asked = await erase()
  expect(asked.json).toMatchObject({
    error: { message: expect.stringMatching(/email, which is not verified, .*: 1\. This cannot/) }
  })
  expect((await erase('--yes')).json).toMatchObject({ status: 'erased', guestOrders: 1 })
  const tables = shop.db.sqlite
    .prepare<[], { name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '__drizzle_migrations'`
    )
    .all()
  const kept = tables.map(({ name }) => shop.db.sqlite.prepare(`SELECT * FROM "${name}"`).all())
  expect(JSON.stringify(kept)).not.toMatch(/lena|hansen|kiel|berlin|0431/i)
  expect(shop.db.sqlite.prepare('SELECT count(*) FROM orders WHERE email IS NOT NULL').pluck().get()).toBe(1)
  expect((await shopstead(shop.dataDir, ['orders', 'show', String(mine), '--json'])).json).toMatchObject({
    order: { total: 12.5, email: null }
  })
})

test('an erasure leaves the invoices, says so, and the clean-up removes the buyer when their time is over', async () => {
  using shop = openTestShop()
  const { lena, mine } = lenasShop(shop, true)
  const strangers = place(shop.db, draft([line(makeProduct(shop.db))], { ...said, email: 'other@shop.example' })).id
  for (const id of [mine, strangers]) move(shop.db, id, 'processing', {}, shop.clock.now())
  const { json } = await exported(shop)
  expect(json).toMatchObject({ invoices: [{ number: '2026-1', buyer: { lines: ['Lena', 'Berlin'] } }] })
  const erased = await shopstead(shop.dataDir, ['users', 'erase', String(lena.id), '--yes', '--json'])
  expect(erased.json).toMatchObject({ invoices: { count: 1, keptUntil: 2036 }, tracesRemoved: true })
  const again = await shopstead(shop.dataDir, ['users', 'erase', String(lena.id), '--yes'])
  expect(again.stdout).toContain(
    'stay on 1 document (invoices, credit notes, statements of payouts) until the end of 2036'
  )
  const buyers = () => [mine, strangers].map((id) => documentsOf(shop.db, id)[0]?.buyer?.lines ?? null)
  shop.clock.set(Date.UTC(2036, 11, 31))
  await cleanUp(shop)
  expect(buyers()).toEqual([
    ['Lena', 'Berlin'],
    ['Lena', 'Berlin']
  ])
  shop.clock.set(Date.UTC(2037, 0, 1))
  await cleanUp(shop)
  expect(buyers()).toEqual([null, ['Lena', 'Berlin']])
})

test('a guest without an account can be exported and erased by email, and other buyers keep their data', async () => {
  using shop = openTestShop()
  const lines = [line(makeProduct(shop.db))]
  const order = place(shop.db, draft(lines, { ...said, email: 'Lena@Shop.example' }))
  const other = place(shop.db, draft(lines, { ...said, email: 'other@shop.example' }))
  move(shop.db, order.id, 'processing')
  const mail = { template: 'order_receipt', recipient: 'lena@shop.example', data: { orderId: order.id } } as const
  write(shop.db, (tx) => queueMail(tx, mail, 1))
  const run = (...args: string[]) => shopstead(shop.dataDir, [...args, '--json'])
  const { json } = await run('users', 'export', 'lena@shop.example')
  expect(json).toMatchObject({ email: 'lena@shop.example', orders: [{ id: order.id, ...said }], invoices: [{}] })
  expect((await run('users', 'erase', 'lena@shop.example')).json).toMatchObject({ error: { code: 'USAGE' } })
  expect((await run('users', 'erase', 'lena@shop.example', '--yes')).json).toMatchObject({
    user: null,
    status: 'erased',
    guestOrders: 1,
    invoices: { count: 1 },
    tracesRemoved: true,
    backups: []
  })
  const rows = shop.db.sqlite.prepare('SELECT id, email, notes FROM orders ORDER BY id').all()
  expect(rows).toEqual([
    { id: order.id, email: null, notes: null },
    { id: other.id, email: 'other@shop.example', notes: said.notes }
  ])
  const recipients = shop.db.sqlite.prepare('SELECT DISTINCT recipient FROM mails').pluck().all()
  expect(recipients.some((recipient) => /lena/i.test(String(recipient)))).toBe(false)
  expect(await run('users', 'erase', 'lena@shop.example', '--yes')).toMatchObject({
    json: { error: { code: 'NOT_FOUND' } }
  })
})

test('the erasure of a guest waits until their subscription has ended at the gateway', async () => {
  using shop = openTestShop()
  const order = place(shop.db, draft([line(makeProduct(shop.db))], { ...said, email: 'lena@shop.example' }))
  const running = 'INSERT INTO gateway_subscriptions (gateway_id, order_id, current_period_end) VALUES (?, ?, ?)'
  shop.db.sqlite.prepare(running).run('sub_1', order.id, 9e12)
  const { json } = await shopstead(shop.dataDir, ['users', 'erase', 'lena@shop.example', '--yes', '--json'])
  expect(json).toMatchObject({ error: { code: 'DEPENDENCY_UNAVAILABLE' } })
  expect(shop.db.sqlite.prepare('SELECT email FROM orders').pluck().all()).toEqual(['lena@shop.example'])
})
