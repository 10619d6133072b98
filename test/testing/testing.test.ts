import { existsSync, globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startShop } from '../../src/testing/testing.ts'
import type { TestShop } from '../../src/testing/testing.ts'
import { Browser } from '../support/browser.ts'

const hourMs = 60 * 60_000
const start = Date.UTC(2026, 11, 1, 12)

let shop: TestShop
beforeAll(async () => {
  shop = await startShop({ clock: start, settings: { 'registration.emailVerification': 'true' } })
})
afterAll(() => shop.close())

const visitor = (): Browser => new Browser(`${shop.url}/api/v1`)
const folders = (): string[] => globSync(join(tmpdir(), 'shopstead-testing-*'))

describe('a shop for tests', () => {
  it('sells a few products, at the time of its clock', async () => {
    const { data, headers } = await visitor().get<{ products: { slug: string }[] }>('/store/products')
    expect(data.products.map(({ slug }) => slug)).toEqual(['mug', 'lamp', 'print'])
    expect(headers.get('etag')).not.toBeNull()
    const { meta } = await visitor().get('/nonce')
    expect(meta?.['timestamp']).toBe(new Date(start).toISOString())
  })

  it('returns the last email, also to one address, and forgets all at a reset', async () => {
    expect(await shop.lastMail()).toBeUndefined()
    await visitor().register({ email: 'ada@example.com' })
    await visitor().register({ email: 'eve@example.com' })
    expect(await shop.lastMail()).toMatchObject({ to: 'eve@example.com', links: { verify: expect.any(String) } })
    const mail = await shop.lastMail('ada@example.com')
    expect(mail?.links.verify).toContain(`${shop.url}/account/verify?token=`)
    await shop.reset()
    expect(await shop.lastMail()).toBeUndefined()
    const again = await visitor().register({ email: 'ada@example.com' })
    expect([again.status, again.data]).toMatchObject([201, { user: { id: 1 } }])
  })

  it('releases what an unpaid order holds when its time is over, and starts over at a reset', async () => {
    await shop.reset()
    const stockOf = async (): Promise<unknown> =>
      (await visitor().get<{ product: { stockLeft: number } }>('/store/products/lamp')).data.product.stockLeft
    await visitor().post('/store/checkout-session', { items: [{ productId: 2, quantity: 2 }] })
    expect(await stockOf()).toBe(3)
    await shop.advance(25 * hourMs)
    expect(await stockOf()).toBe(5)
    const { meta } = await visitor().get('/nonce')
    expect(meta?.['timestamp']).toBe(new Date(start + 25 * hourMs).toISOString())
    await shop.reset()
    expect((await visitor().get('/nonce')).meta?.['timestamp']).toBe(new Date(start).toISOString())
  })

  it('takes a catalog, runs beside another one, and leaves nothing behind', async () => {
    const before = folders()
    const products = [{ slug: 'one', name: 'One', price: '1.00' }]
    const other = await startShop({ seed: { products } })
    const folder = folders().find((name) => !before.includes(name)) ?? ''
    expect(existsSync(join(folder, 'shopstead.db'))).toBe(true)
    const { data } = await new Browser(`${other.url}/api/secure`).get<{ products: object[] }>('/store/products')
    expect([other.url === shop.url, data.products]).toMatchObject([false, [{ slug: 'one' }]])
    await Promise.all([other.close(), other.close()])
    expect(existsSync(folder)).toBe(false)
    await expect(fetch(`${other.url}/livez`)).rejects.toThrow('fetch failed')
  })

  it('says what is wrong with its options, and leaves no folder behind', async () => {
    const before = folders()
    await expect(startShop({ seed: { products: [{ slug: 'x' }] } })).rejects.toThrow('Is required.')
    await expect(startShop({ settings: { 'shop.nothing': '1' } })).rejects.toThrow('shop.nothing')
    await expect(startShop({ env: { SHOPSTEAD_LOG: 'loud' } })).rejects.toThrow('SHOPSTEAD_LOG')
    expect(folders()).toEqual(before)
  })
})
