import { setTimeout as sleep } from 'node:timers/promises'
import { shoppers } from './work.ts'
import type { Work } from './work.ts'

/** A port on which no program listens. */
const deadReceiver = 'http://127.0.0.1:9/hook'
const dayMs = 24 * 3_600_000
/** A time from before any retention. */
const old = (): number => Date.now() - 800 * dayMs
const numbers = (max: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${max})`

/** Work that the server does by itself, and what makes it do more of it. */
export const jobWork: readonly Work[] = [
  {
    name: 'asking the gateway about all open payment pages',
    buyers: shoppers,
    pages: { short: 50, full: 5_000 },
    run: ({ command }) => command('orders', 'reconcile')
  },
  {
    name: 'holds that end at once',
    buyers: shoppers,
    pages: { short: 50, full: 10_000 },
    prepare: ({ sqlite }) => void sqlite.exec(`UPDATE orders SET hold_ends_at = 1 WHERE status = 'pending'`),
    run: ({ untilNone }) => untilNone(`SELECT count(*) FROM orders WHERE status = 'pending' AND hold_ends_at = 1`),
    atStart: true
  },
  {
    name: 'webhooks to a dead receiver',
    buyers: shoppers,
    prepare({ sqlite, isFull }) {
      const now = Date.now()
      sqlite.exec(`
        INSERT INTO webhook_endpoints (url, secret, active, created_at) VALUES ('${deadReceiver}', 'whsec_c2VjcmV0', 1, ${now});
        INSERT INTO events (type, payload, created_at)
          ${numbers(isFull ? 100_000 : 5_000)} SELECT 'order.created', json_object('orderId', i), ${now} FROM n;
        INSERT INTO webhook_deliveries (endpoint_id, event_id, state, attempts, next_attempt_at, created_at)
          SELECT 1, id, 'queued', id % 2, ${now} + (id % 2) * 3600000, ${now} FROM events`)
    },
    run: ({ isFull }) => sleep(isFull ? 60_000 : 3_000),
    atStart: true
  },
  {
    name: 'a year of orders and events that are not kept any longer',
    buyers: shoppers,
    size: { orders: 200_000 },
    prepare({ sqlite }) {
      const placed = old() + 1
      sqlite.exec(`
        UPDATE orders SET user_id = NULL, status = 'cancelled', paid_at = NULL, created_at = ${placed}, updated_at = ${placed},
          contact = '{"firstName":"Ada"}', billing_address = '{"city":"Hamburg"}';
        UPDATE events SET created_at = ${placed};
        INSERT INTO events (type, payload, created_at)
          SELECT 'order.created', json_object('orderId', id), ${placed} FROM orders`)
    },
    // Events come last, the oldest first. Counting the rest would hold up the checkpoints of the server.
    run: ({ untilNone }) =>
      untilNone(`SELECT EXISTS (SELECT 1 FROM events WHERE type = 'order.created' AND created_at < ${old() + dayMs})`),
    atStart: true
  }
]
