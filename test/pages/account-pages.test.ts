import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { findUserByEmail } from '../../src/shop/accounts/find.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { mailsTo } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
  setSetting(shop.app.db, 'registration.emailVerification', 'true', Date.now())
})
afterAll(() => shop.stop())

/** The newest link of a kind that was sent to somebody, on the address that tests listen on. */
async function linkFor(email: string, kind: 'verify' | 'reset'): Promise<string> {
  const find = (): string | undefined => mailsTo(shop.dataDir, email).at(-1)?.links[kind]
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  return (find() ?? '').replace('//localhost:', '//127.0.0.1:')
}

const tokenIn = (html: string): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
const login = (visitor: Browser, email: string, password: string): Promise<Answer> =>
  visitor.post('/auth/login', { email, password })

describe('the link to verify an email', () => {
  it('verifies by the button on its page, and not by being opened', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'ada@example.com' })
    const link = await linkFor('ada@example.com', 'verify')
    for (const method of ['GET', 'HEAD', 'GET']) expect((await visitor.fetch(link, { method })).status).toBe(200)
    expect((await login(visitor, 'ada@example.com', 'tidal-basalt-93')).error.code).toBe('AUTH_EMAIL_NOT_VERIFIED')

    const page = await visitor.fetch(link)
    const done = await visitor.form(`${shop.url}/account/verify`, { token: tokenIn(await page.text()) })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/account/verify/done'])
    expect(await (await visitor.fetch(`${shop.url}/account/verify/done`)).text()).toContain('Your email is verified')
    expect((await login(visitor, 'ada@example.com', 'tidal-basalt-93')).status).toBe(200)
  })

  it('is over once it has been used', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'bea@example.com' })
    const link = await linkFor('bea@example.com', 'verify')
    const token = new URL(link).searchParams.get('token') ?? ''
    await visitor.form(`${shop.url}/account/verify`, { token })
    expect((await visitor.form(`${shop.url}/account/verify`, { token })).status).toBe(410)
    expect((await visitor.fetch(link)).status).toBe(410)
  })

  it('is refused when another site sends the form', async () => {
    const visitor = shop.visitor({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })
    const answer = await visitor.form(`${shop.url}/account/verify`, { token: 'whatever' })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})

describe('the link to choose a new password', () => {
  it('keeps its token when the password is refused, and sets the next one', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'carla@example.com' })
    await visitor.post('/auth/forgot-password', { email: 'carla@example.com' })
    const link = await linkFor('carla@example.com', 'reset')
    const token = tokenIn(await (await visitor.fetch(link)).text())
    const send = (password: string) => visitor.form(`${shop.url}/account/reset`, { token, password })

    const empty = await send('')
    expect([empty.status, await empty.text()]).toEqual([422, expect.stringContaining('Please enter a new password.')])
    const short = await send('short')
    expect([short.status, await short.text()]).toEqual([400, expect.stringContaining('at least 8 characters')])

    const done = await send('quiet-harbour-71')
    expect([done.status, done.headers.get('location')]).toEqual([303, '/account/reset/done'])
    // An attacker who used up the limits of the account does not keep this browser out.
    expect([...visitor.cookies.keys()]).toContain('shopstead_device')
    expect((await login(visitor, 'carla@example.com', 'tidal-basalt-93')).status).toBe(401)
    expect((await login(visitor, 'carla@example.com', 'quiet-harbour-71')).status).toBe(200)
    expect(findUserByEmail(shop.app.db, 'carla@example.com')?.emailVerifiedAt).not.toBeNull()
    expect((await send('another-harbour-72')).status).toBe(410)
    expect((await visitor.fetch(link)).status).toBe(410)
  })

  it('shows no form for a token that nobody was sent', async () => {
    const visitor = shop.visitor()
    for (const query of ['', '?token=', '?token=abc', `?token=${'a'.repeat(300)}`]) {
      expect((await visitor.fetch(`${shop.url}/account/reset${query}`)).status).toBe(410)
    }
  })
})

describe('a browser without Sec-Fetch-Site', () => {
  it('can send the forms of our pages, told by their Origin', async () => {
    const visitor = shop.visitor({ origin: shop.url })
    const answer = await visitor.form(`${shop.url}/account/verify`, { token: 'unknown' })
    expect(answer.status).toBe(410)
  })
})

describe('pages with tokens', () => {
  it('are kept by nobody, name themselves to no other site and run nothing', async () => {
    const page = await shop.visitor().fetch(`${shop.url}/account/reset?token=abc`)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=(), '),
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'self'; img-src 'self' data:; manifest-src 'self'; form-action 'self' http:\/\/localhost:\d+; frame-ancestors 'none'; base-uri 'none'$/
      )
    })
    expect(await page.text()).not.toMatch(/<script|style="|\son\w+=/i)
  })

  it('refuse what is no form, too much, or another method', async () => {
    const visitor = shop.visitor()
    const send = (init: RequestInit) => visitor.fetch(`${shop.url}/account/reset`, init)
    const json = { 'content-type': 'application/json' }
    expect((await send({ method: 'POST', headers: json, body: '{"token":"x"}' })).status).toBe(415)
    const large = new URLSearchParams({ password: 'x'.repeat(20_000) })
    expect((await send({ method: 'POST', body: large })).status).toBe(413)
    const put = await send({ method: 'PUT' })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })
})
