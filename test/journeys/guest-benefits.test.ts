import { expect, it } from 'vitest'
import { confirmEmail } from '../../src/shop/customers/verify-email.ts'
import { findUserByEmail } from '../../src/shop/accounts/find.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { mailsTo, nextMail } from '../support/mail-files.ts'
import type { Browser } from '../support/browser.ts'
import { benefitCatalog } from './catalog.ts'
import { buy, handOff, me, openShop, registerUser, withLoopback, writeDownload } from './shop.ts'
import type { Entry, JourneyShop } from './shop.ts'

const guestEmail = 'tove@shop.example'
const password = 'tidal-basalt-93'
const asGuest = { body: { customer: { email: guestEmail, firstName: 'Tove' } } }
const onSite = (visitor: Browser, shop: JourneyShop, slug: string) => handOff(shop, visitor, slug, asGuest)

type Bought = { downloads: { name: string; url: string }[]; accountAccess: string | null }
const tokenOf = (shop: JourneyShop, orderId: number): string =>
  String(shop.app.db.sqlite.prepare('SELECT public_token FROM orders WHERE id = ?').pluck().get(orderId))
const read = async (shop: JourneyShop, orderId: number): Promise<Bought> =>
  (await shop.visitor().get<Bought>(`/store/orders/${tokenOf(shop, orderId)}`)).data
const orderPage = async (shop: JourneyShop, orderId: number): Promise<string> =>
  (await shop.visitor().fetch(`${shop.url}/checkout/done/${tokenOf(shop, orderId)}`)).text()
const fileAt = async (shop: JourneyShop, url: string | undefined) => {
  const answer = await shop.visitor().fetch(`${shop.url}${url}`)
  return [answer.status, await answer.text()]
}

/** The link of the email about the account, which is the second one after the receipt. */
async function claimLink(shop: JourneyShop, count = 2): Promise<string> {
  const mail = await nextMail(shop.dataDir, guestEmail, count)
  expect(mail.subject).toMatch(/^Open your account for your order \d+ at Shopstead Demo$/)
  return withLoopback(/https?:\S+\/account\/claim\?token=\S+/.exec(mail.text)?.[0] ?? '')
}
const openLink = (shop: JourneyShop, link: string) => shop.visitor().fetch(link)
const use = (shop: JourneyShop, link: string, fields: Record<string, string> = { password }) =>
  shop.visitor().form(`${shop.url}/account/claim`, { token: new URL(link).searchParams.get('token') ?? '', ...fields })
const logIn = async (shop: JourneyShop, secret = password) => {
  const visitor = shop.visitor()
  const { status } = await visitor.post('/auth/login', { email: guestEmail, password: secret })
  return { visitor, status }
}

it('a guest gets the files of an order on its page, in the API and named in the receipt, with both strategies', async () => {
  const shop = await openShop(benefitCatalog)
  writeDownload(shop, 'song.txt', 'la la la')
  const hosted = await buy(shop, shop.visitor(), 'song', asGuest)
  const { data: handed } = await onSite(shop.visitor(), shop, 'song')
  for (const orderId of [hosted.orderId, handed.orderId]) {
    const { downloads, accountAccess } = await read(shop, orderId)
    expect([downloads.map(({ name }) => name), accountAccess]).toEqual([['song.txt'], null])
    expect(await fileAt(shop, downloads[0]?.url)).toEqual([200, 'la la la'])
    expect(await orderPage(shop, orderId)).toMatch(/Your files.*href="\/downloads\/[^"]+" download>song\.txt</s)
  }
  const receipt = await nextMail(shop.dataDir, guestEmail, 1)
  expect(receipt.text).toContain('Your files are on the page of your order: song.txt.')
})

it('the links of a guest end with the time that was bought, and with a refund', async () => {
  const shop = await openShop(benefitCatalog)
  writeDownload(shop, 'song.txt', 'la la la')
  writeDownload(shop, 'charts/north sea.pdf', 'waves')
  const charts = await buy(shop, shop.visitor(), 'charts', asGuest)
  const song = await buy(shop, shop.visitor(), 'song', asGuest)
  const old = (await read(shop, song.orderId)).downloads[0]?.url
  shop.clock.advance(31 * 86_400_000)
  expect((await fileAt(shop, old))[0]).toBe(404)
  expect((await read(shop, charts.orderId)).downloads).toEqual([])
  const current = (await read(shop, song.orderId)).downloads[0]?.url
  expect((await fileAt(shop, current))[0]).toBe(200)
  await refundOrder(shop.app, song.orderId, {}, 'operator')
  expect((await fileAt(shop, current))[0]).toBe(404)
  expect((await read(shop, song.orderId)).downloads).toEqual([])
})

