import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { getUser } from '../../src/shop/accounts/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Browser } from '../support/browser.ts'
import { mailsTo, nextMail, tokenOf } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'

// A link in an email proves the mailbox, not that its reader holds the account.

const clock = testClock()
const password = 'tidal-basalt-93'
const chosen = 'granite-willow-71'

let shop: RunningShop
let person = 0
let buyer = ''
let other: Browser
beforeAll(async () => {
  shop = await startShop({ overrides: { clock } })
  for (const bucket of ['token_ip', 'register_ip'] as const) setSetting(shop.app.db, `limits.${bucket}`, 'off', 0)
})
afterAll(() => shop.stop())
beforeEach(async () => {
  setSetting(shop.app.db, 'registration.emailVerification', 'false', 0)
  person += 1
  buyer = `buyer${person}@example.com`
  other = shop.visitor()
  const guest = shop.visitor()
  const { data } = await guest.get<{ offers: { productId: number }[] }>('/store/offers')
  const items = [{ productId: data.offers[0]?.productId, quantity: 1 }]
  await guest.post('/store/checkout-session', { items, customer: { email: buyer } })
})

const logIn = async (email: string, word: string): Promise<number> =>
  (await shop.visitor().post('/auth/login', { email, password: word })).status
const ordersOf = async (browser: Browser): Promise<number | string> => {
  const { data, error } = await browser.get<{ orders: unknown[] }>('/orders')
  return error === undefined ? data.orders.length : error.code
}
/** The token of the newest email to an address with such a link. */
const linkTo = async (email: string, kind: 'verify' | 'reset' | 'email' | 'undo'): Promise<string> => {
  const find = () => mailsTo(shop.dataDir, email).findLast(({ links }) => links[kind] !== undefined)?.links[kind]
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  return tokenOf(find())
}
const verifyPage = (): string => `${shop.url}/account/verify`

it('gives an account that another person registered to the owner of the mailbox, without its password and sessions', async () => {
  await other.register({ email: buyer, password })
  await other.post('/auth/resend-verification', { email: buyer })
  const token = await linkTo(buyer, 'verify')
  const owner = shop.visitor()
  expect(await (await owner.fetch(`${verifyPage()}?token=${token}`)).text()).toContain('name="password"')
  const missing = await owner.post('/auth/verify-email', { token })
  expect([missing.status, Object.keys(missing.error.details['fieldErrors'] ?? {})]).toEqual([422, ['password']])
  expect(await ordersOf(other)).toBe(0)

  const sent = await owner.form(verifyPage(), { token, password: chosen })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/account/verify/done'])
  expect(await ordersOf(other)).toBe('NOT_AUTHENTICATED')
  expect([await logIn(buyer, password), await logIn(buyer, chosen)]).toEqual([401, 200])
  await owner.post('/auth/login', { email: buyer, password: chosen })
  expect(await ordersOf(owner)).toBe(1)
})

it('verifies without a password in the browser that registered, and keeps a password that is entered elsewhere', async () => {
  setSetting(shop.app.db, 'registration.emailVerification', 'true', 0)
  await other.register({ email: buyer, password })
  const form = await (await other.fetch(`${verifyPage()}?token=${await linkTo(buyer, 'verify')}`)).text()
  expect(form).not.toContain('name="password"')
  const elsewhere = shop.visitor()
  const token = await linkTo(buyer, 'verify')
  expect((await elsewhere.post('/auth/verify-email', { token, password })).status).toBe(200)
  expect(await logIn(buyer, password)).toBe(200)

  const own = `own${person}@example.com`
  await other.register({ email: own, password })
  const link = { token: await linkTo(own, 'verify') }
  expect((await other.post('/auth/verify-email', link)).status).toBe(200)
  expect(await logIn(own, password)).toBe(200)
})

it("does not make another person's email an account's without the account's session or password", async () => {
  const mine = `mine${person}@example.com`
  await other.register({ email: mine, password })
  await other.post('/auth/change-email', { email: buyer, password })
  const token = await linkTo(buyer, 'email')
  const owner = shop.visitor()
  const page = `${shop.url}/account/email`
  expect(await (await owner.fetch(`${page}?token=${token}`)).text()).toContain('current-password')
  expect((await owner.form(page, { token })).status).toBe(422)
  expect((await owner.form(page, { token, password: chosen })).status).toBe(401)
  expect(await ordersOf(other)).toBe(0)
  expect(getUser(shop.app.db, mine).emailVerifiedAt).toBeNull()
  // The person who asked for the change reads the email on another device.
  expect((await owner.post('/auth/confirm-email', { token, password })).status).toBe(200)
  expect(await ordersOf(other)).toBe(1)
})

