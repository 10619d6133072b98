import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { couponsOf } from '../../src/shop/orders/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { checkOut, handoff, mug, set } from '../api/checkout-support.ts'
import { quay } from '../support/addresses.ts'
import type { Browser } from '../support/browser.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { mailsTo, nextMail } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'

// Buyers share the link of an order, and emails are forwarded. Who has only the link reads the order and cancels it.

const clock = testClock()
let shop: RunningShop
let buyer: Browser
let stranger: Browser
let email = ''
let person = 0
beforeAll(async () => {
  shop = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' }, overrides: { clock } })
  set(shop, withoutHoldLimits)
})
afterAll(() => shop.stop())
beforeEach(() => {
  person += 1
  email = `lena${person}@example.com`
  buyer = shop.visitor()
  stranger = shop.visitor()
})

type Placed = { token: string; url: string; order: () => OrderRow }

async function place(body: object = {}): Promise<Placed> {
  const { data } = await checkOut(buyer, { items: [mug], customer: { email }, shippingAddress: quay, ...body })
  const token = data.orderToken
  return { token, url: `${shop.url}/checkout/${token}`, order: () => getOrderByPublicToken(shop.app.db, token) }
}
const leadsTo = (response: Response): string | null => response.headers.get('location')
const codeOf = (text: string): string => /\b\d{8}\b/.exec(text)?.[0] ?? ''
const typed = { ...quay, email: 'mallory@example.com', payment_method: 'card', address1: 'Other Street 1' }
const other = { ...typed, change: '1' }

/** Asks for a code as the page does, and reads it in the mailbox. */
async function askForCode(browser: Browser, token: string, to: string): Promise<string> {
  const page = `${shop.url}/checkout/prove/${token}`
  const before = mailsTo(shop.dataDir, email).length
  const sent = await browser.form(page, { action: 'send', to })
  expect(await sent.text()).toContain('name="code"')
  return codeOf((await nextMail(shop.dataDir, email, before + 1)).subject)
}

it('does not let a person who only has the link change the email, address, coupon or way to pay of an order', async () => {
  const { url, token, order } = await place()
  const before = order()
  const attacks = [
    { fields: other, to: 'change' },
    { fields: { coupon: 'TEN' }, to: 'pay' },
    { fields: { payment_method: 'manual' }, to: 'pay' }
  ]
  for (const { fields, to } of attacks) {
    const sent = await stranger.form(url, fields)
    expect([sent.status, leadsTo(sent)]).toEqual([303, `/checkout/prove/${token}?to=${to}`])
  }
  expect(leadsTo(await stranger.fetch(`${url}?change`))).toBe(`/checkout/prove/${token}?to=change`)
  expect(order()).toEqual(before)
  expect(couponsOf(shop.app.db, before.id)).toEqual([])
  const page = await (await stranger.fetch(`${shop.url}/checkout/prove/${token}`)).text()
  expect(page).toContain('l…@example.com')
  expect(page).not.toContain(email)
})

it('lets the browser that placed an order change it', async () => {
  const { url, order } = await place()
  await buyer.form(url, { coupon: 'TEN' })
  expect(couponsOf(shop.app.db, order().id)).toHaveLength(1)
  await buyer.form(url, { ...other, email: 'lena.new@example.com' })
  expect(order()).toMatchObject({ email: 'lena.new@example.com', shippingAddress: { address1: 'Other Street 1' } })
})

it("lets a buyer change an order in another browser after a code that was sent to the order's email", async () => {
  const { url, token, order } = await place()
  const phone = shop.visitor()
  const code = await askForCode(phone, token, 'change')
  const page = `${shop.url}/checkout/prove/${token}`
  const wrong = await phone.form(page, { action: 'check', code: '00000000', to: 'change' })
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('wrong or has expired')])
  const proven = await phone.form(page, {
    action: 'check',
    code: ` ${code.slice(0, 4)} ${code.slice(4)}`,
    to: 'change'
  })
  expect([proven.status, leadsTo(proven)]).toEqual([303, `/checkout/${token}?change`])
  await phone.form(url, other)
  expect(order()).toMatchObject({ email: 'mallory@example.com' })
  // The proof is about the old email, but this browser gave the new one.
  await phone.form(url, { ...other, address1: 'Third Street 3' })
  expect(order()).toMatchObject({ shippingAddress: { address1: 'Third Street 3' } })
})

