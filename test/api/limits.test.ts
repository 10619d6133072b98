import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { SettingKey } from '../../src/shop/settings/definitions.ts'
import type { Answer } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { laterBy } from '../support/later.ts'

let shop: RunningShop
afterEach(() => shop.stop())

async function open(settings: Partial<Record<SettingKey, string>>, options: Parameters<typeof startShop>[0] = {}) {
  shop = await startShop({ seed: null, ...options })
  for (const [key, value] of Object.entries(settings)) setSetting(shop.app.db, key as SettingKey, value, 0)
}

const email = 'mira@shop.example'

/** From a further address each time, where the shop believes its proxy. */
let address = 0
function elsewhere(): Record<string, string> {
  address += 1
  return { 'x-forwarded-for': `198.51.100.${address % 250}` }
}
const trusting = { env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } }

function login(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return shop.visitor(headers).post('/auth/login', body)
}

const wrong = (who: string, headers: Record<string, string> = {}) =>
  login({ username: who, password: 'wrong' }, headers)

/** Status, bucket, and whether Retry-After is a number of seconds within the window. */
function limited({ status, error, headers }: Answer, windowSeconds: number): unknown[] {
  const wait = headers.get('retry-after') ?? ''
  return [status, error.code, error.details, /^[1-9]\d*$/.test(wait) && Number(wait) <= windowSeconds]
}

function refusedBy(bucket: string): unknown[] {
  return [429, 'AUTH_RATE_LIMITED', { bucket }, true]
}

describe('the limit on registrations', () => {
  it('counts by address, without requests that are refused for other reasons before', async () => {
    await open({ 'limits.register_ip': '2/60' })
    for (let round = 0; round < 5; round += 1) {
      expect((await shop.visitor().register({ email: 'no email' })).status).toBe(422)
      expect((await shop.visitor().post('/auth/register', {})).status).toBe(403)
    }
    expect((await shop.visitor().register({ password: 'short' })).status).toBe(400)
    expect((await shop.visitor().register()).status).toBe(201)
    expect(limited(await shop.visitor().register({ email: 'c@example.com' }), 60)).toEqual(refusedBy('register_ip'))
  })

  it('counts by email from any address, in any spelling', async () => {
    await open({ 'limits.register_email': '2/60' }, trusting)
    await shop.visitor(elsewhere()).register()
    await shop.visitor(elsewhere()).register({ email: ' ADA@example.com ' })
    const third = await shop.visitor(elsewhere()).register({ email: 'Ada@Example.com' })
    expect(limited(third, 60)).toEqual(refusedBy('register_email'))
    expect((await shop.visitor(elsewhere()).register({ email: 'other@example.com' })).status).toBe(201)
  })
})

