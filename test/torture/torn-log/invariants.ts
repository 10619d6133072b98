import type Database from 'better-sqlite3'

/** What must hold after every complete transaction. Each query returns the ids that violate it. */
const invariants: readonly [invariant: string, query: string][] = [
  ['an order has line items', `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM order_items)`],
  [
    "an order's total is the sum of its line items",
    `SELECT id FROM orders WHERE total_minor <> (SELECT sum(total_minor) FROM order_items WHERE order_id = orders.id)`
  ],
  [
    'an order has one history row for its creation',
    `SELECT id FROM orders WHERE 1 <> (SELECT count(*) FROM order_history WHERE order_id = orders.id AND from_status IS NULL)`
  ],
  [
    "an order's status is that of its last history row",
    `SELECT id FROM orders
     WHERE status <> (SELECT to_status FROM order_history WHERE order_id = orders.id ORDER BY id DESC LIMIT 1)`
  ],
  [
    'an order has one order.created event',
    `SELECT id FROM orders WHERE 1 <> (SELECT count(*) FROM events
     WHERE type = 'order.created' AND json_extract(payload, '$.orderId') = orders.id)`
  ],
  [
    'every event has its order',
    `SELECT id FROM events WHERE json_extract(payload, '$.orderId') NOT IN (SELECT id FROM orders)`
  ],
  ['an order has its attribution', `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM order_attributions)`],
  ['an order has its payment attempt', `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM payment_attempts)`],
  [
    'an order has its idempotency key',
    `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM idempotency_keys WHERE order_id IS NOT NULL)`
  ],
  [
    'exactly the paid orders have one order.paid event',
    `SELECT id FROM orders WHERE (status = 'processing') <> (SELECT count(*) FROM events
     WHERE type = 'order.paid' AND json_extract(payload, '$.orderId') = orders.id)`
  ],
  [
    'exactly the paid orders have one paid payment attempt',
    `SELECT id FROM orders
     WHERE (status = 'processing') <> (SELECT count(*) FROM payment_attempts WHERE order_id = orders.id AND outcome = 'paid')`
  ],
  [
    'exactly the paid orders have one receipt',
    `SELECT id FROM orders WHERE (status = 'processing') <> (SELECT count(*) FROM mails
     WHERE template = 'order_receipt' AND json_extract(data, '$.orderId') = orders.id)`
  ],
  [
    "a customer's order count is correct",
    `SELECT user_id FROM orders GROUP BY user_id
     HAVING count(*) <> (SELECT total FROM customer_order_totals t WHERE t.user_id = orders.user_id)`
  ],
  [
    'an account has a profile and a consent record',
    `SELECT id FROM users WHERE id NOT IN (SELECT user_id FROM registration_profiles)
     OR id NOT IN (SELECT user_id FROM registration_consents)`
  ],
  [
    'an account has one account.registered event',
    `SELECT id FROM users WHERE 1 <> (SELECT count(*) FROM events
     WHERE type = 'account.registered' AND json_extract(payload, '$.userId') = users.id)`
  ],
  ['order ids have no gaps', gapsIn('orders')],
  ['account ids have no gaps', gapsIn('users')],
  ['event ids have no gaps', gapsIn('events')],
  [
    'stock and units in orders add up to the initial stock',
    `SELECT id FROM products WHERE slug = 'lantern' AND 1000 <> stock + (SELECT coalesce(sum(stock_taken), 0)
     FROM order_items JOIN orders ON orders.id = order_id
     WHERE product_id = products.id AND status NOT IN ('failed', 'cancelled'))`
  ]
]

/** The initial stock that the last invariant uses. */
export const lanternStock = 1000

function gapsIn(table: 'orders' | 'users' | 'events'): string {
  return `SELECT max(id) FROM ${table} HAVING max(id) <> count(*)`
}

/** The violated invariants, each with the ids that violate it. */
export function violatedInvariants(database: Database.Database): string[] {
  return invariants.flatMap(([invariant, query]) => {
    const ids = database.prepare(query).pluck().all()
    return ids.length === 0 ? [] : [`broken: ${invariant} (${ids.slice(0, 5).join(', ')})`]
  })
}
