import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { newestToken } from '../support/accounts.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
let other: Db
beforeAll(async () => {
  shop = await startShop({ overrides: { lockTimeoutMs: 300 } })
  other = openDatabase(join(shop.dataDir, 'shopstead.db'))
})
afterAll(async () => {
  other.sqlite.close()
  await shop.stop()
})

/** Another process writes for so long. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  other.sqlite.exec('BEGIN IMMEDIATE')
  try {
    return await work()
  } finally {
    other.sqlite.exec('ROLLBACK')
  }
}

/** As on a full disk: no statement that writes is taken. */
async function whileFull<T>(work: () => Promise<T>): Promise<T> {
  const { sqlite } = shop.app.db
  sqlite.pragma('query_only = ON')
  try {
    return await work()
  } finally {
    sqlite.pragma('query_only = OFF')
  }
}

describe('while another process locks the database', () => {
  test('reads are answered immediately, and writes get 503 with Retry-After after the lock timeout', async () => {
    const visitor = shop.visitor()
    await visitor.register()
    const nonce = await visitor.nonce()
    const { productId } = (await visitor.get<{ offers: { productId: number }[] }>('/store/offers')).data.offers[0] ?? {}
    await whileLocked(async () => {
      const checkout = visitor.post('/store/checkout-session', { items: [{ productId, quantity: 1 }] })
      const logout = visitor.post('/auth/logout', undefined, { 'x-nonce': nonce })
      for (const path of ['/health', '/me', '/orders', '/store/offers']) {
        const started = performance.now()
        expect((await visitor.get(path)).status).toBe(200)
        expect(performance.now() - started).toBeLessThan(2_000)
      }
      for (const { status, headers, error } of await Promise.all([checkout, logout])) {
        expect({ status, code: error.code }).toEqual({ status: 503, code: 'DEPENDENCY_UNAVAILABLE' })
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
        expect(error.message).not.toMatch(/sqlite|lock/i)
      }
    })
    expect((await visitor.get<{ orders: unknown[] }>('/orders')).data.orders).toEqual([])
    const again = await visitor.post('/store/checkout-session', { items: [{ productId, quantity: 1 }] })
    expect(again.status).toBe(200)
  })

  test('a quote waits for the lock when the buyer has an unpaid order of the same product', async () => {
    const buyer = shop.visitor()
    const { productId } = (await buyer.get<{ offers: { productId: number }[] }>('/store/offers')).data.offers[0] ?? {}
    const cart = { items: [{ productId, quantity: 1 }] }
    expect((await buyer.post('/store/checkout-session', cart)).status).toBe(200)
    const quote = await whileLocked(async () => {
      const asked = buyer.post('/store/quote', cart)
      for (const _turn of [1, 2, 3]) await buyer.get('/health')
      return [asked]
    })
    expect((await quote[0])?.status).toBe(200)
  })
})

describe('while nothing can be written', () => {
  test('a user stays logged in when visits cannot be recorded', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'lena@example.com' })
    shop.app.db.sqlite.exec('UPDATE sessions SET last_seen_at = last_seen_at - 120000')
    await whileFull(async () => expect((await visitor.get('/me')).status).toBe(200))
  })

  test('pages and the API answer 503, and work again afterwards', async () => {
    const kim = shop.visitor()
    await kim.register({ email: 'kim@example.com' })
    await kim.post('/auth/resend-verification', { email: 'kim@example.com' })
    const link = { token: newestToken(shop.app) }
    await whileFull(async () => {
      const registered = await shop.visitor().register({ email: 'mira@example.com' })
      expect(registered.status).toBe(503)
      const verified = await kim.form(`${shop.url}/account/verify`, link)
      expect(verified.status).toBe(503)
      expect(verified.headers.get('retry-after')).toBe('5')
    })
    expect((await shop.visitor().register({ email: 'mira@example.com' })).status).toBe(201)
    expect((await kim.form(`${shop.url}/account/verify`, link)).status).toBe(303)
  })
})
