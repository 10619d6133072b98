import { expect, it, onTestFinished } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import { openWarnings } from '../../src/shop/payments/warnings.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const email = 'lena@example.com'
const cart = { items: [{ productId: 1, quantity: 1 }], couponCode: 'HALF' }

async function openShop(): Promise<RunningShop> {
  const shop = await startShop({
    seed: {
      products: [{ slug: 'mug', name: 'Mug', price: '12.50' }],
      coupons: [{ code: 'HALF', percent: 50, maxUsesPerCustomer: 1 }]
    }
  })
  onTestFinished(() => shop.stop())
  return shop
}

const onLoopback = (url: string | null): string => (url ?? '').replace('//localhost:', '//127.0.0.1:')

/** Pays an order whose email is asked for on the way, as a buyer does who gives up when the price changes. */
async function pay(shop: RunningShop, url: string): Promise<{ status: number; html: string }> {
  const buyer = shop.visitor()
  const chosen = await buyer.form(url, { payment_method: 'card', email })
  if (chosen.status !== 303) return { status: chosen.status, html: await chosen.text() }
  const paid = await buyer.form(onLoopback(chosen.headers.get('location')), { payment_method: 'pm_card_visa', email })
  return { status: paid.status, html: await paid.text() }
}

it('gives the price of a coupon once to a buyer whose email becomes known on the payment page', async () => {
  const shop = await openShop()
  const urls: string[] = []
  for (let order = 0; order < 3; order += 1) {
    const placed = await shop.visitor().post<{ checkoutUrl: string }>('/store/checkout-session', cart)
    urls.push(onLoopback(placed.data.checkoutUrl))
  }
  const results = []
  for (const url of urls) results.push(await pay(shop, url))
  expect(results.map(({ status }) => status)).toEqual([303, 422, 422])
  expect(results[1]?.html).toMatch(/already used the coupon HALF with this email address[\s\S]*Order for €12\.50/)
  const totals = () => [1, 2, 3].map((id) => [getOrder(shop.app.db, id).status, getOrder(shop.app.db, id).totalMinor])
  expect(totals()).toEqual([
    ['processing', 625],
    ['pending', 1250],
    ['pending', 1250]
  ])
  expect((await pay(shop, urls[1] ?? '')).status).toBe(303)
  expect(totals()[1]).toEqual(['processing', 1250])
})

it('asks a guest for the email before a card is charged with such a coupon', async () => {
  const shop = await openShop()
  const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
  const refused = await shop.visitor().post('/store/checkout-session', { ...cart, ...handoff })
  expect([refused.status, Object.keys(refused.error.details.fieldErrors ?? {})]).toEqual([422, ['customer.email']])
  const paid = await shop.visitor().post('/store/checkout-session', { ...cart, ...handoff, customer: { email } })
  expect(paid.status).toBe(200)
})

it('puts an order on hold when only the payment tells that the buyer had used the coupon', async () => {
  const shop = await openShop()
  const { db } = shop.app
  await shop.visitor().post('/store/checkout-session', { ...cart, customer: { email } })
  // An order that an older version sent to the gateway without an email.
  await shop.visitor().post('/store/checkout-session', { items: cart.items })
  db.sqlite.exec(`INSERT INTO order_coupons (order_id, coupon_id, code, discount_minor, customer_key, counted)
    SELECT 2, coupon_id, code, 0, NULL, 1 FROM order_coupons WHERE order_id = 1`)
  const page = shop.app.sandbox?.ledger().sessions.at(-1)?.url ?? null
  await shop.visitor().form(onLoopback(page), { payment_method: 'pm_card_visa', email })
  expect(getOrder(db, 2)).toMatchObject({ status: 'on-hold', email })
  expect(getOrder(db, 2).paidAt).not.toBeNull()
  expect(openWarnings(db).map(({ kind, orderId }) => [kind, orderId])).toEqual([['coupon_limit', 2]])
})
