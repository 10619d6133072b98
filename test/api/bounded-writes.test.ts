import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { routes } from '../../src/api/routes.ts'
import { pageRoutes } from '../../src/pages/pages.ts'
import { settingKeys } from '../../src/shop/settings/definitions.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Browser } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import { checkOut, mug } from './checkout-support.ts'

let shop: RunningShop
const warnings: string[] = []
// A loaded machine blocks the event loop too.
const warn = (message: string) => void (message !== 'the event loop was blocked' && warnings.push(message))
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1', SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    // Time stands still: some limits count by the minute of the clock, and a new minute allows more.
    overrides: { clock: testClock(), log: { debug: () => undefined, info: () => undefined, warn, error: warn } }
  })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
  setSetting(shop.app.db, 'affiliates.termsVersion', '1.0.0', 0)
  for (const key of settingKeys) if (key.startsWith('limits.')) setSetting(shop.app.db, key, `${points}/3600`, 0)
})
afterAll(() => shop.stop())

const points = 3
/** More requests than any limit allows; refused webhook signatures are counted ten times a minute. */
const untilRefused = 12
const afterwards = 4

type Attempt = (index: number) => Promise<{ status: number }>
/** What a visitor repeats at a route, and the status of the first time. */
type Scenario = { first: number; prepare: (visitor: Browser) => Attempt | Promise<Attempt> }

const anonymous = (
  first: number,
  send: (visitor: Browser, index: number) => Promise<{ status: number }>
): Scenario => ({
  first,
  prepare: (visitor) => (index) => send(visitor, index)
})

let people = 0
/** A scenario of a visitor who is logged in to an account of their own. */
const loggedIn = (first: number, send: (visitor: Browser, index: number) => Promise<{ status: number }>): Scenario => ({
  first,
  prepare: async (visitor) => {
    people += 1
    const email = `person${people}@shop.example`
    await makeUser(shop.app, { email, verified: true })
    expect((await visitor.post('/auth/login', { email, password: goodPassword })).status).toBe(200)
    return (index) => send(visitor, index)
  }
})

/** The public URL names localhost, which may resolve to another address than the one that is listened on. */
const onLoopback = (url = ''): string => url.replace('//localhost:', '//127.0.0.1:')
const passwords = [goodPassword, 'granite-willow-71']
const fresh = (index: number): string => `fresh${index}-${randomUUID().slice(0, 8)}@shop.example`

