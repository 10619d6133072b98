import type Database from 'better-sqlite3'

/** What holds between whole transactions; each query finds what breaks it. */
const laws: readonly [law: string, breaches: string][] = [
  ['an order has lines', `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM order_items)`],
  [
    "an order's total is that of its lines",
    `SELECT id FROM orders WHERE total_minor <> (SELECT sum(total_minor) FROM order_items WHERE order_id = orders.id)`
  ],
  [
    'an order has the audit row of its making',
    `SELECT id FROM orders WHERE 1 <> (SELECT count(*) FROM order_history WHERE order_id = orders.id AND from_status IS NULL)`
  ],
  [
    "an order's state is that of its last audit row",
    `SELECT id FROM orders
     WHERE status <> (SELECT to_status FROM order_history WHERE order_id = orders.id ORDER BY id DESC LIMIT 1)`
  ],
  [
    'an order was told of once',
    `SELECT id FROM orders WHERE 1 <> (SELECT count(*) FROM events
     WHERE type = 'order.created' AND json_extract(payload, '$.orderId') = orders.id)`
  ],
  [
    'of each order that is told of there is the order',
    `SELECT id FROM events WHERE json_extract(payload, '$.orderId') NOT IN (SELECT id FROM orders)`
  ],
  ['an order has its attribution', `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM order_attributions)`],
  ['an order has its payment attempt', `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM payment_attempts)`],
  [
    'an order has its key',
    `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM idempotency_keys WHERE order_id IS NOT NULL)`
  ],
  [
    'a paid order was told of as paid once, and no other',
    `SELECT id FROM orders WHERE (status = 'processing') <> (SELECT count(*) FROM events
     WHERE type = 'order.paid' AND json_extract(payload, '$.orderId') = orders.id)`
  ],
  [
    'a paid order has the payment that paid it, and no other has',
    `SELECT id FROM orders
     WHERE (status = 'processing') <> (SELECT count(*) FROM payment_attempts WHERE order_id = orders.id AND outcome = 'paid')`
  ],
  [
    'a receipt goes with each paid order, and with no other',
    `SELECT id FROM orders WHERE (status = 'processing') <> (SELECT count(*) FROM mails
     WHERE template = 'order_receipt' AND json_extract(data, '$.orderId') = orders.id)`
  ],
  [
    "a customer's orders are counted",
    `SELECT user_id FROM orders GROUP BY user_id
     HAVING count(*) <> (SELECT total FROM customer_order_totals t WHERE t.user_id = orders.user_id)`
  ],
  [
    'an account has profile and consent',
    `SELECT id FROM users WHERE id NOT IN (SELECT user_id FROM registration_profiles)
     OR id NOT IN (SELECT user_id FROM registration_consents)`
  ],
  [
    'an account was told of once',
    `SELECT id FROM users WHERE 1 <> (SELECT count(*) FROM events
     WHERE type = 'account.registered' AND json_extract(payload, '$.userId') = users.id)`
  ],
  ['no order is missing before the last one', gapsIn('orders')],
  ['no account is missing before the last one', gapsIn('users')],
  ['no event is missing before the last one', gapsIn('events')],
  [
    'what is on the shelf and in orders is what there was',
    `SELECT id FROM products WHERE slug = 'lantern' AND 1000 <> stock + (SELECT coalesce(sum(stock_taken), 0)
     FROM order_items JOIN orders ON orders.id = order_id
     WHERE product_id = products.id AND status NOT IN ('failed', 'cancelled'))`
  ]
]

/** The stock that the last law counts with. */
export const lanterns = 1000

function gapsIn(table: 'orders' | 'users' | 'events'): string {
  return `SELECT max(id) FROM ${table} HAVING max(id) <> count(*)`
}

/** Every law that does not hold, with the ids that break it; empty for a state between two transactions. */
export function brokenLaws(database: Database.Database): string[] {
  return laws.flatMap(([law, breaches]) => {
    const ids = database.prepare(breaches).pluck().all()
    return ids.length === 0 ? [] : [`broken: ${law} (${ids.slice(0, 5).join(', ')})`]
  })
}
