import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { settlePayments } from '../../../src/shop/payments/reconcile.ts'
import type { FaultRequest } from '../../../src/sandbox/http/faults.ts'
import { Browser } from '../../support/browser.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { spawnShop } from '../../support/spawned-shop.ts'
import { checkOut, handoff } from '../../api/checkout-support.ts'
import { quay } from '../../support/addresses.ts'

const key = 'order-7f0c'
const catalog = {
  products: [{ slug: 'lantern', name: 'Lantern', price: '20.00', stock: 5 }],
  coupons: [{ code: 'ONCE', percent: 10, maxUses: 1 }]
}
const items = [{ productId: 1, quantity: 2 }]
const byToken = { items, couponCode: 'ONCE', ...handoff }
const byPage = { items, shippingAddress: quay, couponCode: 'ONCE' }

/** The data folder of a seeded shop without a server; `fault` is scheduled in its sandbox. */
async function seededFolder(fault?: FaultRequest): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-crash-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const shop = await startShop({ dataDir, seed: catalog })
  if (fault !== undefined) shop.app.sandbox?.addFault(fault)
  await shop.stop()
  return dataDir
}

/** Sends a checkout to a new server that dies during it; returns what ended the process. */
async function killedAt(dataDir: string, body: object, moment?: string): Promise<string | null> {
  const { apiRoot, died } = await spawnShop(dataDir, moment)
  await expect(checkOut(new Browser(apiRoot), body, { key })).rejects.toThrow('fetch failed')
  return died
}

async function restarted(dataDir: string): Promise<RunningShop> {
  const shop = await startShop({ dataDir, seed: null, env: { SHOPSTEAD_PUBLIC_URL: 'http://shop.example' } })
  onTestFinished(() => shop.stop())
  return shop
}

function books(shop: RunningShop) {
  const { sqlite } = shop.app.db
  const one = (query: string): unknown => sqlite.prepare(query).pluck().get()
  return {
    orders: sqlite.prepare('SELECT status FROM orders').pluck().all(),
    charges: (shop.app.sandbox?.ledger().charges ?? []).filter((charge) => charge.paid).length,
    stock: one('SELECT stock FROM products'),
    used: one('SELECT used FROM coupons'),
    receipts: one("SELECT count(*) FROM events WHERE type = 'order.paid'")
  }
}

const paidOnce = { orders: ['processing'], charges: 1, stock: 3, used: 1, receipts: 1 }

const byWrite = [
  'AFTER INSERT ON idempotency_keys',
  'AFTER INSERT ON orders',
  'AFTER UPDATE OF order_id ON idempotency_keys',
  'AFTER INSERT ON payment_attempts',
  'AFTER UPDATE OF object_id ON payment_attempts',
  'AFTER UPDATE OF outcome ON payment_attempts',
  'AFTER UPDATE OF status ON orders',
  'AFTER UPDATE OF state ON idempotency_keys'
]
const byCall: FaultRequest[] = ['payment_intents.create', 'payment_intents.confirm'].flatMap((target) =>
  (['before', 'after'] as const).map((moment) => ({ target, fault: 'kill' as const, moment }))
)
const points: [string, { moment?: string; fault?: FaultRequest }][] = [
  ...byWrite.map((moment): [string, { moment: string }] => [moment.toLowerCase(), { moment }]),
  ...byCall.map((fault): [string, { fault: FaultRequest }] => [`${fault.moment} ${fault.target}`, { fault }])
]

describe('a server killed during a payment by token', () => {
  describe.each(points)('%s', (_name, { moment, fault }) => {
    test.each(['immediately', 'after the reconciler'])(
      'creates one order and one charge when the key is sent again %s',
      async (when) => {
        const dataDir = await seededFolder(fault)
        expect(await killedAt(dataDir, byToken, moment)).toBe('SIGKILL')
        const shop = await restarted(dataDir)
        if (when === 'after the reconciler') await settlePayments(shop.app, { underWay: 'take' })
        const answer = await checkOut(shop.visitor(), byToken, { key })
        expect([answer.status, answer.data]).toMatchObject([
          200,
          { orderId: 1, paymentStatus: 'succeeded', status: 'processing' }
        ])
        await settlePayments(shop.app, { underWay: 'take' })
        expect(books(shop)).toEqual(paidOnce)
        expect((await checkOut(shop.visitor(), byToken, { key })).text).toBe(answer.text)
      }
    )
  })
})

describe('a server killed while it opens a payment page', () => {
  test.each(['before', 'after'] as const)(
    '%s the gateway created it leads to one order and one page under the same key',
    async (moment) => {
      const dataDir = await seededFolder({ target: 'checkout.sessions.create', fault: 'kill', moment })
      expect(await killedAt(dataDir, byPage)).toBe('SIGKILL')
      const shop = await restarted(dataDir)
      const answer = await checkOut(shop.visitor(), byPage, { key })
      expect([answer.status, answer.data.orderId]).toEqual([200, '1'])
      const paid = await shop.visitor().form(answer.data.checkoutUrl?.replace('http://shop.example', shop.url) ?? '', {
        payment_method: 'pm_card_visa',
        email: 'ada@example.com'
      })
      expect(paid.status).toBe(303)
      expect(books(shop)).toEqual(paidOnce)
      expect(shop.app.sandbox?.ledger().sessions.length).toBe(1)
    }
  )
})

test('a server killed before it closes the page of a replaced order keeps the newer order, and closes the page later', async () => {
  const dataDir = await seededFolder({ target: 'checkout.sessions.expire', fault: 'kill', moment: 'before' })
  const { apiRoot, died } = await spawnShop(dataDir)
  const buyer = new Browser(apiRoot)
  expect((await checkOut(buyer, byPage)).status).toBe(200)
  await expect(checkOut(buyer, { ...byPage, items: [{ productId: 1, quantity: 4 }] })).rejects.toThrow('fetch failed')
  expect(await died).toBe('SIGKILL')
  const shop = await restarted(dataDir)
  const pages = () => shop.app.sandbox?.ledger().sessions.map(({ status }) => status)
  const newer = { orders: ['cancelled', 'pending'], charges: 0, stock: 1, used: 1, receipts: 0 }
  expect([books(shop), pages()]).toEqual([newer, ['open']])
  await settlePayments(shop.app, { underWay: 'take' })
  expect([books(shop), pages()]).toEqual([newer, ['expired', 'open']])
})
