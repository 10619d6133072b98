import { afterAll, beforeAll, expect, it } from 'vitest'
import { getUserById } from '../../src/shop/accounts/find.ts'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { getAffiliateById } from '../../src/shop/affiliates/find.ts'
import { confirmEmail } from '../../src/shop/customers/verify-email.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { write } from '../../src/platform/db/database.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, mug, set } from './checkout-support.ts'

const password = 'tidal-basalt-93'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
  set(shop, withoutHoldLimits)
})
afterAll(() => shop.stop())

it('erases the account with its sessions and its personal data, and keeps its orders', async () => {
  const here = shop.visitor()
  await here.register({ email: 'ada@shop.example', password })
  const elsewhere = shop.visitor()
  await elsewhere.post('/auth/login', { email: 'ada@shop.example', password })
  const { data: order } = await checkOut(here, { items: [mug], shippingAddress: { city: 'Hamburg', country: 'DE' } })
  const { db } = shop.app
  const { data: me } = await here.get<{ user: { id: number } }>('/me')

  const refused = await here.post('/me/delete', { password: 'not-the-password-1' })
  expect([refused.status, refused.error.code]).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
  // Anyone can register another person's address, so an unverified one deletes nothing.
  const unverified = await here.post('/me/delete', { password })
  expect([unverified.status, unverified.error.code]).toEqual([403, 'AUTH_EMAIL_NOT_VERIFIED'])
  confirmEmail(db, me.user.id, Date.now())
  const open = await here.post('/me/delete', { password })
  expect([open.status, open.error.code]).toEqual([409, 'CONFLICT'])
  expect(open.error.message).toContain(`Order ${String(order.orderId)} is not completed yet`)

  for (const to of ['processing', 'completed'] as const)
    write(db, (tx) => moveOrder(tx, Number(order.orderId), to, { by: 'test', reason: to }, Date.now()))
  const deleted = await here.post('/me/delete', { password })
  expect([deleted.status, deleted.data]).toEqual([200, { deleted: true }])
  expect(deleted.headers.getSetCookie().join()).toMatch(/shopstead_session=;/)
  for (const browser of [here, elsewhere]) expect((await browser.get('/me')).status).toBe(401)
  expect((await shop.visitor().post('/auth/login', { email: 'ada@shop.example', password })).status).toBe(401)
  expect(getUserById(db, me.user.id)).toMatchObject({ status: 'erased', email: expect.stringMatching(/erased/) })
  const kept = db.sqlite
    .prepare('SELECT total_minor > 0 AS hasTotal, email, shipping_address AS address FROM orders WHERE id = ?')
    .get(order.orderId)
  expect(kept).toEqual({ hasTotal: 1, email: null, address: null })
  expect((await shop.visitor().register({ email: 'ada@shop.example', password })).status).toBe(201)
})

it('keeps the account while a paid order that was placed as a guest is not completed', async () => {
  const { db } = shop.app
  const visitor = shop.visitor()
  await visitor.register({ email: 'bo@shop.example', password })
  const { data: me } = await visitor.get<{ user: { id: number } }>('/me')
  confirmEmail(db, me.user.id, Date.now())
  const body = { items: [mug], customer: { email: 'BO@shop.example' } }
  const { data: unpaid } = await checkOut(shop.visitor(), body)
  const { data: paid } = await checkOut(shop.visitor(), body)
  const id = Number(paid.orderId)
  write(db, (tx) => moveOrder(tx, id, 'processing', { by: 'test', reason: 'paid' }, Date.now()))
  const refused = await visitor.post('/me/delete', { password })
  expect([refused.status, refused.error.message]).toEqual([409, expect.stringContaining(`Order ${id} `)])
  write(db, (tx) => moveOrder(tx, id, 'completed', { by: 'test', reason: 'sent' }, Date.now()))
  expect(unpaid.orderId).not.toBe(paid.orderId)
  expect((await visitor.post('/me/delete', { password })).status).toBe(200)
})

it('refuses to erase an administrator', async () => {
  const admin = shop.visitor()
  await admin.register({ email: 'root@shop.example', password })
  shop.app.db.sqlite.prepare("UPDATE users SET is_admin = 1 WHERE email = 'root@shop.example'").run()
  const { status, error } = await admin.post('/me/delete', { password })
  expect([status, error.code]).toEqual([409, 'CONFLICT'])
  expect((await admin.get('/me')).status).toBe(200)
})

it('asks an affiliate with an open balance to confirm', async () => {
  const { db, clock } = shop.app
  const visitor = shop.visitor()
  await visitor.register({ email: 'cleo@shop.example', password })
  const { data: me } = await visitor.get<{ user: { id: number } }>('/me')
  confirmEmail(db, me.user.id, Date.now())
  const affiliate = createAffiliate(
    db,
    { userId: me.user.id, code: 'cleo', status: 'active', rateBps: null },
    clock.now()
  )
  const { data } = await shop.visitor().post<{ orderId: string }>('/store/checkout-session?ref=cleo', { items: [mug] })
  expect(data.orderId).not.toBeNull()
  const refused = await visitor.post('/me/delete', { password })
  expect([refused.status, refused.error.code]).toEqual([409, 'CONFLICT'])
  expect(refused.error.details).toMatchObject({ balance: { currency: 'EUR', pendingMinor: 125, unpaidMinor: 0 } })
  expect((await visitor.post('/me/delete', { password, despiteBalance: true })).status).toBe(200)
  expect(getAffiliateById(db, affiliate.id)).toMatchObject({ status: 'inactive', code: `erased ${affiliate.id}` })
})
