import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { getUser } from '../../src/shop/accounts/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { mailsTo, nextMail, tokenOf } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'

const clock = testClock()
const password = 'tidal-basalt-93'
const refusedToken = [400, 'TOKEN_INVALID']

let shop: RunningShop
let visitor: Browser
let person = 0
let old = ''
let fresh = ''
beforeAll(async () => {
  shop = await startShop({ overrides: { clock } })
  setSetting(shop.app.db, 'limits.token_ip', 'off', 0)
  setSetting(shop.app.db, 'limits.register_ip', 'off', 0)
})
afterAll(() => shop.stop())
beforeEach(async () => {
  person += 1
  old = `old${person}@example.com`
  fresh = `new${person}@example.com`
  visitor = shop.visitor()
  await visitor.register({ email: old, password })
})

const ask = (email: string, by = visitor): Promise<Answer> => by.post('/auth/change-email', { email, password })
const confirm = (token: string, by = visitor): Promise<Answer> => by.post('/auth/confirm-email', { token })
const outcome = ({ status, error, data }: Answer): unknown[] => [status, error === undefined ? data : error.code]
const logIn = async (email: string): Promise<number> =>
  (await shop.visitor().post('/auth/login', { email, password })).status
const linkTo = async (email: string, count = 1): Promise<string> =>
  tokenOf((await nextMail(shop.dataDir, email, count)).links.email)

it('changes the email only once the link to the new address is used, and tells the old address twice', async () => {
  const guest = shop.visitor()
  const { data } = await guest.get<{ offers: { productId: number }[] }>('/store/offers')
  const items = [{ productId: data.offers[0]?.productId, quantity: 1 }]
  await guest.post('/store/checkout-session', { items, customer: { email: fresh } })

  expect(outcome(await ask(fresh))).toEqual([200, { accepted: true }])
  const token = await linkTo(fresh)
  expect((await nextMail(shop.dataDir, old)).subject).toMatch(/is about to change/)
  expect([await logIn(old), await logIn(fresh)]).toEqual([200, 401])

  expect(outcome(await confirm(token))).toEqual([200, { changed: true }])
  expect([await logIn(old), await logIn(fresh)]).toEqual([401, 200])
  expect((await nextMail(shop.dataDir, old, 2)).subject).toMatch(/was changed/)
  const me = await visitor.get<{ user: { email: string } }>('/me')
  expect(me.data.user.email).toBe(fresh)
  expect(getUser(shop.app.db, fresh).emailVerifiedAt).not.toBeNull()
  expect((await visitor.get<{ orders: unknown[] }>('/orders')).data.orders).toHaveLength(1)
  expect(outcome(await confirm(token))).toEqual(refusedToken)
})

it('leaves no earlier and no requested address behind when the account is erased', async () => {
  const never = `never${person}@example.com`
  await ask(never)
  await ask(fresh)
  await confirm(await linkTo(fresh))
  await nextMail(shop.dataDir, old, 3)
  expect((await visitor.post('/me/delete', { password })).status).toBe(200)
  const recipients = shop.app.db.sqlite.prepare('SELECT recipient FROM mails').pluck().all()
  expect(recipients.filter((address) => [old, fresh, never].includes(String(address)))).toEqual([])
})

it('shows a pending change, sends its link again, and withdraws it', async () => {
  const pending = async () => (await visitor.get<{ pending: object | null }>('/me/email-change')).data.pending
  const resend = (by = visitor) => by.post('/me/email-change/resend')
  expect(await pending()).toBeNull()
  expect(outcome(await resend())).toEqual([409, 'CONFLICT'])
  await ask(fresh)
  expect(await pending()).toEqual({ email: fresh, expiresAt: new Date(clock.now() + 86_400_000).toISOString() })
  const first = await linkTo(fresh)
  clock.advance(3_600_000)
  expect(outcome(await resend())).toEqual([200, { accepted: true }])
  expect(await pending()).toEqual({ email: fresh, expiresAt: new Date(clock.now() + 86_400_000).toISOString() })
  const second = await linkTo(fresh, 2)
  expect(outcome(await confirm(first))).toEqual(refusedToken)
  for (const _ of ['once', 'again'])
    expect(outcome(await visitor.post('/me/email-change/withdraw'))).toEqual([200, { withdrawn: true }])
  expect([await pending(), outcome(await confirm(second)), outcome(await resend())]).toEqual([
    null,
    refusedToken,
    [409, 'CONFLICT']
  ])
  // The old address was told once.
  expect(mailsTo(shop.dataDir, old)).toHaveLength(1)
  await ask(fresh)
  expect((await shop.visitor().get('/me/email-change')).status).toBe(401)
  expect(outcome(await confirm(await linkTo(fresh, 3)))).toEqual([200, { changed: true }])
  expect(await pending()).toBeNull()
})

