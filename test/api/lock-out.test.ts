import { describe, expect, it, onTestFinished } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { SettingKey } from '../../src/shop/settings/definitions.ts'
import { write } from '../../src/platform/db/database.ts'
import { queueLink, deriveEmailToken } from '../../src/shop/accounts/email-tokens.ts'
import type { Browser } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const email = 'mira@shop.example'
const right = { email, password: goodPassword }
const wrong = { email, password: 'wrong' }
const newPassword = 'granite-willow-71'

async function openShop(settings: Partial<Record<SettingKey, string>> = {}): Promise<RunningShop> {
  const shop = await startShop({ seed: null, env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
  onTestFinished(() => shop.stop())
  for (const [key, value] of Object.entries(settings)) setSetting(shop.app.db, key as SettingKey, value, 0)
  await makeUser(shop.app, { verified: true })
  return shop
}

/** A client at an address of its own. */
let address = 0
function elsewhere(shop: RunningShop): Browser {
  address += 1
  return shop.visitor({ 'x-forwarded-for': `198.51.100.${address % 250}` })
}

async function statuses(times: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const all = []
  for (let time = 0; time < times; time += 1) all.push((await send()).status)
  return all
}

/** Uses up what the account's email and the attacker's address allow. */
async function attack(shop: RunningShop, attacker = elsewhere(shop)): Promise<void> {
  await statuses(12, () => attacker.post('/auth/login', wrong))
  expect((await attacker.post('/auth/login', right)).status).toBe(429)
}

describe('a client that uses up the limits of an account', () => {
  it('does not keep out a browser that has logged in before', async () => {
    const shop = await openShop()
    const owner = elsewhere(shop)
    expect((await owner.post('/auth/login', right)).status).toBe(200)
    await owner.post('/auth/logout')
    await attack(shop)
    expect((await owner.post('/auth/login', right)).status).toBe(200)
    expect((await elsewhere(shop).post('/auth/login', right)).error.details).toEqual({ bucket: 'login_account' })
  })

  it('does not keep it out at the same address either', async () => {
    const shop = await openShop({ 'limits.login_ip': '5/900' })
    const owner = shop.visitor()
    await owner.post('/auth/login', right)
    await attack(shop, shop.visitor())
    expect((await owner.post('/auth/login', right)).status).toBe(200)
  })

  it('does not keep the owner from changing the password', async () => {
    const shop = await openShop({ 'limits.login_ip': '5/900' })
    const owner = shop.visitor()
    await owner.post('/auth/login', right)
    await attack(shop, shop.visitor())
    const change = { currentPassword: goodPassword, newPassword }
    expect((await owner.post('/auth/change-password', change)).status).toBe(200)
    await attack(shop)
    const answer = await owner.post('/auth/login', { email, password: newPassword })
    expect([answer.status, owner.cookies.size]).toEqual([200, 2])
  })

  it('does not keep out the owner who has set a new password by email, in any browser', async () => {
    const shop = await openShop()
    await attack(shop)
    const owner = elsewhere(shop)
    const token = write(shop.app.db, (tx) =>
      deriveEmailToken(shop.app.keys, queueLink(tx, shop.app, 'reset', { id: 1, email }, shop.app.clock.now()))
    )
    expect((await owner.post('/auth/reset-password', { token, password: newPassword })).status).toBe(200)
    expect((await owner.post('/auth/login', { email, password: newPassword })).status).toBe(200)
  })

  it('gets no answer from forgot-password or resend-verification that differs', async () => {
    const shop = await openShop()
    for (const path of ['/auth/forgot-password', '/auth/resend-verification'])
      expect(new Set(await statuses(8, () => elsewhere(shop).post(path, { email })))).toEqual(new Set([200]))
    // Each link ends the one before, and the mailer deletes the email of an ended link.
    expect(shop.app.db.sqlite.prepare('SELECT count(*) FROM email_tokens').pluck().get()).toBe(5)
  })
})

describe('a browser that has logged in before', () => {
  it('has its own ten wrong passwords', async () => {
    const shop = await openShop()
    const owner = elsewhere(shop)
    await owner.post('/auth/login', right)
    expect(await statuses(12, () => owner.post('/auth/login', wrong))).toEqual([
      ...Array<number>(10).fill(401),
      429,
      429
    ])
    expect((await elsewhere(shop).post('/auth/login', right)).status).toBe(200)
  })

  it('has its own for each account, up to four', async () => {
    const shop = await openShop()
    const family = elsewhere(shop)
    const emails = ['a', 'b', 'c'].map((name) => `${name}@shop.example`)
    for (const other of emails) await makeUser(shop.app, { email: other })
    for (const other of [...emails, email]) await family.post('/auth/login', { email: other, password: goodPassword })
    await attack(shop)
    expect((await family.post('/auth/login', right)).status).toBe(200)
    expect(family.cookies.get('shopstead_device')?.split('~')).toHaveLength(4)
  })

  it('does not help another browser, another account or an old password', async () => {
    const shop = await openShop()
    await makeUser(shop.app, { email: 'lena@shop.example' })
    const thief = elsewhere(shop)
    await thief.post('/auth/login', { email: 'lena@shop.example', password: goodPassword })
    const cookie = thief.cookies.get('shopstead_device') ?? ''
    await attack(shop)
    for (const forged of [
      cookie,
      cookie.replace(/^\d+/, '1'),
      `1.${'A'.repeat(22)}.${'A'.repeat(43)}`,
      '',
      '~~',
      'x'
    ]) {
      const browser = elsewhere(shop)
      browser.cookies.set('shopstead_device', forged)
      expect((await browser.post('/auth/login', right)).status).toBe(429)
    }
  })

  it('keeps the cookie for 400 days, out of reach of scripts', async () => {
    const shop = await openShop()
    const { headers } = await elsewhere(shop).post('/auth/login', right)
    const [session, device, ...others] = headers.getSetCookie()
    expect([session?.split('=')[0], others]).toEqual(['shopstead_session', []])
    expect(device).toMatch(
      /^shopstead_device=1\.[\w-]{22}\.[\w-]{43}; Path=\/; SameSite=Lax; Max-Age=34560000; HttpOnly$/
    )
  })
})

it('limits messages by address before anything is written', async () => {
  const shop = await openShop({ 'limits.recovery_ip': '2/60' })
  const visitor = elsewhere(shop)
  for (const path of ['/auth/forgot-password', '/auth/resend-verification'])
    expect((await visitor.post(path, { email: 'x@shop.example' })).status).toBe(200)
  const changes = () => shop.app.db.sqlite.prepare('SELECT total_changes()').pluck().get()
  const before = changes()
  for (const path of ['/auth/forgot-password', '/auth/resend-verification'])
    expect(await visitor.post(path, { email: 'y@shop.example' })).toMatchObject({
      status: 429,
      error: { code: 'AUTH_RATE_LIMITED', details: { bucket: 'recovery_ip' } }
    })
  expect(changes()).toBe(before)
  expect((await elsewhere(shop).post('/auth/forgot-password', { email })).status).toBe(200)
})
