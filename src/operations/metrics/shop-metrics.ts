import { statSync } from 'node:fs'
import type { Counter, Gauge, Registry } from 'prom-client'
import { databaseFile } from '../../app.ts'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { bodiesInFlight } from '../../platform/http/body.ts'
import { toMajor } from '../../platform/money.ts'
import { orderStates } from '../../shop/orders/states.ts'
import { setting } from '../../shop/settings/settings.ts'
import { backupFolder } from '../backup/create.ts'
import { backupFiles } from '../backup/manifest.ts'

type Prometheus = typeof import('prom-client')

/** An index answers each of these counts, and those that can grow without end stop at 10,000. */
const work = rawStatement<
  [],
  {
    mailQueued: number
    mailFailed: number
    webhooksQueued: number
    webhooksFailed: number
    paymentsOpen: number
    warningsOpen: number
    signaturesRefused: number
    accounts: number
    stockHeld: number
  }
>(`
  SELECT (SELECT count(*) FROM (SELECT 1 FROM mails WHERE state = 'queued' LIMIT 10000)) AS mailQueued,
         (SELECT count(*) FROM (SELECT 1 FROM mails WHERE state = 'failed' LIMIT 10000)) AS mailFailed,
         (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'queued' LIMIT 10000)) AS webhooksQueued,
         (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'failed' LIMIT 10000)) AS webhooksFailed,
         (SELECT count(*) FROM payment_attempts WHERE outcome IS NULL) AS paymentsOpen,
         (SELECT count(*) FROM payment_warnings WHERE resolved_at IS NULL) AS warningsOpen,
         (SELECT coalesce(sum(refused), 0) FROM webhook_signatures) AS signaturesRefused,
         (SELECT coalesce(max(id), 0) FROM users) AS accounts,
         (SELECT coalesce(sum(i.stock_taken), 0) FROM orders o JOIN order_items i ON i.order_id = o.id
          WHERE o.status IN ('pending', 'on-hold')) AS stockHeld`)

type Figures = { orders: OrderFigures; work: ReturnType<typeof readWork> }
/** A name with its help and a value for each label; the empty label for a metric without labels. */
type Definition = readonly [name: string, help: string, label: string, read: (figures: Figures) => Values]
type Values = number | Iterable<readonly [label: string, value: number]>

/**
 * Registers the metrics of what the shop did and has to do. The returned function reads all of them, once for a scrape.
 */
export function registerShopMetrics({ Counter, Gauge }: Prometheus, registers: Registry[], app: App): () => void {
  const followed = followOrders(app)
  const made: [metric: Counter | Gauge, label: string, read: Definition[3]][] = []
  for (const [name, help, label, read] of counters(app)) {
    made.push([new Counter({ name, help, labelNames: names(label), registers }), label, read])
  }
  for (const [name, help, label, read] of gauges(app)) {
    made.push([new Gauge({ name, help, labelNames: names(label), registers }), label, read])
  }
  return () => {
    const figures = { orders: followed(), work: readWork(app) }
    for (const [metric, label, read] of made) {
      const values = read(figures)
      metric.reset()
      if (typeof values === 'number') metric.inc(values)
      else for (const [of, value] of values) metric.inc({ [label]: of }, value)
    }
  }
}

const names = (label: string): string[] => (label === '' ? [] : [label])

function counters(app: App): Definition[] {
  /** The shop's currency shows 0 before its first sale, so that an increase from there shows. */
  const byCurrency = (amounts: ReadonlyMap<string, number>) =>
    new Map([[setting(app.db, 'shop.currency'), 0], ...amounts])
  return [
    ['shopstead_orders_created_total', 'Orders placed.', '', ({ orders }) => orders.created],
    ['shopstead_orders_paid_total', 'Orders paid for the first time.', '', ({ orders }) => orders.paid],
    [
      'shopstead_revenue_total',
      'What paid orders add up to with tax and shipping, in units such as euros. Refunds are not subtracted.',
      'currency',
      ({ orders }) => byCurrency(orders.revenue)
    ],
    [
      'shopstead_refunded_total',
      'What refunds add up to, in units such as euros.',
      'currency',
      ({ orders }) => byCurrency(orders.refunded)
    ],
    [
      'shopstead_payments_failed_total',
      'Payments that failed, such as by a declined card. Tries on a payment page at Stripe are not known to the shop.',
      '',
      ({ orders }) => orders.paymentsFailed
    ],
    [
      'shopstead_webhook_signatures_refused_total',
      'Deliveries from Stripe that were refused because of their signature, since the shop was set up.',
      '',
      (figures) => figures.work.signaturesRefused
    ],
    [
      'shopstead_http_bodies_refused_total',
      'Request bodies that were refused because all of them took too much memory.',
      '',
      () => bodiesInFlight.refused
    ]
  ]
}