it.each(['keepers-month', 'glazing', 'almanac'])('the link in the email opens an account for %s', async (slug) => {
  const shop = await openShop(benefitCatalog)
  const { orderId } = await buy(shop, shop.visitor(), slug, asGuest)
  expect((await read(shop, orderId)).accountAccess).toBe('waiting')
  expect(await orderPage(shop, orderId)).toContain('You use a part of your order with an account.')
  const link = await claimLink(shop)
  expect(await (await openLink(shop, link)).text()).toContain(guestEmail)
  const weak = await use(shop, link, { password: 'short' })
  expect([weak.status, await weak.text()]).toEqual([400, expect.stringContaining('at least')])
  const done = await use(shop, link)
  expect([done.status, done.headers.get('location')]).toEqual([303, '/account/claim/done'])
  const { visitor, status } = await logIn(shop)
  expect(status).toBe(200)
  const { entitlements, user } = await me(visitor)
  expect(user['displayName']).toBe('Tove')
  expect([entitlements.memberships.length, entitlements.subscriptions.length, orderId]).toEqual([
    slug === 'keepers-month' ? 1 : 0,
    slug === 'almanac' ? 1 : 0,
    entitlements.orders[0]?.['id']
  ])
  expect((await read(shop, orderId)).accountAccess).toBe('given')
  expect([(await openLink(shop, link)).status, (await use(shop, link)).status]).toEqual([410, 410])
})

it('a file that a guest bought moves into the account with the order, and its old link keeps working', async () => {
  const shop = await openShop(benefitCatalog)
  writeDownload(shop, 'song.txt', 'la la la')
  const song = await buy(shop, shop.visitor(), 'song', asGuest)
  const url = (await read(shop, song.orderId)).downloads[0]?.url
  await buy(shop, shop.visitor(), 'keepers-month', asGuest)
  await use(shop, await claimLink(shop, 3))
  const { visitor } = await logIn(shop)
  const { data } = await visitor.get<{ downloads: Entry[] }>('/me/downloads')
  expect(data.downloads.map(({ name }) => name)).toEqual(['song.txt'])
  expect(await read(shop, song.orderId)).toMatchObject({ downloads: [], accountAccess: 'given' })
  expect(await fileAt(shop, url)).toEqual([200, 'la la la'])
})

it('the link adds the order to an account whose email is verified, and leaves its password and sessions alone', async () => {
  const shop = await openShop(benefitCatalog)
  const owner = await registerUser(shop, 'tove')
  confirmEmail(shop.app.db, findUserByEmail(shop.app.db, guestEmail)?.id ?? 0, shop.clock.now())
  await buy(shop, shop.visitor(), 'keepers-month', asGuest)
  const link = await claimLink(shop)
  const page = await (await openLink(shop, link)).text()
  expect([page.includes('Add my orders'), page.includes('type="password"')]).toEqual([true, false])
  expect((await use(shop, link, { password: 'another-long-secret-7' })).status).toBe(303)
  expect((await me(owner)).entitlements.memberships).toHaveLength(1)
  expect([(await logIn(shop)).status, (await logIn(shop, 'another-long-secret-7')).status]).toEqual([200, 401])
})

it('the link takes the account away from a stranger who registered the email without proving it', async () => {
  const shop = await openShop(benefitCatalog)
  const stranger = await registerUser(shop, 'tove')
  await buy(shop, shop.visitor(), 'keepers-month', asGuest)
  await use(shop, await claimLink(shop), { password: 'harbour-seal-1907' })
  expect((await stranger.get('/me')).status).toBe(401)
  expect([(await logIn(shop)).status, (await logIn(shop, 'harbour-seal-1907')).status]).toEqual([401, 200])
})

it('the page of the order sends the link again, and not without end', async () => {
  const shop = await openShop(benefitCatalog)
  const { orderId } = await buy(shop, shop.visitor(), 'keepers-month', asGuest)
  const again = () => shop.visitor().form(`${shop.url}/checkout/claim/${tokenOf(shop, orderId)}`, {})
  const statuses = []
  for (let sent = 0; sent < 6; sent += 1) statuses.push((await again()).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  const link = await claimLink(shop, 3)
  shop.clock.advance(31 * 86_400_000)
  expect((await openLink(shop, link)).status).toBe(410)
})

it('nothing is sent for an order that needs no account, and a forged link opens nothing', async () => {
  const shop = await openShop(benefitCatalog)
  const { orderId } = await buy(shop, shop.visitor(), 'gift', asGuest)
  expect(await read(shop, orderId)).toMatchObject({ downloads: [], accountAccess: null })
  await shop.visitor().form(`${shop.url}/checkout/claim/${tokenOf(shop, orderId)}`, {})
  await nextMail(shop.dataDir, guestEmail, 1)
  expect(mailsTo(shop.dataDir, guestEmail)).toHaveLength(1)
  const forged = `${shop.url}/account/claim?token=${orderId}.zzzzzzzz.${'A'.repeat(43)}`
  expect([(await openLink(shop, forged)).status, (await use(shop, forged)).status]).toEqual([410, 410])
})