it('stores another spelling of the same mailbox at once, without an email', async () => {
  const spelled = old.replace('old', 'Old')
  await ask(fresh)
  await linkTo(fresh)
  expect(outcome(await ask(spelled))).toEqual([200, { accepted: true }])
  const { data } = await visitor.get<{ user: { email: string } }>('/me')
  expect([data.user.email, await logIn(old)]).toEqual([spelled, 200])
  expect((await visitor.get('/me/email-change')).data).toEqual({ pending: null, verified: false })
  await shop.visitor().post('/auth/forgot-password', { email: old })
  // An email that was queued later has arrived, so none was queued for the change.
  expect((await nextMail(shop.dataDir, spelled)).links.reset).toBeDefined()
  expect([mailsTo(shop.dataDir, old).length, mailsTo(shop.dataDir, spelled).length]).toEqual([1, 1])
})

it('refuses a wrong password, and a caller without a session', async () => {
  const wrong = await visitor.post('/auth/change-email', { email: fresh, password: 'not-the-password-1' })
  expect(outcome(wrong)).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
  expect(outcome(await ask(fresh, shop.visitor()))).toEqual([401, 'NOT_AUTHENTICATED'])
  expect(outcome(await ask('not an email'))).toEqual([422, 'VALIDATION_FAILED'])
})

it('does not reveal that an email has an account, and does not write to it', async () => {
  await shop.visitor().register({ email: fresh, password })
  // Another spelling of the same mailbox.
  const taken = await ask(fresh.toUpperCase())
  const free = await ask(`free-${fresh}`)
  expect(outcome(taken)).toEqual(outcome(free))
  await linkTo(`free-${fresh}`)
  expect(mailsTo(shop.dataDir, fresh.toUpperCase())).toEqual([])
})

it('ends a link by a later request, a new password, another account with the address, or time', async () => {
  await ask(fresh)
  const first = await linkTo(fresh)
  await ask(`second-${fresh}`)
  expect(outcome(await confirm(first))).toEqual(refusedToken)

  const second = await linkTo(`second-${fresh}`)
  await shop.visitor().register({ email: `second-${fresh}`, password })
  expect(outcome(await confirm(second))).toEqual(refusedToken)

  await ask(`third-${fresh}`)
  const third = await linkTo(`third-${fresh}`)
  await visitor.post('/auth/change-password', { currentPassword: password, newPassword: 'granite-willow-71' })
  expect(outcome(await confirm(third))).toEqual(refusedToken)
  await visitor.post('/auth/change-password', { currentPassword: 'granite-willow-71', newPassword: password })

  await ask(`fourth-${fresh}`)
  const fourth = await linkTo(`fourth-${fresh}`)
  clock.advance(25 * 3_600_000)
  expect(outcome(await confirm(fourth))).toEqual(refusedToken)
  expect(await logIn(old)).toBe(200)
})

it('ends the links that the old address has got', async () => {
  await shop.visitor().post('/auth/forgot-password', { email: old })
  const reset = tokenOf((await nextMail(shop.dataDir, old)).links.reset)
  await ask(fresh)
  await confirm(await linkTo(fresh))
  const used = await shop.visitor().post('/auth/reset-password', { token: reset, password: 'granite-willow-71' })
  expect(outcome(used)).toEqual(refusedToken)
})

it('shows a page for the link whose button changes the email, and one for a link that is over', async () => {
  await ask(fresh)
  const url = `${shop.url}/account/email`
  const token = await linkTo(fresh)
  const page = await (await shop.visitor().fetch(`${url}?token=${token}`)).text()
  expect(page).toContain(fresh)
  expect(await logIn(fresh)).toBe(401)
  const sent = await visitor.form(url, { token })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/account/email/done'])
  expect(await logIn(fresh)).toBe(200)
  expect((await shop.visitor().fetch(`${url}?token=${token}`)).status).toBe(410)
})
