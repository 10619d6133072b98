import { expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { openDesk } from '../../src/open-desk.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { hiddenOf } from '../support/desk-visitor.ts'
import { demoShop } from '../support/demo-shop.ts'
import { shopstead } from '../support/command-line.ts'

const anna = 'anna@shop.example'

test('the desk is switched on only for an address for which browsers make passkeys', async () => {
  const dataDir = demoShop()
  const at = (url: string) => shopstead(dataDir, ['desk', 'enable', '--json'], { env: { SHOPSTEAD_PUBLIC_URL: url } })
  for (const url of ['http://shop.example', 'https://192.0.2.7', 'http://127.0.0.1:3000']) {
    expect((await at(url)).json).toMatchObject({ error: { code: 'CONFIG_INVALID' } })
  }
  const url = 'https://shop.example/desk'
  expect((await at('https://shop.example')).json).toEqual({ enabled: true, url })
  expect((await shopstead(dataDir, ['desk', 'disable', '--json'])).json).toEqual({ enabled: false })
})

test('a person is invited by a link that is mailed, changes their role, and loses the access', async () => {
  const dataDir = demoShop()
  const invited = await shopstead(dataDir, ['desk', 'invite', 'Berta@shop.example', '--role', 'orders', '--json'])
  expect(invited.json).toEqual({
    person: { email: 'Berta@shop.example', role: 'orders' },
    url: expect.stringMatching(/\/desk\/invitation\?token=[\w-]{43}$/),
    expiresAt: expect.any(String)
  })
  const people = async () => (await shopstead(dataDir, ['desk', 'people', '--json'])).json
  expect(await people()).toMatchObject({
    people: [
      { email: anna, passkeys: 1 },
      { role: 'orders', passkeys: 0 }
    ]
  })
  await shopstead(dataDir, ['desk', 'invite', anna, '--role', 'reports'])
  expect((await shopstead(dataDir, ['desk', 'remove', 'berta@SHOP.example', '--yes'])).code).toBe(0)
  expect(await people()).toMatchObject({ people: [{ email: anna, role: 'reports' }] })
  expect((await shopstead(dataDir, ['desk', 'remove', 'berta@shop.example', '--yes', '--json'])).json).toMatchObject({
    error: { code: 'NOT_FOUND' }
  })
  expect((await shopstead(dataDir, ['desk', 'log'])).stdout).toContain('orders/1/refund')
})

test('an unknown role is refused with the roles that exist', async () => {
  const { code, stderr } = await shopstead(demoShop(), ['desk', 'invite', anna, '--role', 'boss'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('owner, orders, catalogue, reports')])
})

test('"desk open" prints a link', async () => {
  const { code, stdout } = await shopstead(demoShop(), ['desk', 'open'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/http:\/\/127\.0\.0\.1:\d+\/desk\/open\?token=[\w-]{43}/)])
})

test('the desk of a machine opens once, for one browser, at its own address only', async () => {
  const config = parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: demoShop() })
  const app = createApp(config, { database: 'migrated' })
  const desk = await openDesk(app, 0)
  try {
    const { origin } = new URL(desk.link)
    const open = async (headers: Record<string, string> = {}) =>
      fetch(`${origin}/desk/open`, {
        method: 'POST',
        redirect: 'manual',
        headers,
        body: new URLSearchParams(hiddenOf(await (await fetch(desk.link)).text()))
      })
    expect((await fetch(`${origin}/desk`)).status).toBe(404)
    expect((await open({ origin: 'https://evil.example' })).status).toBe(403)
    const opened = await open()
    const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect([opened.status, (await open()).status]).toEqual([303, 410])
    const page = await fetch(`${origin}/desk/orders`, { headers: { cookie } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('lena@shop.example')])
    for (const path of ['/api/v1/health', '/', '/desk/login', '/livez']) {
      expect([path, (await fetch(`${origin}${path}`, { headers: { cookie } })).status]).toEqual([path, 404])
    }
  } finally {
    await desk.close()
    app.close()
  }
})