it('undoes a change of the email for 7 days by a link to the old mailbox, whatever an intruder did since', async () => {
  const old = `old${person}@example.com`
  await other.register({ email: old, password })
  await other.post('/auth/resend-verification', { email: old })
  await other.post('/auth/verify-email', { token: await linkTo(old, 'verify') })
  const change = async (email: string, word = password): Promise<void> => {
    await other.post('/auth/change-email', { email, password: word })
    await other.post('/auth/confirm-email', { token: await linkTo(email, 'email') })
  }
  await change(`first${person}@example.net`)
  await other.post('/auth/change-password', { currentPassword: password, newPassword: chosen })
  await change(`second${person}@example.net`, chosen)
  // An intruder cannot take the old address to stop its owner.
  expect((await shop.visitor().register({ email: old, password })).status).toBe(400)
  const token = await linkTo(old, 'undo')
  const later = await linkTo(`first${person}@example.net`, 'undo')

  clock.advance(7 * 86_400_000 - 1)
  const owner = shop.visitor()
  const page = `${shop.url}/account/email/undo`
  expect(await (await owner.fetch(`${page}?token=${token}`)).text()).toContain(old)
  expect((await owner.form(page, { token })).status).toBe(422)
  expect((await owner.form(page, { token, password: 'basalt-orchard-55' })).status).toBe(303)
  expect([await logIn(old, 'basalt-orchard-55'), await logIn(`second${person}@example.net`, chosen)]).toEqual([
    200, 401
  ])
  expect(await ordersOf(other)).toBe('NOT_AUTHENTICATED')
  const again = await other.post('/auth/undo-email-change', { token: later, password: chosen })
  expect([again.status, again.error.code]).toEqual([400, 'TOKEN_INVALID'])
})

it('ends an undo link after 7 days, and sends none to an address that was never verified', async () => {
  const typo = `typo${person}@example.com`
  const right = `right${person}@example.com`
  await other.register({ email: typo, password })
  await other.post('/auth/change-email', { email: right, password })
  await other.post('/auth/confirm-email', { token: await linkTo(right, 'email') })
  expect((await nextMail(shop.dataDir, typo, 2)).links).toEqual({})
  const next = `next${person}@example.com`
  await other.post('/auth/change-email', { email: next, password })
  await other.post('/auth/confirm-email', { token: await linkTo(next, 'email') })
  const token = await linkTo(right, 'undo')
  clock.advance(7 * 86_400_000)
  const undone = await shop.visitor().post('/auth/undo-email-change', { token, password: chosen })
  expect([undone.status, undone.error.code]).toEqual([400, 'TOKEN_INVALID'])
  expect((await shop.visitor().register({ email: right, password })).status).toBe(201)
})

it('removes by a reset what an intruder may have left, and tells the owner', async () => {
  await other.register({ email: buyer, password })
  const address = { address1: 'Kai 7', city: 'Hamburg', postcode: '20457', country: 'DE', name: 'Mallory' }
  expect((await other.post('/me/address', { address })).error).toBeUndefined()
  await other.send('PATCH', '/me', { billingEmail: 'mallory@example.net' })
  await other.post('/auth/change-email', { email: `mallory${person}@example.net`, password })
  await shop.visitor().post('/auth/forgot-password', { email: buyer })
  const reset = await linkTo(buyer, 'reset')
  expect((await shop.visitor().post('/auth/reset-password', { token: reset, password: chosen })).status).toBe(200)
  expect(getUser(shop.app.db, buyer)).toMatchObject({ address: null, billingEmail: null })
  const { text } = await nextMail(shop.dataDir, buyer, 3)
  for (const said of ['saved address', 'billing email', 'change of the email']) expect(text).toContain(said)
  // The device cookie of the old password does not verify a link, and the change cannot be confirmed.
  const token = await linkTo(`mallory${person}@example.net`, 'email')
  expect((await other.post('/auth/confirm-email', { token, password })).error.code).toBe('TOKEN_INVALID')
})
