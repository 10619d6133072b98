import { expect, it } from 'vitest'
import { checkOut, freeSheet, handoff, loggedIn, mug, set, shopFor } from './checkout-support.ts'

const counts = (shop: Awaited<ReturnType<typeof shopFor>>, table: 'orders' | 'invoices'): unknown =>
  shop.app.db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get()

it.each([
  ['redirect_to_store', {}],
  ['token_handoff', handoff]
])('an address has no more orders of guests that cost nothing than unpaid ones, by %s', async (_name, strategy) => {
  const shop = await shopFor({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
  set(shop, { 'checkout.heldOrdersPerAddress': '5' })
  const guestAt = (address: string) => shop.visitor({ 'x-forwarded-for': address })
  const body = { ...strategy, items: [freeSheet], customer: { email: 'lena@example.com' } }
  const answers = await Promise.all(Array.from({ length: 60 }, () => checkOut(guestAt('192.0.2.1'), body)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  expect(answers.find(({ status }) => status !== 200)).toMatchObject({
    status: 429,
    error: { code: 'RATE_LIMITED', details: { bucket: 'held_orders' } }
  })
  expect([counts(shop, 'orders'), counts(shop, 'invoices')]).toEqual([5, 0])
  const { data } = await guestAt('192.0.2.1').post<{ problems: object[] }>('/store/quote', body)
  expect(data.problems).toMatchObject([{ code: 'too_many_unpaid' }])
  expect((await checkOut(guestAt('192.0.2.1'), { ...handoff, items: [mug] })).status).toBe(200)
  expect((await checkOut(guestAt('192.0.2.2'), body)).status).toBe(200)
  const customer = await loggedIn(shop)
  expect((await checkOut(customer, { ...handoff, items: [freeSheet] })).status).toBe(200)
})
