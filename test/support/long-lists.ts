import type Database from 'better-sqlite3'

/** The first of the ids of `fillLists`, so that the ids of a test are below them. */
export const firstId = 1_000_000

/** Fills every list of the command line with `count` rows by SQL: half of the orders are cancelled, half wait for their shipment. */
export function fillLists(sqlite: Database.Database, count: number): void {
  const last = firstId + count - 1
  const numbers = `WITH RECURSIVE n (i) AS (SELECT ${firstId} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`
  sqlite.exec(`
    BEGIN;
    INSERT INTO users (id, email, email_key, username, username_key, display_name, password_hash, status, created_at,
      updated_at)
      ${numbers} SELECT i, 'u' || i || '@many.example', 'u' || i || '@many.example', 'u' || i, 'u' || i, 'Person ' || i,
        '', 'active', i, i FROM n;
    INSERT INTO products (id, slug, name, type, price_minor, stock, published, position, created_at, updated_at)
      ${numbers} SELECT i, 'p' || i, 'Product ' || i, 'physical', 100, 0, 1, i, i, i FROM n;
    INSERT INTO affiliates (id, user_id, code, code_key, status, created_at, updated_at)
      ${numbers} SELECT i, i, 'z' || i, 'z' || i, 'active', i, i FROM n;
    INSERT INTO coupons (id, code, code_key, percent_bps, created_at)
      ${numbers} SELECT i, 'Z' || i, 'z' || i, 1000, i FROM n;
    INSERT INTO orders (id, email, status, currency, subtotal_minor, discount_minor, total_minor, strategy, contact,
      public_token, paid_at, created_at, updated_at)
      ${numbers} SELECT i, 'u' || i || '@many.example', iif(i % 2, 'cancelled', 'processing'), 'EUR', 100, 0, 100,
        'redirect_to_store', '{}', i, iif(i % 2, NULL, i), i, i FROM n;
    INSERT INTO order_items (order_id, product_id, name, quantity, unit_price_minor, discount_minor, total_minor, type,
      grants, stock_taken)
      ${numbers} SELECT i, i, 'Product ' || i, 1, 100, 0, 100, 'physical', '[]', 0 FROM n;
    INSERT INTO payment_warnings (id, order_id, kind, object_id, message, created_at)
      ${numbers} SELECT i, i, 'dispute', 'dp_' || i, 'The buyer disputes the payment dp_' || i || '.', i FROM n;
    INSERT INTO visits (id, affiliate_id, order_id, created_at) ${numbers} SELECT i, i, i, i FROM n;
    INSERT INTO referrals (id, affiliate_id, order_id, visit_id, status, rate_bps, shop_rate_bps, amount_minor, currency, day,
      created_at, updated_at)
      ${numbers} SELECT i, i, i, i, 'unpaid', 1000, 1000, 10, 'EUR', '1970-01-01', i, i FROM n;
    INSERT INTO events (id, type, payload, created_at)
      ${numbers} SELECT i, 'order.paid', '{"orderId":' || i || '}', i FROM n;
    INSERT INTO webhook_endpoints (id, url, secret, created_at) VALUES (1, 'https://receiver.example', '', 0);
    INSERT INTO webhook_deliveries (id, endpoint_id, event_id, state, next_attempt_at, created_at)
      ${numbers} SELECT i, 1, i, 'delivered', i, i FROM n;
    COMMIT`)
}