/** Every route that may write. A right password at login is not here: it costs argon2's time, and an account has 100 sessions. */
const scenarios: Readonly<Record<string, Scenario>> = {
  'POST /auth/register': anonymous(201, async (visitor, index) => visitor.register({ email: fresh(index) })),
  'POST /auth/login': anonymous(401, (visitor) => visitor.post('/auth/login', { username: 'nemo', password: 'wrong' })),
  'POST /auth/logout': loggedIn(200, (visitor) => visitor.post('/auth/logout')),
  'POST /auth/verify-email': anonymous(400, (visitor) => visitor.post('/auth/verify-email', { token: 'x' })),
  'POST /auth/resend-verification': anonymous(200, (visitor, index) =>
    visitor.post('/auth/resend-verification', { email: fresh(index) })
  ),
  'POST /auth/forgot-password': anonymous(200, (visitor, index) =>
    visitor.post('/auth/forgot-password', { email: fresh(index) })
  ),
  'POST /auth/reset-password': anonymous(400, (visitor) =>
    visitor.post('/auth/reset-password', { token: 'x', password: goodPassword })
  ),
  'POST /auth/change-password': loggedIn(200, (visitor, index) =>
    visitor.post('/auth/change-password', {
      currentPassword: passwords[index % 2],
      newPassword: passwords[(index + 1) % 2]
    })
  ),
  'POST /auth/change-email': loggedIn(200, (visitor, index) =>
    visitor.post('/auth/change-email', { email: fresh(index), password: passwords[0] })
  ),
  'POST /auth/undo-email-change': anonymous(400, (visitor) =>
    visitor.post('/auth/undo-email-change', { token: 'x', password: goodPassword })
  ),
  'POST /auth/confirm-email': anonymous(400, (visitor) => visitor.post('/auth/confirm-email', { token: 'x' })),
  'POST /me/delete': loggedIn(401, (visitor) => visitor.post('/me/delete', { password: 'not-the-password-1' })),
  'PATCH /me': loggedIn(200, (visitor, index) => visitor.send('PATCH', '/me', { firstName: `Ada ${index}` })),
  'POST /me/email-change/resend': loggedIn(409, (visitor) => visitor.post('/me/email-change/resend')),
  'POST /me/email-change/withdraw': loggedIn(200, (visitor) => visitor.post('/me/email-change/withdraw')),
  'POST /me/address': loggedIn(200, (visitor) => visitor.post('/me/address', { address: null })),
  'POST /me/subscriptions/{id}/cancel': loggedIn(404, (visitor) => visitor.post('/me/subscriptions/1/cancel')),
  'POST /me/subscriptions/{id}/portal': loggedIn(404, (visitor) => visitor.post('/me/subscriptions/1/portal')),
  'POST /store/checkout-session': anonymous(200, (visitor) =>
    checkOut(visitor, { items: [mug] }, { key: randomUUID() })
  ),
  'POST /store/quote': anonymous(200, (visitor) => visitor.post('/store/quote', { items: [mug] })),
  'POST /store/prove-email': anonymous(200, (visitor, index) =>
    visitor.post('/store/prove-email', { email: fresh(index) })
  ),
  'POST /store/orders/{orderToken}/cancel': {
    first: 200,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return () => visitor.post(`/store/orders/${data.orderToken}/cancel`)
    }
  },
  'POST /store/orders/{orderToken}/end-subscription': {
    first: 409,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return () => visitor.post(`/store/orders/${data.orderToken}/end-subscription`)
    }
  },
  'POST /affiliates/clicks': anonymous(200, (visitor) => visitor.post('/affiliates/clicks', { ref: 'linker' })),
  'POST /affiliates/apply': loggedIn(200, (visitor) => visitor.post('/affiliates/apply', {})),
  'POST /affiliates/terms': loggedIn(404, (visitor) => visitor.post('/affiliates/terms', { version: '1.0.0' })),
  'POST /webhooks/stripe': anonymous(400, (visitor, index) =>
    visitor.post('/webhooks/stripe', { index }, { 'stripe-signature': 't=1,v1=00' })
  ),
  'POST /cart': anonymous(303, (visitor) => visitor.form(`${shop.url}/cart`, { slug: 'mug', quantity: '1' })),
  'POST /thanks': anonymous(404, (visitor) => visitor.form(`${shop.url}/thanks`, { orderToken: 'none' })),
  'POST /cart/address': anonymous(422, (visitor) => visitor.form(`${shop.url}/cart/address`, { country: 'DE' })),
  'POST /login': anonymous(401, (visitor) => visitor.form(`${shop.url}/login`, { email: 'nobody', password: 'wrong' })),
  'POST /register': anonymous(422, (visitor) => visitor.form(`${shop.url}/register`, { email: 'nemo' })),
  'POST /forgot-password': anonymous(422, (visitor) => visitor.form(`${shop.url}/forgot-password`, { email: 'nemo' })),
  'POST /account': anonymous(303, (visitor) => visitor.form(`${shop.url}/account`, { action: 'logout' })),
  'POST /orders/:id': anonymous(303, (visitor) => visitor.form(`${shop.url}/orders/1`, { action: 'cancel' })),
  'POST /referrals': anonymous(303, (visitor) => visitor.form(`${shop.url}/referrals`, { action: 'apply' })),
  'POST /account/verify': anonymous(410, (visitor) => visitor.form(`${shop.url}/account/verify`, { token: 'x' })),
  'POST /account/email/undo': anonymous(410, (visitor) =>
    visitor.form(`${shop.url}/account/email/undo`, { token: 'x', password: goodPassword })
  ),
  'POST /account/email': anonymous(410, (visitor) => visitor.form(`${shop.url}/account/email`, { token: 'x' })),
  'POST /account/reset': anonymous(410, (visitor) =>
    visitor.form(`${shop.url}/account/reset`, { token: 'x', password: goodPassword })
  ),
  'POST /withdraw': anonymous(422, (visitor) => visitor.form(`${shop.url}/withdraw`, {})),
  'POST /cancel-contract': anonymous(422, (visitor) => visitor.form(`${shop.url}/cancel-contract`, {})),
  'POST /unsubscribe/:token': anonymous(410, (visitor) => visitor.form(`${shop.url}/unsubscribe/x`, {})),
  'POST /account/claim': anonymous(410, (visitor) =>
    visitor.form(`${shop.url}/account/claim`, { token: 'x', password: goodPassword })
  ),
  'POST /checkout/claim/:token': {
    first: 200,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return () => visitor.form(`${shop.url}/checkout/claim/${data.orderToken}`, {})
    }
  },
  'POST /checkout/address/:token': {
    first: 303,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return () => visitor.form(`${shop.url}/checkout/address/${data.orderToken}`, {})
    }
  },
  'POST /checkout/cancel/:token': {
    first: 303,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return () => visitor.form(`${shop.url}/checkout/cancel/${data.orderToken}`, {})
    }
  },
  'POST /checkout/subscription/:token': {
    first: 409,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return () => visitor.form(`${shop.url}/checkout/subscription/${data.orderToken}`, {})
    }
  },
  'POST /checkout/end-subscription': anonymous(410, (visitor) =>
    visitor.form(`${shop.url}/checkout/end-subscription`, { token: 'x' })
  ),
  'POST /checkout/prove/:token': {
    first: 303,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return () => visitor.form(`${shop.url}/checkout/prove/${data.orderToken}`, { action: 'send' })
    }
  },
  'POST /checkout/:token': {
    first: 303,
    prepare: async (visitor) => {
      const { data } = await checkOut(visitor)
      return (index) =>
        visitor.form(onLoopback(data.checkoutUrl), {
          payment_method: 'card',
          email: 'ada@shop.example',
          firstName: `Ada ${index}`
        })
    }
  }
}