describe('the limit on failed logins', () => {
  it('counts by name, with or without an account, in any spelling and from any address, and ends with its window', async () => {
    await open({ 'limits.login_account': '3/1' }, trusting)
    await makeUser(shop.app)
    for (const who of ['mira', email]) {
      await wrong(who, elsewhere())
      await wrong(` ${who} `, elsewhere())
      await wrong(who.toUpperCase(), elsewhere())
      const right = await login({ username: who, password: goodPassword }, elsewhere())
      expect(limited(right, 1)).toEqual(refusedBy('login_account'))
      laterBy(1_000)
      expect((await login({ username: who, password: goodPassword }, elsewhere())).status).toBe(200)
    }
    for (let round = 0; round < 3; round += 1) await wrong('nobody@shop.example', elsewhere())
    expect(limited(await wrong('Nobody@shop.example', elsewhere()), 1)).toEqual(refusedBy('login_account'))
  })

  it('is the same for a name with and without an account', async () => {
    await open({ 'limits.login_account': '3/60' }, trusting)
    await makeUser(shop.app)
    await makeUser(shop.app, { email: 'noor@shop.example' })
    const refusals = async (bodies: object[]) => {
      const answers: Answer[] = []
      for (const body of bodies) answers.push(await login({ ...body, password: 'wrong' }, elsewhere()))
      return answers.map(({ status, error }) => [status, error])
    }
    const trying = (local: string, first: 'email' | 'username') => {
      const names = { email: { email: `${local}@shop.example` }, username: { username: local } }
      const other = first === 'email' ? 'username' : 'email'
      const mixed = { email: ` ${local.toUpperCase()}@Shop.example`, username: local }
      return [...Array.from({ length: 4 }, () => names[first]), names[other], mixed, names[other]]
    }
    expect(await refusals(trying('mira', 'email'))).toEqual(await refusals(trying('nobody', 'email')))
    expect(await refusals(trying('noor', 'username'))).toEqual(await refusals(trying('nemo', 'username')))
  })

  it('counts by address over all accounts, without correct and malformed logins', async () => {
    await open({ 'limits.login_ip': '3/60' })
    await makeUser(shop.app)
    for (let round = 0; round < 6; round += 1) {
      expect((await login({ email, password: goodPassword })).status).toBe(200)
      expect((await login({ email })).status).toBe(400)
    }
    for (const who of ['a', 'b', 'c']) expect((await wrong(who)).status).toBe(401)
    expect(limited(await wrong('d'), 60)).toEqual(refusedBy('login_ip'))
    expect(limited(await login({ email, password: goodPassword }), 60)).toEqual(refusedBy('login_ip'))
  })

  it('counts a hundred concurrent logins as a hundred', async () => {
    await open({ 'limits.login_account': '7/60' })
    await makeUser(shop.app)
    const answers = await Promise.all(Array.from({ length: 100 }, () => wrong(email)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(7)
    expect(statuses.filter((status) => status === 429)).toHaveLength(93)
    expect(limited(await login({ email, password: goodPassword }), 60)).toEqual(refusedBy('login_account'))
  })

  it('does not refuse concurrent correct logins because of each other', async () => {
    await open({ 'limits.login_account': '1/60', 'limits.login_ip': '1/60' })
    await makeUser(shop.app)
    const answers = await Promise.all(Array.from({ length: 12 }, () => login({ email, password: goodPassword })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('counts by session when a password change requires the password, separately from logins', async () => {
    await open({ 'limits.login_account': '2/60' })
    const visitor = shop.visitor()
    await visitor.register()
    const change = { currentPassword: 'wrong', newPassword: 'granite-willow-71' }
    for (let round = 0; round < 2; round += 1) {
      expect((await visitor.post('/auth/change-password', change)).status).toBe(401)
    }
    expect(limited(await visitor.post('/auth/change-password', change), 60)).toEqual(refusedBy('login_account'))
    const other = shop.visitor()
    expect((await other.post('/auth/login', { email: 'ada@example.com', password: 'tidal-basalt-93' })).status).toBe(
      200
    )
    expect((await other.post('/auth/change-password', change)).status).toBe(401)
  })
})

describe('the limit on recovery', () => {
  it('counts by email without an error, with or without an account, for both messages together, and by address', async () => {
    await open({ 'limits.recovery_email': '2/60', 'limits.recovery_ip': '6/60' })
    await makeUser(shop.app)
    for (const who of [email, 'nobody@shop.example']) {
      const visitor = shop.visitor()
      expect((await visitor.post('/auth/forgot-password', { email: who })).status).toBe(200)
      expect((await visitor.post('/auth/resend-verification', { email: who.toUpperCase() })).status).toBe(200)
      expect((await visitor.post('/auth/forgot-password', { email: who })).status).toBe(200)
    }
    expect(shop.app.db.sqlite.prepare('SELECT count(*) FROM mails').pluck().get()).toBe(2)
    const further = await shop.visitor().post('/auth/forgot-password', { email: 'new@shop.example' })
    expect(limited(further, 60)).toEqual(refusedBy('recovery_ip'))
  })

  it('counts by address for wrong tokens of both kinds', async () => {
    await open({ 'limits.token_ip': '2/60' })
    const visitor = shop.visitor()
    const password = 'granite-willow-71'
    expect((await visitor.post('/auth/verify-email', { token: 'x' })).error.code).toBe('TOKEN_INVALID')
    expect((await visitor.post('/auth/reset-password', { token: 'x', password })).error.code).toBe('TOKEN_INVALID')
    expect(limited(await visitor.post('/auth/verify-email', { token: 'y' }), 60)).toEqual(refusedBy('token_ip'))
  })
})

describe('limits', () => {
  it('survive a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-limits-'))
    try {
      await open({ 'limits.login_ip': '2/600' }, { dataDir })
      for (const who of ['a', 'b']) await wrong(who)
      await shop.stop()
      await open({}, { dataDir })
      expect(limited(await wrong('c'), 600)).toEqual(refusedBy('login_ip'))
    } finally {
      await shop.stop()
      rmSync(dataDir, { recursive: true })
      await open({})
    }
  })

  it('can be changed while the shop runs, and switched off', async () => {
    await open({ 'limits.login_ip': '1/60' })
    await wrong('a')
    expect((await wrong('b')).status).toBe(429)
    setSetting(shop.app.db, 'limits.login_ip', 'off', 0)
    expect((await wrong('b')).status).toBe(401)
  })

  it('ignore X-Forwarded-For of an untrusted client', async () => {
    await open({ 'limits.login_ip': '2/60' })
    for (const who of ['a', 'b']) await wrong(who, elsewhere())
    expect(limited(await wrong('c', elsewhere()), 60)).toEqual(refusedBy('login_ip'))
  })

  it('use the address that a trusted proxy adds, not what the client sent before it', async () => {
    await open({ 'limits.login_ip': '2/60' }, { env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' } })
    const from = (forwarded: string) => wrong('a', { 'x-forwarded-for': forwarded })
    await from('203.0.113.9')
    await from('6.6.6.6, 203.0.113.9, 10.1.2.3')
    expect(limited(await from('7.7.7.7, 203.0.113.9'), 60)).toEqual(refusedBy('login_ip'))
    expect((await from('203.0.113.10')).status).toBe(401)
  })

  it('count IPv6 by its /64', async () => {
    await open({ 'limits.login_ip': '2/60' }, trusting)
    const from = (forwarded: string) => wrong('a', { 'x-forwarded-for': forwarded })
    await from('2001:db8:1:2::1')
    await from('2001:db8:1:2:ffff::9')
    expect(limited(await from('2001:DB8:0001:2::abcd'), 60)).toEqual(refusedBy('login_ip'))
    expect((await from('2001:db8:1:3::1')).status).toBe(401)
  })

  it("count the visitors of the service's own proxy separately", async () => {
    await open({ 'limits.login_ip': '1/60' }, trusting)
    const via = async (from: string) => {
      const visitor = shop.visitor({ 'x-forwarded-for': from })
      const nonce = await visitor.nonce()
      return visitor.post(`${shop.url}/api/secure/auth/login`, { username: 'a', password: 'x' }, { 'x-nonce': nonce })
    }
    expect((await via('203.0.113.1')).status).toBe(401)
    expect(limited(await via('203.0.113.1'), 60)).toEqual(refusedBy('login_ip'))
    expect((await via('203.0.113.2')).status).toBe(401)
  })
})
