import { expect, it, onTestFinished } from 'vitest'
import { getOrder, historyOf } from '../../src/shop/orders/find.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import { openWarnings } from '../../src/shop/payments/warnings.ts'
import { quay } from '../support/addresses.ts'
import type { Answer } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const email = 'lena@example.com'
const items = [{ productId: 1, quantity: 1 }]
const cart = { items, couponCode: 'HALF' }
const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
type Result = { checkoutUrl?: string; orderId: string | number; status?: string }

async function openShop(env: Record<string, string> = {}): Promise<RunningShop> {
  const shop = await startShop({
    env,
    seed: {
      products: [{ slug: 'mug', name: 'Mug', price: '12.50' }],
      coupons: [
        { code: 'HALF', percent: 50, maxUsesPerCustomer: 1 },
        { code: 'GIFT', percent: 100, maxUsesPerCustomer: 1 }
      ]
    }
  })
  onTestFinished(() => shop.stop())
  return shop
}

function checkOut(shop: RunningShop, body: object): Promise<Answer<Result>> {
  return shop.visitor().post<Result>('/store/checkout-session', { shippingAddress: quay, ...body })
}

const onLoopback = (url: string | null | undefined): string => (url ?? '').replace('//localhost:', '//127.0.0.1:')

/** The parts of an answer that do not differ in every answer. */
function outcomeOf({ status, error, data }: Answer<Result>): unknown[] {
  return [status, error, data === undefined ? null : Object.keys(data)]
}

it.each([
  ['a checkout', {}],
  ['a checkout with an account that is created', { password: 'granite-willow-71', createAccount: true }]
])('%s tells nothing about the orders of an email that a guest enters', async (_what, fields) => {
  const shop = await openShop()
  expect((await checkOut(shop, { ...cart, ...handoff, customer: { email } })).data.status).toBe('processing')
  for (const body of [cart, { items, couponCodes: ['GIFT'] }]) {
    const known = await checkOut(shop, { ...body, customer: { ...fields, email } })
    const unknown = await checkOut(shop, { ...body, customer: { ...fields, email: 'nobody@example.com' } })
    expect(outcomeOf(known)).toEqual(outcomeOf(unknown))
    shop.app.db.sqlite.exec(`UPDATE users SET email_key = 'gone ' || id, username_key = 'gone ' || id`)
  }
})

it('an account with an unverified email tells nothing about the orders of that email', async () => {
  const shop = await openShop()
  await checkOut(shop, { ...cart, ...handoff, customer: { email } })
  await makeUser(shop.app, { email })
  const stranger = shop.visitor()
  await stranger.post('/auth/login', { email, password: goodPassword })
  expect((await stranger.post('/store/checkout-session', cart)).status).toBe(200)
  shop.app.db.sqlite.exec('UPDATE users SET email_verified_at = 1')
  // Another request than before, which does not continue its order.
  expect((await stranger.post('/store/checkout-session', { ...cart, notes: 'Again.' })).status).toBe(422)
})

it('the hosted page tells nothing either, where a guest enters the email or the code', async () => {
  const shop = await openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  await checkOut(shop, { ...cart, ...handoff, customer: { email } })
  const pages = []
  for (const typed of [email, 'nobody@example.com']) {
    const { data } = await checkOut(shop, cart)
    const chosen = await shop.visitor().form(onLoopback(data.checkoutUrl), { payment_method: 'card', email: typed })
    const later = await checkOut(shop, { items, customer: { email: typed } })
    const coded = await shop.visitor().submit(onLoopback(later.data.checkoutUrl), { coupon: 'HALF' })
    pages.push([
      new URL(chosen.headers.get('location') ?? '').pathname.split('/')[1],
      coded.html.includes('Coupon HALF')
    ])
  }
  expect(pages).toEqual([
    ['sandbox', true],
    ['sandbox', true]
  ])
})

it('an order is put on hold when its payment shows that the buyer had used the coupon', async () => {
  const shop = await openShop()
  const { db } = shop.app
  for (const typed of [email, 'LENA@example.com', 'lena@\uFF25xample.com', 'other@example.com'])
    expect((await checkOut(shop, { ...cart, ...handoff, customer: { email: typed } })).status).toBe(200)
  expect([1, 2, 3, 4].map((id) => getOrder(db, id).status)).toEqual(['processing', 'on-hold', 'on-hold', 'processing'])
  expect(getOrder(db, 2).paidAt).not.toBeNull()
  expect(openWarnings(db).map(({ kind, orderId }) => [kind, orderId])).toEqual([
    ['coupon_limit', 3],
    ['coupon_limit', 2]
  ])
})

it('an order is put on hold when only the payment page asks for the email', async () => {
  const shop = await openShop()
  const { db } = shop.app
  await checkOut(shop, { ...cart, ...handoff, customer: { email } })
  const { data } = await checkOut(shop, cart)
  await shop.visitor().form(onLoopback(data.checkoutUrl), { payment_method: 'pm_card_visa', email })
  expect(getOrder(db, 2)).toMatchObject({ status: 'on-hold', email })
  expect(openWarnings(db).map(({ kind, orderId }) => [kind, orderId])).toEqual([['coupon_limit', 2]])
})

it('unpaid orders with an email do not use up the coupon of its owner', async () => {
  const shop = await openShop()
  await checkOut(shop, { ...cart, customer: { email } })
  expect((await checkOut(shop, { ...cart, ...handoff, customer: { email } })).data.status).toBe('processing')
})

it('a guest is asked for the email before a card is charged with such a coupon', async () => {
  const shop = await openShop()
  const refused = await checkOut(shop, { ...cart, ...handoff })
  expect([refused.status, Object.keys(refused.error.details['fieldErrors'] ?? {})]).toEqual([422, ['customer.email']])
})

it('the history of an order that an operator marks as paid says that the email had used the coupon', async () => {
  const shop = await openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  const { db } = shop.app
  await checkOut(shop, { ...cart, ...handoff, customer: { email } })
  await checkOut(shop, { ...cart, customer: { email } })
  markPaid(db, 2, 'operator', shop.app.clock.now())
  expect(historyOf(db, 2).at(-1)?.reason).toBe('marked as paid; this email address had already used HALF')
})
