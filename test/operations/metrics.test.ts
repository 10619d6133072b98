import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { startMetrics } from '../../src/operations/metrics.ts'
import { startServer } from '../../src/start-server.ts'
import { startShop } from '../support/running-shop.ts'
import { configOf, quietShop, silent } from './health-support.ts'

test('the metrics report requests, accounts and sizes without personal data', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const metrics = await startMetrics(shop.app, 0)
  onTestFinished(() => metrics.stop())
  const visitor = shop.visitor()
  await visitor.register({ email: 'lena@shop.example' })
  await visitor.get('/me')
  await visitor.get('/nothing/lena@shop.example')
  const response = await fetch(`http://127.0.0.1:${metrics.port}/metrics`)
  const text = await response.text()
  expect(response.headers.get('content-type')).toContain('version=0.0.4')
  expect(text).toContain('shopstead_http_request_duration_seconds_count{method="GET",path="/me",status="200"} 1')
  expect(text).toContain('path="none",status="404"')
  expect(text).toMatch(/^shopstead_accounts 1$/m)
  expect(text).toMatch(/^shopstead_database_bytes [1-9]\d+$/m)
  expect(text).toMatch(/^shopstead_process_cpu_seconds_total /m)
  expect(text).toMatch(/^shopstead_webhook_signatures_refused 0$/m)
  expect(text).toMatch(/^shopstead_http_body_bytes 0$/m)
  expect(text).toMatch(/^shopstead_http_bodies_refused \d+$/m)
  expect(text).toMatch(/^shopstead_nodejs_eventloop_lag_max_seconds \d/m)
  expect(text).not.toContain('lena')
  expect((await fetch(`http://127.0.0.1:${metrics.port}/`)).status).toBe(404)
  expect((await visitor.get(`${shop.url}/metrics`)).status).toBe(404)
})

test('the metrics count the stock that unpaid orders hold', async () => {
  const shop = await startShop({ seed: { products: [{ slug: 'mug', name: 'Mug', price: '12.50', stock: 9 }] } })
  onTestFinished(() => shop.stop())
  const metrics = await startMetrics(shop.app, 0)
  onTestFinished(() => metrics.stop())
  const body = { items: [{ productId: 1, quantity: 3 }] }
  expect((await shop.visitor().post('/store/checkout-session', body)).status).toBe(200)
  const text = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()
  expect(text).toMatch(/^shopstead_orders_unpaid 1$/m)
  expect(text).toMatch(/^shopstead_stock_held 3$/m)
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
