import { expect, it, onTestFinished } from 'vitest'
import { mailboxCode } from '../../src/shop/accounts/mailbox-code.ts'
import { couponsOf, getOrder, getOrderByPublicToken, historyOf } from '../../src/shop/orders/find.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import { openWarnings } from '../../src/shop/payments/warnings.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { quay } from '../support/addresses.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { nextMail } from '../support/mail-files.ts'
import { goodPassword, makeUser, proveEmail } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const email = 'lena@example.com'
const items = [{ productId: 1, quantity: 1 }]
const cart = { items, couponCode: 'HALF' }
const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
type Result = { checkoutUrl?: string; orderId: string | number; orderToken: string; status?: string }

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

function checkOut(shop: RunningShop, body: object, visitor = shop.visitor()): Promise<Answer<Result>> {
  return visitor.post<Result>('/store/checkout-session', { shippingAddress: quay, ...body })
}

/** A browser whose person has entered the code from the mailbox. */
async function proven(shop: RunningShop, typed = email): Promise<Browser> {
  const visitor = shop.visitor()
  await proveEmail(shop, visitor, typed)
  return visitor
}

const onLoopback = (url: string | null | undefined): string => (url ?? '').replace('//localhost:', '//127.0.0.1:')
const leadsTo = (response: Response): string | null => response.headers.get('location')
const problemsOf = ({ error }: Answer<unknown>) =>
  (error.details['problems'] as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`)

/** The parts of an answer that do not differ in every answer. */
function outcomeOf({ status, error, data }: Answer<Result>): unknown[] {
  return [status, error, data === undefined ? null : Object.keys(data)]
}

it.each([
  ['a checkout', {}],
  ['a checkout by token', handoff],
  ['a checkout with an account that is created', { password: 'granite-willow-71', createAccount: true }]
])('%s tells nothing about the orders of an email that a guest enters', async (_what, { ...fields }) => {
  const shop = await openShop()
  const customer = 'password' in fields ? fields : {}
  const other = 'password' in fields ? {} : fields
  const owner = await proven(shop)
  expect((await checkOut(shop, { ...cart, ...handoff, customer: { email } }, owner)).data.status).toBe('processing')
  for (const body of [cart, { items, couponCodes: ['GIFT'] }]) {
    const known = await checkOut(shop, { ...body, ...other, customer: { ...customer, email } })
    const unknown = await checkOut(shop, {
      ...body,
      ...other,
      customer: { ...customer, email: 'nobody@example.com' }
    })
    expect(outcomeOf(known)).toEqual(outcomeOf(unknown))
    expect(problemsOf(known)).toEqual([`${'couponCode' in body ? 'couponCode' : 'couponCodes.0'} login_needed`])
  }
  expect(shop.app.db.sqlite.prepare('SELECT count(*) FROM orders').pluck().get()).toBe(1)
})

it('a guest who has proven the email is refused the second use before the payment', async () => {
  const shop = await openShop()
  const body = { ...cart, ...handoff, customer: { email } }
  const owner = await proven(shop)
  expect((await checkOut(shop, body, owner)).data.status).toBe('processing')
  // Another browser, and other spellings of the same mailbox.
  for (const typed of ['LENA@example.com', 'lena@\uFF25xample.com']) {
    const again = await checkOut(shop, { ...body, customer: { email: typed } }, await proven(shop, typed))
    expect([again.status, problemsOf(again)]).toEqual([422, ['couponCode coupon_used']])
  }
  const other = await checkOut(
    shop,
    { ...body, customer: { email: 'other@example.com' } },
    await proven(shop, 'other@example.com')
  )
  expect(other.data.status).toBe('processing')
  expect(openWarnings(shop.app.db)).toEqual([])
})

it('the proof of one email does not count for another one', async () => {
  const shop = await openShop()
  const answer = await checkOut(shop, { ...cart, customer: { email: 'other@example.com' } }, await proven(shop))
  expect(problemsOf(answer)).toEqual(['couponCode login_needed'])
})

it('a code that makes the order free counts for a proven email, once', async () => {
  const shop = await openShop()
  const body = { items, couponCode: 'GIFT', customer: { email } }
  const owner = await proven(shop)
  expect(leadsTo(await owner.fetch(onLoopback((await checkOut(shop, body, owner)).data.checkoutUrl)))).toBeNull()
  expect(getOrder(shop.app.db, 1).status).toBe('processing')
  expect(problemsOf(await checkOut(shop, { ...body, notes: 'again' }, owner))).toEqual(['couponCode coupon_used'])
})

it('an account with an unverified email tells nothing about the orders of that email', async () => {
  const shop = await openShop()
  await checkOut(shop, { ...cart, ...handoff, customer: { email } }, await proven(shop))
  await makeUser(shop.app, { email })
  const stranger = shop.visitor()
  await stranger.post('/auth/login', { email, password: goodPassword })
  expect((await stranger.post('/store/checkout-session', cart)).status).toBe(200)
  shop.app.db.sqlite.exec('UPDATE users SET email_verified_at = 1')
  // Another request than before, which does not continue its order.
  expect((await stranger.post('/store/checkout-session', { ...cart, notes: 'Again.' })).status).toBe(422)
})

it('the hosted page asks a guest for a code from the email before such a coupon counts', async () => {
  const shop = await openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  await checkOut(shop, { ...cart, ...handoff, customer: { email } }, await proven(shop))
  const ways = []
  for (const typed of [email, 'nobody@example.com']) {
    // The page asks for the email, too, in the second round.
    for (const customer of [{ email: typed }, {}]) {
      const guest = shop.visitor()
      const { data } = await checkOut(shop, { items, customer }, guest)
      const url = onLoopback(data.checkoutUrl)
      const sent = await guest.form(url, { coupon: 'HALF', email: typed })
      expect(leadsTo(sent)).toBe(`/checkout/prove/${data.orderToken}?to=coupon`)
      const page = `${shop.url}/checkout/prove/${data.orderToken}`
      const code = mailboxCode(shop.app.keys, typed, shop.app.clock.now())
      expect(leadsTo(await guest.form(page, { action: 'check', code, to: 'coupon' }))).toBe(
        `/checkout/${data.orderToken}`
      )
      expect(await (await guest.fetch(url)).text()).toContain('value="HALF"')
      const { html } = await guest.submit(url, { coupon: 'HALF', email: typed })
      ways.push([html.includes('Coupon HALF'), html.includes('You have already used this code')])
      await guest.post(`/store/orders/${data.orderToken}/cancel`)
    }
  }
  expect(ways).toEqual([
    [false, true],
    [false, true],
    [true, false],
    [true, false]
  ])
})

it('the hosted page asks for the email when neither the order nor the form has one', async () => {
  const shop = await openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  const guest = shop.visitor()
  const { data } = await checkOut(shop, { items }, guest)
  const { html } = await guest.submit(onLoopback(data.checkoutUrl), { coupon: 'HALF', email: 'not an email' })
  expect(html).toContain('Please enter your email address to use this code.')
  expect(couponsOf(shop.app.db, Number(data.orderId))).toEqual([])
})

it('an order keeps the email for which its code counts', async () => {
  const shop = await openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  const owner = await proven(shop)
  const { data } = await checkOut(shop, { ...cart, customer: { email } }, owner)
  const change = { ...quay, change: '1', payment_method: 'card', email: 'other@example.com' }
  const { html } = await owner.submit(onLoopback(data.checkoutUrl), change)
  expect(html).toContain('The coupon code of this order belongs to its email.')
  expect(getOrderByPublicToken(shop.app.db, data.orderToken).email).toBe(email)
})

it('the cart sends a code, and takes the coupon after it was entered', async () => {
  const shop = await openShop()
  setSetting(shop.app.db, 'storefront.enabled', 'true', shop.app.clock.now())
  const guest = shop.visitor()
  const url = `${shop.url}/cart`
  await guest.form(url, { slug: 'mug', quantity: '1' })
  const typed = { email, couponCode: 'HALF', 'quantity-1': '1' }
  const show = async (fields: Record<string, string>): Promise<string> =>
    (await guest.form(url, { ...typed, ...fields })).text()
  expect(await show({ update: '1' })).toContain('Each customer can use this coupon a limited number of times.')
  expect(await show({ prove: 'send', email: 'no email' })).toContain('Must be an email address.')
  const sent = await show({ prove: 'send' })
  expect(sent).toContain(`We have sent a code to ${email}.`)
  const code = /\b\d{8}\b/.exec((await nextMail(shop.dataDir, email, 1)).subject)?.[0] ?? ''
  const wrong = await show({ prove: 'check', codeSentTo: email, emailCode: '00000000' })
  expect(wrong).toContain('This code is wrong or has expired.')
  const accepted = await show({ prove: 'check', codeSentTo: email, emailCode: code })
  expect(accepted).toContain('HALF takes')
  expect(accepted).not.toContain('name="emailCode"')
})

it('an account whose email is not verified is put on hold when its email had used the coupon', async () => {
  const shop = await openShop()
  const { db } = shop.app
  await checkOut(shop, { ...cart, ...handoff, customer: { email } }, await proven(shop))
  await makeUser(shop.app, { email })
  const account = shop.visitor()
  await account.post('/auth/login', { email, password: goodPassword })
  expect((await checkOut(shop, { ...cart, ...handoff }, account)).data.status).toBe('on-hold')
  expect(getOrder(db, 2).paidAt).not.toBeNull()
  expect(openWarnings(db).map(({ kind, orderId }) => [kind, orderId])).toEqual([['coupon_limit', 2]])
})

it('the history of an order that an operator marks as paid says that the email had used the coupon', async () => {
  const shop = await openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  const { db } = shop.app
  await checkOut(shop, { ...cart, ...handoff, customer: { email } }, await proven(shop))
  await makeUser(shop.app, { email })
  const account = shop.visitor()
  await account.post('/auth/login', { email, password: goodPassword })
  await checkOut(shop, cart, account)
  markPaid(db, 2, 'operator', shop.app.clock.now())
  expect(historyOf(db, 2).at(-1)?.reason).toBe('marked as paid; this email address had already used HALF')
})
