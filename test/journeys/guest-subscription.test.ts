import { expect, it } from 'vitest'
import { confirmEmail } from '../../src/shop/customers/verify-email.ts'
import { mailsTo, nextMail } from '../support/mail-files.ts'
import type { Browser } from '../support/browser.ts'
import { benefitCatalog } from './catalog.ts'
import { buy, handOff, openShop, registerUser } from './shop.ts'
import type { Entry, JourneyShop } from './shop.ts'

const guestEmail = 'tove@shop.example'

/** A shop in which a guest has bought a subscription; `token` is the one of the order. */
async function guestSubscriber() {
  const shop = await openShop(benefitCatalog)
  const guest = shop.visitor()
  const { orderId } = await buy(shop, guest, 'almanac-pro', { body: { customer: { email: guestEmail } } })
  return { shop, guest, token: tokenOf(shop, orderId) }
}

const tokenOf = (shop: JourneyShop, orderId: number): string =>
  String(shop.app.db.sqlite.prepare('SELECT public_token FROM orders WHERE id = ?').pluck().get(orderId))
const atStripe = (shop: JourneyShop) => shop.app.sandbox?.ledger().subscriptions[0]
const pageOf = async (visitor: Browser, path: string): Promise<string> =>
  (await visitor.fetch(`${visitor.origin}/checkout/${path}`)).text()
/** Asks for the link that ends the subscription, as a site does. */
const ask = (visitor: Browser, token: string) =>
  visitor.post<{ subscription: Entry | null }>(`/store/orders/${token}/end-subscription`)
/** The tokens of the links that end a subscription. */
const linksOf = (shop: JourneyShop): string[] =>
  mailsTo(shop.dataDir, guestEmail).flatMap(({ text }) => /end-subscription\?token=(\S+)/.exec(text)?.[1] ?? [])
async function nextLink(shop: JourneyShop, count: number): Promise<string> {
  await expect.poll(() => linksOf(shop).length, { timeout: 10_000 }).toBe(count)
  return linksOf(shop).at(-1) ?? ''
}
/** Ends a subscription by the link that the shop sends. */
async function end(shop: JourneyShop, visitor: Browser, token: string): Promise<Response> {
  const before = linksOf(shop).length
  expect((await ask(visitor, token)).status).toBe(200)
  const link = await nextLink(shop, before + 1)
  return visitor.form(`${shop.url}/checkout/end-subscription`, { token: link })
}
const read = async (visitor: Browser, token: string) =>
  (await visitor.get<{ subscription: Entry | null }>(`/store/orders/${token}`)).data.subscription

const running = {
  currentPeriodEnd: '2027-01-15T12:00:00.000Z',
  cancelAtPeriodEnd: false,
  nextPaymentAt: '2027-01-15T12:00:00.000Z',
  canCancel: true
}
const ending = { ...running, cancelAtPeriodEnd: true, nextPaymentAt: null, canCancel: false }

