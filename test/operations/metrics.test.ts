import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { startMetrics } from '../../src/operations/metrics/serve-metrics.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { startServer } from '../../src/start-server.ts'
import { checkOut, handoff, lamp, mug, shopFor } from '../api/checkout-support.ts'
import { startShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import { configOf, quietShop, silent } from './health-support.ts'

test('the metrics report requests, accounts and sizes without personal data', async () => {
  const { shop, scrape, port } = await startMeasured()
  const visitor = shop.visitor()
  await visitor.register({ email: 'lena@shop.example' })
  await visitor.get('/me')
  await visitor.get('/nothing/lena@shop.example')
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(response.headers.get('content-type')).toContain('version=0.0.4')
  const text = await scrape()
  expect(text).toContain('shopstead_http_request_duration_seconds_count{method="GET",path="/me",status="200"} 1')
  expect(text).toContain('path="none",status="404"')
  expect(text).toMatch(/^shopstead_accounts 1$/m)
  expect(text).toMatch(/^shopstead_database_bytes [1-9]\d+$/m)
  expect(text).toMatch(/^shopstead_webhook_signatures_refused_total 0$/m)
  expect(text).toMatch(/^shopstead_http_body_bytes 0$/m)
  expect(text).toMatch(/^shopstead_http_bodies_refused_total \d+$/m)
  expect(text).toMatch(/^shopstead_build_info\{version="\d[^"]*",build="[^"]+",node="v\d[^"]*"\} 1$/m)
  expect(text).toMatch(/^process_cpu_seconds_total /m)
  expect(text).toMatch(/^nodejs_eventloop_lag_max_seconds \d/m)
  expect(text).not.toContain('lena')
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  expect((await visitor.get(`${shop.url}/metrics`)).status).toBe(404)
})

test('the metrics follow the orders, whichever process changes them', async () => {
  const { shop, scrape } = await startMeasured({ seed: catalog })
  const three = { items: [{ productId: 1, quantity: 3 }] }
  expect((await checkOut(shop.visitor(), three)).status).toBe(200)
  expect(await scrape()).toMatch(/^shopstead_stock_held 3$/m)
  const declined = { ...three, ...handoff, paymentToken: 'pm_card_chargeDeclined' }
  expect((await checkOut(shop.visitor(), declined)).status).toBe(402)
  const paid = await checkOut(shop.visitor(), { ...three, ...handoff })
  expect(paid.status).toBe(200)
  // As a command does in its own process: the metrics know it only from the events.
  await refundOrder(shop.app, Number(paid.data.orderId), { amountMinor: 1250 }, 'operator')
  const text = await scrape()
  expect(text).toMatch(/^shopstead_orders\{status="pending"\} 1$/m)
  expect(text).toMatch(/^shopstead_orders\{status="failed"\} 1$/m)
  expect(text).toMatch(/^shopstead_orders\{status="processing"\} 1$/m)
  expect(text).toMatch(/^shopstead_orders\{status="refunded"\} 0$/m)
  expect(text).toMatch(/^shopstead_orders_created_total 3$/m)
  expect(text).toMatch(/^shopstead_orders_paid_total 1$/m)
  expect(text).toMatch(/^shopstead_payments_failed_total 1$/m)
  expect(text).toMatch(/^shopstead_revenue_total\{currency="EUR"\} 37\.5$/m)
  expect(text).toMatch(/^shopstead_refunded_total\{currency="EUR"\} 12\.5$/m)
  // A second scrape counts no event again, and a restart finds the same orders.
  expect(ordersIn(await scrape())).toEqual(ordersIn(text))
  const restarted = await startMetrics(shop.app, 0)
  onTestFinished(() => restarted.stop())
  expect(gaugesIn(await readMetrics(restarted.port))).toEqual(gaugesIn(text))
})

test('the metrics count the orders again after a day without a scrape, because old events are deleted', async () => {
  const clock = testClock()
  const { shop, scrape } = await startMeasured({ overrides: { clock } })
  await checkOut(shop.visitor(), { items: [mug] })
  await checkOut(shop.visitor(), { items: [lamp] })
  shop.app.db.sqlite.exec('DELETE FROM mails; DELETE FROM events')
  clock.advance(25 * 60 * 60_000)
  const text = await scrape()
  const { count } = shop.app.db.sqlite.prepare('SELECT count(*) AS count FROM orders').get() as { count: number }
  expect(count).toBe(2)
  expect(gaugesIn(text).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(count)
})

test('the metrics count wrong passwords, open warnings, and what failed to be sent', async () => {
  const { shop, scrape } = await startMeasured()
  await shop.visitor().post('/auth/login', { email: 'lena@shop.example', password: 'wrong-word-13' })
  // Housekeeping deletes what is old.
  const now = shop.app.clock.now()
  shop.app.db.sqlite.exec(`
    INSERT INTO payment_warnings (kind, object_id, message, created_at) VALUES ('dispute', 'dp_1', 'A dispute.', ${now});
    INSERT INTO mails (template, recipient, data, state, attempts, next_attempt_at, created_at)
    VALUES ('order_receipt', 'lena@shop.example', '{}', 'failed', 5, ${now}, ${now});
    INSERT INTO webhook_endpoints (id, url, secret, created_at) VALUES (1, 'https://hook.example', 's', ${now});
    INSERT INTO events (id, type, payload, created_at) VALUES (1, 'account.verified', '{"userId":1}', ${now});
    INSERT INTO webhook_deliveries (endpoint_id, event_id, state, next_attempt_at, created_at)
    VALUES (1, 1, 'failed', ${now}, ${now})`)
  const text = await scrape()
  expect(text).toMatch(/^shopstead_login_failures_total 1$/m)
  expect(text).toMatch(/^shopstead_warnings_open 1$/m)
  expect(text).toMatch(/^shopstead_mails\{state="failed"\} 1$/m)
  expect(text).toMatch(/^shopstead_webhook_deliveries\{state="failed"\} 1$/m)
})

test('the metrics do not start on a port that is in use, and the error names the setting', async () => {
  const port = await takenPort()
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  await expect(startMetrics(shop.app, port)).rejects.toThrow(`SHOPSTEAD_METRICS_PORT: port ${port}`)
})

test('the metrics stop when the server cannot start, so that its process ends', async () => {
  const [port, metricsPort] = [await takenPort(), await freePort()]
  const config = { ...configOf(await quietShop()), port, metricsPort }
  const app = createApp(config, { database: 'migrated' }, { log: silent })
  onTestFinished(() => app.close())
  await expect(startServer(app)).rejects.toThrow(`Cannot listen on port ${port}`)
  await expect(fetch(`http://127.0.0.1:${metricsPort}/metrics`)).rejects.toThrow('fetch failed')
})

const catalog = { products: [{ slug: 'mug', name: 'Mug', price: '12.50', stock: 9 }] }

async function startMeasured(options: Parameters<typeof startShop>[0] = {}) {
  const shop = await shopFor(options)
  const { port, stop } = await startMetrics(shop.app, 0)
  onTestFinished(() => stop())
  return { shop, port, scrape: () => readMetrics(port) }
}

async function readMetrics(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
}

/** The lines about orders and money. */
function ordersIn(text: string): string[] {
  return text.split('\n').filter((line) => /^shopstead_(?:orders|revenue|refunded|payments)/.test(line))
}

function gaugesIn(text: string): string[] {
  return ordersIn(text).filter((line) => line.startsWith('shopstead_orders{'))
}

async function takenPort(): Promise<number> {
  const server = await listen()
  onTestFinished(() => void server.close())
  return portOf(server)
}

async function freePort(): Promise<number> {
  const server = await listen()
  const port = portOf(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listen(): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
