import type { App } from '../../app.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { toMajor } from '../../platform/money.ts'
import { orderStates } from '../../shop/orders/states.ts'

/** What the events of orders add up to. Money is in major units by currency; counts start with the process. */
export type OrderFigures = {
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
export function followOrders({ db, clock }: App): () => OrderFigures {
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
