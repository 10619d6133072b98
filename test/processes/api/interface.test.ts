import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shapes, Visitor, wrongFields } from './interface-client.ts'
import type { Reply, Shape } from './interface-client.ts'

// The client knows docs/interface.md and nothing of this repository. The test also reads the terminal, as a person does who
// runs `npm start`, and changes settings by the command line while the shop runs.

const folder = mkdtempSync(join(tmpdir(), 'shopstead-interface-'))
const password = 'harbour-lantern-42'
/** What a terminal has; a test runner sets more, which changes what the program prints. */
const { PATH = '', HOME = '' } = process.env
const terminal = { PATH, HOME }
let stop = async (): Promise<void> => {}
let root = ''

async function start(env: Record<string, string> = {}): Promise<void> {
  const own = { SHOPSTEAD_DATA_DIR: folder, SHOPSTEAD_PORT: '0', SHOPSTEAD_ENV_FILE: '', ...env }
  const shop = spawn('npm', ['start', '--silent'], {
    env: { ...terminal, ...own },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true
  })
  let printed = ''
  stop = async () => {
    const ended = once(shop, 'close')
    process.kill(-(shop.pid ?? 0), 'SIGTERM')
    await ended
  }
  root = await new Promise<string>((resolve, reject) => {
    shop.once('close', () => reject(new Error(`The shop ended:\n${printed}`)))
    shop.stderr.on('data', (piece) => {
      printed += String(piece)
      const found = /listens on (http:\S+)/.exec(printed)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
}

beforeAll(() => start(), 60_000)
afterAll(async () => {
  await stop()
  rmSync(folder, { recursive: true })
})

function operate(...args: string[]): void {
  execFileSync('node', ['bin/shopstead.js', ...args, '--data-dir', folder], {
    env: terminal,
    stdio: ['ignore', 'ignore', 'pipe']
  })
}

const visitor = (): Visitor => new Visitor(`${root}/api/secure`)
const direct = (): Visitor => new Visitor(`${root}/api/v1`)

async function loggedIn(name: string): Promise<Visitor> {
  const person = visitor()
  const { status } = await person.login(`${name}@shop.example`, password)
  if (status !== 200) throw new Error(`${name} cannot log in: ${status}`)
  return person
}

/** The data of a success, whose shape and envelope are those of the interface. */
function dataOf({ status, body }: Reply, shape: Shape, meta: Shape | null = shapes.meta, expected = 200) {
  expect(status).toBe(expected)
  expect(wrongFields(body.data, shape)).toEqual([])
  if (meta === null) expect(body).not.toHaveProperty('meta')
  else expect(wrongFields(body.meta, meta)).toEqual([])
  return body.data ?? {}
}

function refused({ status, body }: Reply): unknown[] {
  expect(wrongFields(body.error, shapes.error)).toEqual([])
  expect(wrongFields(body.meta, shapes.meta)).toEqual([])
  return [status, body.error?.code]
}

const details = ({ body }: Reply): Record<string, unknown> => body.error?.details ?? {}

let people = 0
const person = () => ({
  email: `buyer${(people += 1)}@site.example`,
  password: 'tidal-basalt-93',
  displayName: 'Ada Quill',
  acceptTerms: true
})
const register = (body: unknown, by = visitor()) => by.withNonce('POST', '/auth/register', body)

describe('the client of a stranger', () => {
  it('gets a nonce, registers, logs in and reads the account', async () => {
    const guest = visitor()
    const nonce = dataOf(await guest.get('/nonce'), shapes.nonceOfGuest)
    expect(nonce).not.toHaveProperty('userId')
    const ada = { ...person(), firstName: 'Ada', lastName: 'Quill', marketingOptIn: null }
    const registered = await register(ada, guest)
    dataOf(registered, { ...shapes.registration, next: 'string' }, { ...shapes.meta, nextStep: 'string' }, 201)
    expect(registered.body.meta).toMatchObject({ nextStep: 'NONE' })
    expect(dataOf(await guest.get('/nonce'), shapes.nonceOfUser)).toMatchObject({ userLoggedIn: true })
    const me = dataOf(await guest.withNonce('GET', '/me'), shapes.me)
    expect(me).toMatchObject({ profile: { firstName: 'Ada', lastName: 'Quill' }, consent: { marketingOptIn: false } })
    dataOf(await visitor().login(ada.email, ada.password), shapes.login)
    const { user } = me as { user: { email: string } }
    expect(user.email).toBe(ada.email)
  })

  it('registers with a verification', async () => {
    operate('settings', 'set', 'registration.emailVerification', 'true')
    const ada = person()
    const registered = await register(ada)
    const data = dataOf(
      registered,
      { ...shapes.registration, registrationStatus: 'string' },
      { ...shapes.meta, nextStep: 'string', expiresAt: 'time' },
      201
    )
    expect([data['registrationStatus'], registered.body.meta?.['nextStep']]).toEqual([
      'pending_verification',
      'VERIFY_EMAIL'
    ])
    expect(refused(await visitor().login(ada.email, ada.password))).toEqual([403, 'AUTH_EMAIL_NOT_VERIFIED'])
    operate('settings', 'unset', 'registration.emailVerification')
  })

  it('lists offers, orders and referrals', async () => {
    const { pagination } = dataOf(await visitor().get('/store/offers'), shapes.offers, {}) as {
      pagination: { total: number }
    }
    expect(pagination.total).toBeGreaterThan(30)
    expect((await visitor().get('/store/offers')).body.meta).toEqual({})
    const searched = await direct().get('/store/offers?page=1&perPage=2&search=lantern')
    expect((dataOf(searched, shapes.offers, {}) as { offers: unknown[] }).offers).toHaveLength(2)
    const lena = await loggedIn('lena')
    const { orders } = dataOf(await lena.withNonce('GET', '/orders?page=1&perPage=50'), shapes.orders) as {
      orders: { status: string }[]
    }
    expect(orders.map(({ status }) => status)).toEqual(
      expect.arrayContaining(['pending', 'failed', 'processing', 'completed'])
    )
    const mira = await loggedIn('mira')
    const first = dataOf(await mira.withNonce('GET', '/affiliates/referrals?limit=20'), shapes.referrals, null)
    const next = await mira.withNonce('GET', `/affiliates/referrals?cursor=${String(first['nextCursor'])}`)
    expect((dataOf(next, shapes.referrals, null)['referrals'] as unknown[]).length).toBeGreaterThan(0)
  })

  it('reads the health', async () => {
    const health = dataOf(await visitor().get('/health'), shapes.health)
    expect(health).toMatchObject({ status: 'ok', dependencies: { commerce: 'active' } })
    expect(refused(await direct().send('POST', '/health', {}))).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })

  it('buys every offer by a payment token, and on the hosted page', async () => {
    type Offer = {
      productId: number
      name: string
      available: boolean
      variations: { variationId: number; available: boolean }[]
    }
    const { offers } = (await visitor().get('/store/offers')).body.data as { offers: Offer[] }
    const sold: string[] = []
    for (const { productId, name, variations } of offers.filter(({ available }) => available)) {
      const variationId = variations.find(({ available }) => available)?.variationId
      const items = [{ productId, quantity: 1, ...(variationId === undefined ? {} : { variationId }) }]
      const token = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
      const paid = await visitor().withNonce('POST', '/store/checkout-session', { items, ...token })
      expect([name, paid.status, paid.body.error]).toEqual([name, 200, undefined])
      const { strategy, status } = dataOf(paid, shapes.handoff)
      expect([strategy, status]).toEqual(['token_handoff', expect.stringMatching(/^(processing|completed)$/)])
      const redirected = await visitor().withNonce('POST', '/store/checkout-session', { items })
      // The last one of its kind is sold by now.
      if (redirected.status === 422) sold.push(name)
      else dataOf(redirected, shapes.redirect)
    }
    expect(sold).toEqual(['The last Skerry lantern'])
  }, 120_000)

  it('sends attribution in the query, and finds it in the order', async () => {
    const lena = await loggedIn('new')
    const query = '?ref=mira&campaign=spring&utm_source=news&utm_medium=mail&utm_campaign=may&utm_content=top'
    const token = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
    const items = [{ productId: 1, quantity: 1 }]
    dataOf(await lena.withNonce('POST', `/store/checkout-session${query}`, { items, ...token }), shapes.handoff)
    const { orders } = (await lena.withNonce('GET', '/orders')).body.data as { orders: object[] }
    expect(orders[0]).toMatchObject({
      affiliateRef: 'mira',
      affiliateCampaign: 'spring',
      orderAttributionSourceType: 'referral',
      orderAttributionUtmMedium: 'affiliate',
      marketingUtmSource: 'news',
      marketingUtmMedium: 'mail',
      marketingUtmCampaign: 'may',
      marketingUtmContent: 'top',
      affiliateVisitConverted: expect.any(Boolean)
    })
  })
})

describe('every listed code', () => {
  it('of registration', async () => {
    const ada = person()
    await register(ada)
    expect(refused(await register(ada))).toEqual([400, 'AUTH_REGISTRATION_FAILED'])
    const weak = await register({ ...person(), password: 'password' })
    expect([...refused(weak), details(weak)['reason']]).toEqual([400, 'PASSWORD_POLICY_VIOLATION', 'password_policy'])
    const invalid = await register({ email: 'nobody' })
    expect([...refused(invalid), Object.keys(details(invalid)['fieldErrors'] as object)]).toEqual([
      422,
      'VALIDATION_FAILED',
      expect.arrayContaining(['email', 'password', 'displayName', 'acceptTerms'])
    ])
    for (const base of [visitor(), direct()]) {
      const missing = await base.send('POST', '/auth/register', person())
      expect([...refused(missing), details(missing)['reason']]).toEqual([403, 'CSRF_FAILED', 'missing_nonce'])
      const wrong = await base.send('POST', '/auth/register', person(), { 'x-nonce': 'wrong' })
      expect([...refused(wrong), details(wrong)['reason']]).toEqual([403, 'CSRF_FAILED', 'invalid_nonce'])
    }
    operate('settings', 'set', 'registration.enabled', 'false')
    expect(refused(await register(person()))).toEqual([403, 'AUTH_REGISTRATION_DISABLED'])
    operate('settings', 'unset', 'registration.enabled')
    operate('settings', 'set', 'limits.register_ip', '1/3600')
    const limited = await register(person()).then(() => register(person()))
    expect([...refused(limited), details(limited)['bucket']]).toEqual([429, 'AUTH_RATE_LIMITED', 'register_ip'])
    operate('settings', 'unset', 'limits.register_ip')
  })

  it('of the login', async () => {
    const none = await visitor().withNonce('POST', '/auth/login', { password })
    expect([...refused(none), Object.keys(details(none)['fieldErrors'] as object)]).toEqual([
      400,
      'VALIDATION_FAILED',
      ['username', 'email']
    ])
    expect(refused(await visitor().login('lena@shop.example', 'wrong'))).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
    expect(refused(await visitor().login('unverified@shop.example', password))).toEqual([
      403,
      'AUTH_EMAIL_NOT_VERIFIED'
    ])
    expect(refused(await visitor().login('closed@shop.example', password))).toEqual([403, 'AUTH_ACCOUNT_DEACTIVATED'])
    const missing = await visitor().send('POST', '/auth/login', { email: 'lena@shop.example', password })
    expect(refused(missing)).toEqual([403, 'CSRF_FAILED'])
    // The service itself never asks for it (interface 5).
    const login = await direct().send('POST', '/auth/login', { email: 'lena@shop.example', password })
    dataOf(login, shapes.login)
    operate('settings', 'set', 'limits.login_ip', '1/3600')
    const limited = await visitor()
      .login('lena@shop.example', 'wrong')
      .then(() => visitor().login('lena@shop.example', 'wrong'))
    expect([...refused(limited), details(limited)['bucket']]).toEqual([429, 'AUTH_RATE_LIMITED', 'login_ip'])
    operate('settings', 'unset', 'limits.login_ip')
  })

  it('of the account, the orders and the offers', async () => {
    expect(refused(await visitor().withNonce('GET', '/me'))).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(refused(await visitor().withNonce('GET', '/orders'))).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(refused(await visitor().get('/me'))).toEqual([403, 'CSRF_FAILED'])
    const lena = await loggedIn('lena')
    for (const query of ['page=0', 'perPage=none'])
      expect(refused(await lena.withNonce('GET', `/orders?${query}`))).toEqual([400, 'VALIDATION_FAILED'])
    expect(refused(await direct().get('/store/offers?page=0'))).toEqual([400, 'VALIDATION_FAILED'])
    operate('modules', 'disable', 'commerce')
    expect(refused(await visitor().get('/store/offers'))).toEqual([503, 'DEPENDENCY_UNAVAILABLE'])
    expect((await visitor().get('/health')).body.data).toMatchObject({ dependencies: { commerce: 'missing' } })
    operate('modules', 'enable', 'commerce')
  })

  it('of the referrals', async () => {
    const referrals = (by: Visitor, query = '') => by.withNonce('GET', `/affiliates/referrals${query}`)
    expect(refused(await referrals(visitor()))).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(refused(await referrals(await loggedIn('jonas')))).toEqual([403, 'AFFILIATE_NOT_ACTIVE'])
    expect(refused(await referrals(await loggedIn('petra')))).toEqual([403, 'AFFILIATE_NOT_ACTIVE'])
    expect(refused(await referrals(await loggedIn('lena')))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    const mira = await loggedIn('mira')
    for (const query of ['?limit=0', '?limit=101', '?cursor=wrong'])
      expect(refused(await referrals(mira, query))).toEqual([422, 'VALIDATION_FAILED'])
    const service = direct()
    for (const [name, value] of mira.cookies) service.cookies.set(name, value)
    expect(refused(await service.get('/affiliates/referrals?affiliateId=2'))).toEqual([422, 'VALIDATION_FAILED'])
    operate('settings', 'set', 'affiliates.termsGating', 'true')
    expect(refused(await referrals(mira))).toEqual([500, 'CONFIG_INVALID_AFFILIATE_TERMS_VERSION'])
    operate('settings', 'set', 'affiliates.termsVersion', '2030-01-01')
    expect(refused(await referrals(mira))).toEqual([403, 'AFFILIATE_TERMS_REQUIRED'])
    operate('settings', 'unset', 'affiliates.termsGating')
    operate('settings', 'unset', 'affiliates.termsVersion')
  })

  it('of the checkout', async () => {
    const items = [{ productId: 1, quantity: 1 }]
    const token = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
    const checkout = (body: unknown, headers: Record<string, string> = {}, by = visitor()) =>
      by.withNonce('POST', '/store/checkout-session', body, headers)
    const wrong: [object, string][] = [
      [{}, 'items'],
      [{ items: [] }, 'items'],
      [{ items: [{ productId: 1, quantity: 51 }] }, 'items.0.quantity'],
      [{ items, affiliateRef: 'mira' }, 'affiliateRef'],
      [{ items, strategy: 'token_handoff', paymentToken: 'pm_card_visa' }, 'returnUrl'],
      [{ items, strategy: 'token_handoff', returnUrl: 'https://site.example/' }, 'paymentToken'],
      [{ items, cancelUrl: 'ftp://site.example' }, 'cancelUrl']
    ]
    for (const [body, field] of wrong) {
      const answer = await checkout(body)
      expect([...refused(answer), Object.keys(details(answer)['fieldErrors'] as object)]).toEqual([
        422,
        'VALIDATION_FAILED',
        [field]
      ])
    }
    const declined = await checkout({ items, ...token, paymentToken: 'pm_card_chargeDeclinedLostCard' })
    expect(refused(declined)).toEqual([402, 'CHECKOUT_FAILED'])
    expect(wrongFields(details(declined), shapes.gatewayFailure)).toEqual([])
    expect(details(declined)).toMatchObject({ gatewayError: { decline_code: 'lost_card' } })
    expect(refused(await visitor().send('POST', '/store/checkout-session', { items }))).toEqual([403, 'CSRF_FAILED'])
    const key = { 'idempotency-key': 'stranger-1' }
    const buyer = visitor()
    await checkout({ items }, key, buyer)
    const reused = await checkout({ items: [{ productId: 2, quantity: 1 }] }, key, buyer)
    expect(refused(reused)).toEqual([409, 'IDEMPOTENCY_KEY_REUSE_CONFLICT'])
    operate('settings', 'set', 'checkout.guest', 'false')
    expect(refused(await checkout({ items }))).toEqual([401, 'NOT_AUTHENTICATED'])
    operate('settings', 'unset', 'checkout.guest')
    operate('settings', 'set', 'checkout.enabled', 'false')
    expect(refused(await checkout({ items }))).toEqual([403, 'CHECKOUT_DISABLED'])
    operate('settings', 'unset', 'checkout.enabled')
    operate('settings', 'set', 'limits.checkout_ip', '1/3600')
    expect(refused(await checkout({ items }).then(() => checkout({ items })))).toEqual([429, 'RATE_LIMITED'])
    operate('settings', 'set', 'limits.checkout_ip', 'off')
  }, 60_000)

  it('of a gateway that cannot take the payment', async () => {
    const items = [{ productId: 1, quantity: 1 }]
    const token = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
    await stop()
    await start({ SHOPSTEAD_PAYMENTS: 'manual' })
    const manual = await visitor().withNonce('POST', '/store/checkout-session', { items, ...token })
    expect(refused(manual)).toEqual([501, 'CHECKOUT_NOT_IMPLEMENTED'])
    await stop()
    await start({ SHOPSTEAD_PAYMENTS: 'stripe', SHOPSTEAD_STRIPE_SECRET_KEY: '' })
    const none = await visitor().withNonce('POST', '/store/checkout-session', { items, ...token })
    expect(refused(none)).toEqual([503, 'CHECKOUT_GATEWAY_NOT_CONFIGURED'])
  }, 60_000)
})