function gauges(app: App): Definition[] {
  const bytes = (suffix: string) => () =>
    statSync(`${databaseFile(app.config)}${suffix}`, { throwIfNoEntry: false })?.size ?? 0
  return [
    ['shopstead_orders', 'Orders by status.', 'status', ({ orders }) => orders.byStatus],
    ['shopstead_accounts', 'Accounts created since the shop was set up.', '', (figures) => figures.work.accounts],
    ['shopstead_stock_held', 'Units of stock that unpaid orders hold.', '', (figures) => figures.work.stockHeld],
    [
      'shopstead_payments_open',
      'Payment attempts without a known outcome.',
      '',
      (figures) => figures.work.paymentsOpen
    ],
    [
      'shopstead_warnings_open',
      'Open warnings about payments, as shopstead health lists them.',
      '',
      (figures) => figures.work.warningsOpen
    ],
    [
      'shopstead_mails',
      'Emails that wait, and emails that failed permanently in the last month. Each is counted up to 10,000.',
      'state',
      (figures) => [
        ['queued', figures.work.mailQueued],
        ['failed', figures.work.mailFailed]
      ]
    ],
    [
      'shopstead_webhook_deliveries',
      'Outgoing webhooks that wait, and those that failed permanently in the last month. Each is counted up to 10,000.',
      'state',
      (figures) => [
        ['queued', figures.work.webhooksQueued],
        ['failed', figures.work.webhooksFailed]
      ]
    ],
    [
      'shopstead_http_body_bytes',
      'Memory that the request bodies in progress take, in bytes.',
      '',
      () => bodiesInFlight.bytes
    ],
    ['shopstead_database_bytes', 'Size of the database file.', '', bytes('')],
    ['shopstead_database_wal_bytes', "Size of the database's write-ahead log.", '', bytes('-wal')],
    [
      'shopstead_newest_backup_timestamp_seconds',
      'When the newest backup was made; 0 if none exists.',
      '',
      () => newestBackup(app)
    ]
  ]
}

function readWork({ db }: App) {
  const row = work(db).get()
  if (row === undefined) throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database does not answer.')
  return row
}

function newestBackup({ config }: App): number {
  const [file] = backupFiles(backupFolder(config.dataDir))
  return file === undefined ? 0 : Math.round(statSync(file).mtimeMs / 1000)
}

/** What the events of orders add up to. Money is in major units by currency; counts start with the process. */
type OrderFigures = {
  /** All orders by status, those from before the process included. */
  byStatus: ReadonlyMap<string, number>
  created: number
  paid: number
  paymentsFailed: number
  revenue: ReadonlyMap<string, number>
  refunded: ReadonlyMap<string, number>
}

/** The most events that one scrape reads: about 20 ms. The next scrapes read the rest. */
const eventsPerRead = 10_000
/** After this time without a scrape, deleted events may be missing, so the orders are counted again. */
const recountMs = 24 * 60 * 60_000

/** The orders by status and, as one more row, the newest event: one statement, so both are of the same moment. */
const count = rawStatement<[], { status: string | null; count: number }>(`
  SELECT status, count(*) AS count FROM orders GROUP BY status
  UNION ALL SELECT NULL, coalesce(max(id), 0) FROM events`)

type Sum = {
  lastId: number
  type: string
  from: string | null
  to: string | null
  currency: string | null
  count: number
  minor: number
}

const sums = rawStatement<{ after: number; limit: number }, Sum>(`
  SELECT max(id) AS lastId, type, payload ->> 'from' AS "from", payload ->> 'to' AS "to",
         payload ->> 'currency' AS currency, count(*) AS count,
         sum(coalesce(payload ->> 'totalMinor', payload ->> 'amountMinor', 0)) AS minor
  FROM (SELECT id, type, payload FROM events WHERE id > @after ORDER BY id LIMIT @limit)
  GROUP BY 2, 3, 4, 5`)

/**
 * Counts the orders once, then follows their events, which every process of the shop writes. A read costs as much as
 * what happened since the last one, however many orders the shop has.
 */
function followOrders({ db, clock }: App): () => OrderFigures {
  const byStatus = new Map<string, number>()
  const [revenue, refunded] = [new Map<string, number>(), new Map<string, number>()]
  const counts = { created: 0, paid: 0, paymentsFailed: 0 }
  let cursor = 0

  const add = (figures: Map<string, number>, key: string, amount: number): void =>
    void figures.set(key, (figures.get(key) ?? 0) + amount)

  const countOrders = (): void => {
    for (const status of Object.keys(orderStates)) byStatus.set(status, 0)
    for (const row of count(db).all()) {
      if (row.status === null) cursor = row.count
      else byStatus.set(row.status, row.count)
    }
  }

  const apply = ({ type, from, to, currency, count: times, minor }: Sum): void => {
    if (type === 'order.created') {
      counts.created += times
      add(byStatus, 'pending', times)
    } else if (type === 'order.status_changed' && from !== null && to !== null) {
      add(byStatus, from, -times)
      add(byStatus, to, times)
      // A declined card, or another failure at the gateway, fails the order.
      if (to === 'failed') counts.paymentsFailed += times
    } else if (type === 'order.paid' && currency !== null) {
      counts.paid += times
      add(revenue, currency, minor)
    } else if (type === 'order.refunded' && currency !== null) add(refunded, currency, minor)
  }

  const follow = (): void => {
    for (const row of sums(db).all({ after: cursor, limit: eventsPerRead })) {
      apply(row)
      cursor = Math.max(cursor, row.lastId)
    }
  }

  countOrders()
  let readAt = clock.now()
  return () => {
    if (clock.now() - readAt > recountMs) countOrders()
    else follow()
    readAt = clock.now()
    return { ...counts, byStatus, revenue: inMajor(revenue), refunded: inMajor(refunded) }
  }
}

/** Sums stay in minor units, which are exact; only what leaves is in major units. */
function inMajor(figures: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...figures].map(([currency, minor]) => [currency, toMajor(minor, currency)]))
}
