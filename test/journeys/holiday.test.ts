import { afterAll, beforeAll, expect, it } from 'vitest'
import { addDays } from '../../src/platform/days.ts'
import { endHoliday, startHoliday } from '../../src/shop/settings/holiday.ts'
import { shopDay } from '../../src/shop/settings/shop-days.ts'
import { checkOut, handoff, mug, set } from '../api/checkout-support.ts'
import { quay } from '../support/addresses.ts'
import { shopstead } from '../support/command-line.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import type { TestClock } from '../support/shop-context.ts'

type Config = { store: { open: boolean; message: string | null; until: string | null } }

let clock: TestClock
let shop: RunningShop
beforeAll(async () => {
  clock = testClock()
  shop = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' }, overrides: { clock } })
  set(shop, { ...withoutHoldLimits, 'shop.timeZone': 'Europe/Berlin', 'storefront.enabled': 'true' })
})
afterAll(() => shop.stop())

const run = async (...words: string[]) => shopstead(shop.dataDir, ['holiday', ...words, '--json'])
const storeOf = async () => (await shop.visitor().get<Config>('/store/payment-config')).data.store
const text = async (path: string) => (await shop.visitor().fetch(`${shop.url}${path}`)).text()
const productPage = async () => {
  const { data } = await shop.visitor().get<{ products: { slug: string }[] }>('/store/products')
  return text(`/products/${data.products[0]?.slug}`)
}
const cart = { items: [mug], customer: { email: 'ada@example.com' }, shippingAddress: quay }

it('stops orders, quotes and open payment links until the end of its last day in the zone of the shop', async () => {
  const buyer = shop.visitor()
  const placed = await checkOut(buyer, cart)
  const payPage = `/checkout/${placed.data.orderToken}`
  expect(await text(payPage)).toContain('name="payment_method"')
  clock.set(Date.parse('2026-12-20T12:00:00Z'))

  startHoliday(shop.app.db, { until: '2026-12-31', message: 'We are skiing.' }, clock.now())
  const refused = await checkOut(buyer, { ...cart, ...handoff })
  expect(refused).toMatchObject({
    status: 403,
    error: {
      code: 'CHECKOUT_DISABLED',
      message: 'We are skiing. Nothing can be bought until the end of 2026-12-31.'
    }
  })
  const quote = await buyer.post<{ payable: boolean; problems: object[] }>('/store/quote', { items: [mug] })
  expect(quote.data).toMatchObject({ payable: false, problems: [{ path: '_body', code: 'shop_closed' }] })
  expect(await storeOf()).toEqual({ open: false, message: 'We are skiing.', until: '2026-12-31' })
  const product = await productPage()
  expect(product).toContain('We are skiing.')
  expect(product).toContain('We take no orders until the end of 31 December 2026.')
  expect(product).not.toContain('action="/cart"')

  clock.set(Date.parse('2026-12-31T22:59:59Z'))
  expect((await storeOf()).open).toBe(false)
  clock.set(Date.parse('2026-12-31T23:00:00Z'))
  expect(await storeOf()).toEqual({ open: true, message: null, until: null })
  expect((await checkOut(shop.visitor(), { ...cart, ...handoff })).status).toBe(200)
  expect(await productPage()).toContain('action="/cart"')
})

it('takes no payment for an order that was placed before, which stays as it is', async () => {
  const buyer = shop.visitor()
  const { data } = await checkOut(buyer, cart)
  const url = `${shop.url}/checkout/${data.orderToken}`
  startHoliday(shop.app.db, { until: '2027-01-05', message: '' }, clock.now())
  const sent = await buyer.form(url, { ...quay, email: 'ada@example.com', payment_method: 'card' })
  expect(sent.headers.get('location')).toBe(`/checkout/done/${data.orderToken}`)
  const status = await buyer.get<{ order: { status: string }; canPay: boolean }>(`/store/orders/${data.orderToken}`)
  expect(status.data).toMatchObject({ order: { status: 'pending' }, canPay: false })
  expect(await text(`/checkout/${data.orderToken}`)).toContain('We take no orders until the end of 5 January 2027.')
  endHoliday(shop.app.db)
  expect((await buyer.get<{ canPay: boolean }>(`/store/orders/${data.orderToken}`)).data.canPay).toBe(true)
})

it.each(['2026-02-30', 'tomorrow', '2020-01-01'])('does not begin with the last day %s', async (until) => {
  const before = (await run('show')).json
  const refused = await run('start', '--until', until)
  expect(refused).toMatchObject({
    code: 1,
    json: { error: { details: { fieldErrors: { until: expect.any(Array) } } } }
  })
  expect((await run('show')).json).toEqual(before)
})

it('is begun, changed and ended from the command line', async () => {
  const today = shopDay(shop.app.db, Date.now())
  const holiday = { until: addDays(today, 7), message: 'We are skiing.' }
  const words = ['start', '--until', holiday.until, '--message', holiday.message]
  expect(await run(...words)).toMatchObject({ code: 0, json: { holiday } })
  expect((await run('start', '--until', today)).json).toEqual({ holiday: { until: today, message: '' } })
  expect((await run('show')).json).toEqual({ holiday: { until: today, message: '' } })
  expect((await run('end')).json).toEqual({ holiday: null })
  expect(await run('end')).toMatchObject({ code: 0, json: { holiday: null } })
})