const writing = [...routes, ...pageRoutes.map(({ method, name }) => ({ method, path: name }))]
  .filter(({ method }) => method !== 'GET')
  .map(({ method, path }) => `${method} ${path}`)

it('has a scenario for each route and page that may write', () => {
  expect(Object.keys(scenarios).toSorted()).toEqual(writing.toSorted())
})

it('writes no more rows and no more warnings past the limits, whatever route a visitor repeats', async () => {
  const prepared = await Promise.all(
    Object.entries(scenarios).map(async ([name, { first, prepare }], number) => {
      // Each scenario has an address of its own, so that no limit of another one refuses it.
      const attempt = await prepare(shop.visitor({ 'x-forwarded-for': `198.51.100.${number + 1}` }))
      expect([name, (await attempt(0)).status]).toEqual([name, first])
      for (let index = 1; index < untilRefused; index += 1) await attempt(index)
      return { name, attempt }
    })
  )
  await vi.waitFor(() => expect(one("SELECT count(*) FROM mails WHERE state = 'queued'")).toBe(0), 10_000)
  const written: Record<string, unknown> = {}
  for (const { name, attempt } of prepared) {
    const before = one('SELECT total_changes()')
    warnings.length = 0
    for (let index = 0; index < afterwards; index += 1) await attempt(untilRefused + index)
    written[name] = { rows: one('SELECT total_changes()') - before, warnings: [...warnings] }
  }
  expect(written).toEqual(Object.fromEntries(writing.map((name) => [name, { rows: 0, warnings: [] }])))
}, 60_000)

function one(sql: string): number {
  return Number(shop.app.db.sqlite.prepare(sql).pluck().get())
}
