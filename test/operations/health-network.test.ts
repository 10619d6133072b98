import { writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startMailbox } from '../support/mailbox.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import { checkOf, production, quietShop, serveEnded } from './health-support.ts'
import type { Env } from './health-support.ts'

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a check of the network fails', () => {
  const stripe = (apiBase: string): Env => ({
    SHOPSTEAD_PAYMENTS: 'stripe',
    SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_test_1',
    SHOPSTEAD_STRIPE_API_BASE: apiBase
  })

  it('when the clock differs from Stripe’s', async () => {
    const dataDir = await quietShop()
    const atStripe = (offMs: number) =>
      listen((_request, response) => {
        response.setHeader('date', new Date(Date.now() + offMs).toUTCString())
        response.writeHead(401).end('{}')
      })
    const found = async (offMs: number) => (await checkOf('clock', dataDir, stripe(await atStripe(offMs))))?.status
    expect(await found(0)).toBe('ok')
    expect(await found(-60_000)).toBe('warning')
    expect(await found(400_000)).toBe('failed')
    expect(await checkOf('clock', dataDir, stripe('http://127.0.0.1:1'))).toMatchObject({ status: 'warning' })
  })

  it('when the certificate of the public URL ends soon', async () => {
    const dataDir = await quietShop()
    const env = { SHOPSTEAD_PUBLIC_URL: await serveEnded(onTestFinished) }
    const at = (time: string) => checkOf('certificate', dataDir, env, { now: () => Date.parse(time) })
    expect(await at('2020-03-01T00:00:00Z')).toMatchObject({ status: 'ok' })
    expect(await at('2020-03-21T00:00:00Z')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/ends in 10 days, at 2020-03-31T/),
      advice: expect.stringContaining('journalctl -u caddy')
    })
    expect(await at('2020-04-02T00:00:00Z')).toMatchObject({ message: expect.stringMatching(/ended at 2020-03-31T/) })
    expect(await checkOf('certificate', dataDir)).toMatchObject({ status: 'ok' })
  })

  it('when the mail server is down or refuses the login', async () => {
    const dataDir = await quietShop()
    const mailbox = await startMailbox({ login: { user: 'shop', password: 'right' } })
    const good = mailbox.urlFor('shop', 'right')
    const env = (url: string): Env => ({ SHOPSTEAD_SMTP_URL: url })
    expect(await checkOf('smtp', dataDir, env(good))).toMatchObject({ status: 'ok' })
    const refused = await checkOf('smtp', dataDir, env(mailbox.urlFor('shop', 'wrong')))
    expect(refused).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(refused)).not.toContain('wrong')
    await mailbox[Symbol.asyncDispose]()
    expect(await checkOf('smtp', dataDir, env(good))).toMatchObject({ status: 'failed' })
    expect(await checkOf('smtp', dataDir, production)).toMatchObject({ status: 'failed' })
  })

  /** A web server in front of the shop. */
  async function front(to: () => string, spoil: (answer: IncomingMessage) => void): Promise<string> {
    return listen((request, response: ServerResponse) => {
      const { method, headers, url } = request
      const passed = httpRequest(`${to()}${url}`, { method, headers }, (answer) => {
        spoil(answer)
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      passed.on('error', () => response.writeHead(502).end())
      request.pipe(passed)
    })
  }

  it('when nothing answers at the public URL, another server does, or cookies are lost on the way', async () => {
    let to = ''
    let spoil: (answer: IncomingMessage) => void = () => undefined
    const publicUrl = await front(
      () => to,
      (answer) => spoil(answer)
    )
    const env = { SHOPSTEAD_PUBLIC_URL: publicUrl }
    const shop = await startShop({ env })
    onTestFinished(() => shop.stop())
    to = shop.url
    expect(await checkOf('public url', shop.dataDir, env)).toMatchObject({ status: 'ok' })
    spoil = (answer) => void delete answer.headers['set-cookie']
    expect(await checkOf('public url', shop.dataDir, env)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('lacks the session cookie')
    })
    spoil = (answer) => void (answer.statusCode = 404)
    expect(await checkOf('public url', shop.dataDir, env)).toMatchObject({ status: 'failed' })
    const down = { ...env, SHOPSTEAD_PUBLIC_URL: 'http://127.0.0.1:1' }
    expect(await checkOf('public url', shop.dataDir, down)).toMatchObject({ status: 'warning' })
    const insecure = { ...production, SHOPSTEAD_PUBLIC_URL: publicUrl }
    expect(await checkOf('public url', shop.dataDir, insecure)).toMatchObject({ status: 'failed' })
  })

  it('when a first-party proxy does not send the addresses of its clients, which the log says once', async () => {
    const warnings: string[] = []
    const log = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} }
    const shop = await startShop({ overrides: { log } })
    onTestFinished(() => shop.stop())
    const proxied = async (headers: Record<string, string>): Promise<unknown> =>
      shop.visitor({ 'x-shopstead-proxy': '1', ...headers }).get('/nonce')
    await shop.visitor().get('/nonce')
    await proxied({ 'x-forwarded-for': '203.0.113.9' })
    expect(await checkOf('client addresses', shop.dataDir)).toMatchObject({ status: 'ok' })
    await proxied({})
    await proxied({})
    expect(await checkOf('client addresses', shop.dataDir)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('127.0.0.1'),
      advice: expect.stringContaining('clientAddress')
    })
    expect(warnings.filter((text) => text.includes('does not send the address'))).toHaveLength(1)
    const file = join(shop.dataDir, 'proxied-without-address.json')
    writeFileSync(file, JSON.stringify({ address: '203.0.113.9', at: Date.now() }))
    expect(await checkOf('client addresses', shop.dataDir)).toMatchObject({ status: 'warning' })
  })

  it('with a warning when one address has most of the visitors, also after a restart, and not in a quiet shop', async () => {
    const shop = await startShop({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
    onTestFinished(() => shop.stop())
    const { email } = await makeUser(shop.app, { verified: true })
    const visit = (address: string, jar = shop.visitor({ 'x-forwarded-for': address })) =>
      jar.post('/auth/login', { email, password: goodPassword })
    const found = () => checkOf('visitors', shop.dataDir)
    expect(await found()).toMatchObject({ status: 'ok' })
    for (let count = 0; count < 39; count += 1) await visit('203.0.113.9')
    for (let count = 1; count <= 10; count += 1) await visit(`198.51.100.${count}`)
    expect(await found()).toMatchObject({ status: 'ok' })
    const regular = shop.visitor({ 'x-forwarded-for': '203.0.113.9' })
    for (let count = 0; count < 20; count += 1) await visit('203.0.113.9', regular)
    // 40 of 50 new browsers, but the regular one came 20 times.
    expect(await found()).toMatchObject({
      status: 'warning',
      message: '40 of the last 50 new visitors have the address 203.0.113.9.',
      advice: expect.stringContaining('SHOPSTEAD_TRUSTED_PROXIES')
    })
    await shop.visitor({ 'x-forwarded-for': '198.51.100.99' }).post('/store/checkout-session', {
      items: [{ productId: 1, quantity: 1 }]
    })
    expect(await found()).toMatchObject({ status: 'ok' })
  })

  it('when an untrusted proxy forwards requests, and a warning when any client may have done so', async () => {
    const shop = await startShop()
    onTestFinished(() => shop.stop())
    await shop.visitor().get('/health')
    expect(await checkOf('forwarded requests', shop.dataDir)).toMatchObject({ status: 'ok' })
    await shop.visitor({ 'x-forwarded-for': '203.0.113.9' }).get('/health')
    expect(await checkOf('forwarded requests', shop.dataDir)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('127.0.0.1')
    })
    const trusting = { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.0/8' }
    expect(await checkOf('forwarded requests', shop.dataDir, trusting)).toMatchObject({ status: 'ok' })
    const file = join(shop.dataDir, 'forwarded-by-stranger.json')
    writeFileSync(file, JSON.stringify({ address: '203.0.113.9', at: Date.now() }))
    expect(await checkOf('forwarded requests', shop.dataDir)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('203.0.113.9')
    })
  })
})
