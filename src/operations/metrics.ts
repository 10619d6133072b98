import { statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { Gauge, Registry } from 'prom-client'
import { databaseFile } from '../app.ts'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { backupFolder } from './backup/create.ts'
import { backupFiles } from './backup/files.ts'
import { rawStatement } from '../platform/db/statements.ts'
import { bodiesInFlight } from '../platform/http/bodies-in-flight.ts'
import { finishedRequests } from '../platform/http/finished-requests.ts'
import type { FinishedRequest } from '../platform/http/finished-requests.ts'

export type Metrics = { port: number; stop(): Promise<void> }

/** An index answers each of these counts, so a scrape costs a large shop no more than a small one. */
const work = rawStatement<
  [],
  {
    mailQueued: number
    mailFailed: number
    eventsQueued: number
    paymentsOpen: number
    signaturesRefused: number
    orders: number
    users: number
    unpaid: number
    stockHeld: number
  }
>(`
  SELECT (SELECT count(*) FROM mails WHERE state = 'queued') AS mailQueued,
         (SELECT count(*) FROM mails WHERE state = 'failed') AS mailFailed,
         (SELECT count(*) FROM webhook_deliveries WHERE state = 'queued') AS eventsQueued,
         (SELECT count(*) FROM payment_attempts WHERE outcome IS NULL) AS paymentsOpen,
         (SELECT coalesce(sum(refused), 0) FROM webhook_signatures) AS signaturesRefused,
         (SELECT coalesce(max(id), 0) FROM orders) AS orders,
         (SELECT coalesce(max(id), 0) FROM users) AS users,
         (SELECT count(*) FROM orders WHERE status IN ('pending', 'on-hold')) AS unpaid,
         (SELECT coalesce(sum(i.stock_taken), 0) FROM orders o JOIN order_items i ON i.order_id = o.id
          WHERE o.status IN ('pending', 'on-hold')) AS stockHeld`)

/**
 * Serves the shop's metrics to Prometheus at /metrics, on a separate port that accepts only connections from this
 * machine, because the numbers of orders and customers are private.
 *
 * @param port 0 for any free port
 * @throws AppError CONFIG_INVALID when the port is not available
 */
export async function startMetrics(app: App, port: number): Promise<Metrics> {
  const prometheus = await import('prom-client')
  const register = new prometheus.Registry()
  prometheus.collectDefaultMetrics({ register, prefix: 'shopstead_' })
  const durations = new prometheus.Histogram({
    name: 'shopstead_http_request_duration_seconds',
    help: 'How long requests to the API took, by route.',
    labelNames: ['method', 'path', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers: [register]
  })
  for (const [name, help, read] of gauges(app)) {
    const gauge: Gauge = new prometheus.Gauge({ name, help, registers: [register], collect: () => gauge.set(read()) })
  }
  const record = (message: unknown): void => {
    const { method, path, status, ms } = message as FinishedRequest
    durations.observe({ method, path, status }, ms / 1000)
  }
  finishedRequests.subscribe(record)
  const server = await listenLocally(register, port)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop() {
      finishedRequests.unsubscribe(record)
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}

function gauges(app: App): [name: string, help: string, read: () => number][] {
  const of = (name: keyof ReturnType<typeof readWork>) => () => readWork(app)[name]
  const bytes = (suffix: string) => () =>
    statSync(`${databaseFile(app.config)}${suffix}`, { throwIfNoEntry: false })?.size ?? 0
  return [
    ['shopstead_orders', 'Orders placed since the shop was set up.', of('orders')],
    ['shopstead_accounts', 'Accounts created since the shop was set up.', of('users')],
    ['shopstead_orders_unpaid', 'Orders that wait for their payment.', of('unpaid')],
    ['shopstead_stock_held', 'Units of stock that these orders hold.', of('stockHeld')],
    [
      'shopstead_http_body_bytes',
      'Memory that the request bodies in progress take, in bytes.',
      () => bodiesInFlight.bytes
    ],
    [
      'shopstead_http_bodies_refused',
      'Request bodies that were refused because all of them took too much memory.',
      () => bodiesInFlight.refused
    ],
    ['shopstead_payments_open', 'Payment attempts without a known outcome.', of('paymentsOpen')],
    [
      'shopstead_webhook_signatures_refused',
      'Deliveries from Stripe that were refused because of their signature.',
      of('signaturesRefused')
    ],
    ['shopstead_mail_queued', 'Emails waiting to be sent.', of('mailQueued')],
    ['shopstead_mail_failed', 'Emails that failed permanently in the last month.', of('mailFailed')],
    ['shopstead_webhooks_queued', 'Outgoing webhooks waiting to be sent.', of('eventsQueued')],
    ['shopstead_database_bytes', 'Size of the database file.', bytes('')],
    ['shopstead_database_wal_bytes', "Size of the database's write-ahead log.", bytes('-wal')],
    [
      'shopstead_newest_backup_timestamp_seconds',
      'When the newest backup was made; 0 if none exists.',
      () => newest(app)
    ]
  ]
}

function readWork(app: App) {
  const row = work(app.db).get()
  if (row === undefined) throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database does not answer.')
  return row
}

function newest({ config }: App): number {
  const [file] = backupFiles(backupFolder(config.dataDir))
  return file === undefined ? 0 : Math.round(statSync(file).mtimeMs / 1000)
}

function listenLocally(register: Registry, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/metrics') void answer(register, response)
    else response.writeHead(404).end()
  })
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new AppError(
          'CONFIG_INVALID',
          `SHOPSTEAD_METRICS_PORT: port ${port} is not available. Choose another port.`,
          {},
          { cause }
        )
      )
    )
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

async function answer(register: Registry, response: ServerResponse): Promise<void> {
  try {
    const text = await register.metrics()
    response.writeHead(200, { 'content-type': register.contentType }).end(text)
  } catch {
    // Prometheus records the failed scrape. The cause shows in the log, because requests fail for the same reason.
    response.writeHead(503).end()
  }
}