it('refuses more codes than the limit, and a code that is 30 minutes old', async () => {
  const { token } = await place()
  const page = `${shop.url}/checkout/prove/${token}`
  const code = await askForCode(stranger, token, 'pay')
  clock.advance(31 * 60_000)
  expect((await stranger.form(page, { action: 'check', code })).status).toBe(400)
  setSetting(shop.app.db, 'limits.code_email', '3/3600', 0)
  const tries = Array.from({ length: 10 }, () => stranger.form(page, { action: 'check', code: '12345678' }))
  const statuses = (await Promise.all(tries)).map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([400, 400, ...Array.from({ length: 8 }, () => 429)])
})

it('lets everyone with the link pay by card, and add what an order does not have', async () => {
  const { url, order } = await place({ shippingAddress: undefined })
  const sent = await stranger.form(url, { payment_method: 'card', ...quay, lastName: 'Brandt' })
  expect(leadsTo(sent)).toContain('/sandbox/checkout/')
  expect(order()).toMatchObject({ email, shippingAddress: { city: quay.city } })
  expect(leadsTo(await stranger.form(url, typed))).toContain('/sandbox/checkout/')
  expect(order()).toMatchObject({ email, shippingAddress: { address1: quay.address1 } })
})

it('makes the browser that gives an order its first email the buyer, and no other', async () => {
  const { url, order } = await place({ customer: undefined })
  const site = shop.visitor()
  await site.form(url, { payment_method: 'card', email })
  expect(order()).toMatchObject({ email })
  expect(leadsTo(await stranger.form(url, other))).toContain('/checkout/prove/')
  await site.form(url, other)
  expect(order()).toMatchObject({ email: 'mallory@example.com' })
})

it("changes the order of an account only with its session, or with a code to the account's email", async () => {
  await buyer.register({ email })
  const { url, order } = await place({ customer: undefined })
  const mine = shop.visitor()
  await mine.register({ email: `mallory${person}@example.com` })
  expect(leadsTo(await mine.form(url, { coupon: 'TEN' }))).toContain('/checkout/prove/')
  await buyer.form(url, { coupon: 'TEN' })
  expect(couponsOf(shop.app.db, order().id)).toHaveLength(1)
})

it('shows the name and the address of an invoice to the buyer, and not to everyone who has the link', async () => {
  const name = { ...quay, firstName: 'Lena', lastName: 'Brandt' }
  const { token } = await place({ ...handoff, billingAddress: name })
  const page = `${shop.url}/checkout/invoice/${token}`
  const seenBy = async (browser: Browser, url = page): Promise<boolean[]> => {
    const html = await (await browser.fetch(url)).text()
    expect(html).toContain('Invoice number')
    return ['Brandt', 'Quay 7', 'Show the name and address'].map((words) => html.includes(words))
  }
  expect(await seenBy(stranger)).toEqual([false, false, true])
  expect(await seenBy(stranger, `${page}?proof=1.zzzzzzz.${'a'.repeat(43)}`)).toEqual([false, false, true])
  expect(await seenBy(buyer)).toEqual([true, true, false])
  const receipt = await nextMail(shop.dataDir, email, 1)
  const [link = ''] = /http\S+\/checkout\/invoice\/\S+/.exec(receipt.text) ?? []
  expect(await seenBy(shop.visitor(), link.replace('//localhost:', '//127.0.0.1:'))).toEqual([true, true, false])
  const phone = shop.visitor()
  const code = await askForCode(phone, token, 'invoice')
  const proven = await phone.form(`${shop.url}/checkout/prove/${token}`, { action: 'check', code, to: 'invoice' })
  expect(leadsTo(proven)).toBe(`/checkout/invoice/${token}`)
  expect(await seenBy(phone)).toEqual([true, true, false])
})