it('a guest ends a subscription by a link that the page of the order emails, after a confirmation', async () => {
  const { shop, guest, token } = await guestSubscriber()
  const receipt = await nextMail(shop.dataDir, guestEmail, 1)
  expect(receipt.text).toContain('You can end your subscription at any time. Use the link on the page of your order.')
  expect(receipt.text).toContain(`/checkout/done/${token}`)
  const link = `<a href="/checkout/subscription/${token}">End the subscription</a>`
  expect(await pageOf(guest, `done/${token}`)).toContain(
    `Your subscription renews on 15 January 2027. You can end it at any time. ${link}`
  )
  expect(await pageOf(guest, `subscription/${token}`)).toContain('to t…@shop.example')
  const sent = await guest.form(`${shop.url}/checkout/subscription/${token}`, {})
  expect([sent.status, await sent.text()]).toEqual([200, expect.stringContaining('We have sent you a link')])
  const mailed = await nextLink(shop, 1)
  expect(await pageOf(guest, `end-subscription?token=${mailed}`)).toContain('until 15 January 2027')
  expect(atStripe(shop)).toMatchObject({ cancel_at_period_end: false })
  for (const _ of ['once', 'again']) {
    const answer = await guest.form(`${shop.url}/checkout/end-subscription`, { token: mailed })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/checkout/done/${token}`])
  }
  expect(atStripe(shop)).toMatchObject({ status: 'active', cancel_at_period_end: true })
  const page = await pageOf(guest, `done/${token}`)
  expect(page).toContain('Your subscription ends on 15 January 2027. You will not be charged again.')
  expect(page).not.toContain('End the subscription')
  await shop.app.sandbox?.deliverDue()
  const confirmation = await nextMail(shop.dataDir, guestEmail, 4)
  expect(confirmation.subject).toBe('Your subscription at Shopstead Demo is cancelled')
  expect(confirmation.text).toContain('It ends on 15 January 2027.')
  expect(mailsTo(shop.dataDir, guestEmail)).toHaveLength(4)
  const late = await guest.fetch(`${shop.url}/checkout/subscription/${token}`)
  expect([late.status, late.headers.get('location')]).toEqual([303, `/checkout/done/${token}`])
})

it('a person who only has the link of the order does not end the subscription, by the API or by a page', async () => {
  const { shop, token } = await guestSubscriber()
  const stranger = shop.visitor()
  const asked = await ask(stranger, token)
  expect([asked.status, asked.data.subscription]).toEqual([200, running])
  await stranger.form(`${shop.url}/checkout/subscription/${token}`, {})
  for (const forged of [token, `1.zzzzzzzz.${'a'.repeat(43)}`, ''])
    expect((await stranger.form(`${shop.url}/checkout/end-subscription`, { token: forged })).status).toBe(410)
  expect(atStripe(shop)).toMatchObject({ cancel_at_period_end: false })
  expect(await read(stranger, token)).toEqual(running)
  expect((await ask(stranger, 'unknown')).error.code).toBe('NOT_FOUND')
})

it('a site asks for the link, and sends none for a subscription that ends', async () => {
  const { shop, guest, token } = await guestSubscriber()
  expect(await read(guest, token)).toEqual(running)
  await end(shop, shop.visitor(), token)
  expect(await read(guest, token)).toEqual(ending)
  expect((await ask(guest, token)).data.subscription).toEqual(ending)
  expect(atStripe(shop)).toMatchObject({ cancel_at_period_end: true })
})

it('nothing is stored while Stripe does not answer, and the page says so', async () => {
  const { shop, guest, token } = await guestSubscriber()
  shop.app.sandbox?.addFault({ target: 'subscriptions.update', fault: '503', times: -1 })
  const page = await end(shop, guest, token)
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('the subscription was not ended')])
  expect(await read(guest, token)).toEqual(running)
})

it('a renewal that failed ends at once, also by the token of a renewal', async () => {
  const { shop, guest } = await guestSubscriber()
  shop.app.sandbox?.renewSubscription(atStripe(shop)?.id ?? '')
  await shop.app.sandbox?.deliverDue()
  const renewal = tokenOf(shop, 2)
  expect(await read(guest, renewal)).toMatchObject({ currentPeriodEnd: '2028-01-15T12:00:00.000Z', canCancel: true })
  shop.app.sandbox?.renewSubscription(atStripe(shop)?.id ?? '', 'failed')
  await shop.app.sandbox?.deliverDue()
  await end(shop, guest, renewal)
  expect(await read(guest, renewal)).toMatchObject({ nextPaymentAt: null, canCancel: false })
  expect(atStripe(shop)).toMatchObject({ status: 'canceled' })
  const subjects = () => mailsTo(shop.dataDir, guestEmail).map(({ subject }) => subject)
  await expect.poll(subjects).toContain('Your subscription at Shopstead Demo has ended')
})

it('the subscription of an account is not ended by the token of its order', async () => {
  const shop = await openShop(benefitCatalog, { 'storefront.enabled': 'true' })
  const lena = await registerUser(shop, 'lena')
  const token = tokenOf(shop, (await buy(shop, lena, 'almanac-pro')).orderId)
  expect(await read(lena, token)).toBeNull()
  expect((await ask(lena, token)).error.code).toBe('CONFLICT')
  expect(await pageOf(lena, `done/${token}`)).toMatch(/end your subscription[^<]*<a href="\/account">My account/)
  expect(atStripe(shop)).toMatchObject({ cancel_at_period_end: false })
  const { data } = await handOff(shop, shop.visitor(), 'almanac', { body: { customer: { email: guestEmail } } })
  expect(await pageOf(lena, `done/${tokenOf(shop, data.orderId)}`)).not.toContain('ubscription renews')
})

it('an account that claims the order of a guest sees that its subscription ends', async () => {
  const { shop, guest, token } = await guestSubscriber()
  await end(shop, guest, token)
  const tove = await registerUser(shop, 'tove')
  const [{ id }] = shop.app.db.sqlite.prepare('SELECT id FROM users').all() as [{ id: number }]
  confirmEmail(shop.app.db, id, shop.clock.now())
  const { subscriptions } = (await tove.get<{ subscriptions: Entry[] }>('/me/subscriptions')).data
  expect(subscriptions).toMatchObject([{ cancelAtPeriodEnd: true, nextPaymentAt: null, canCancel: false }])
  expect((await ask(guest, token)).error.code).toBe('CONFLICT')
})
