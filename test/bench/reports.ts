/**
 * Measures the reports of a shop with a million paid orders of five years, two line items each, 1,000 products, 500
 * affiliates and 300,000 referrals. Exits with 1 when a report of all days takes over a second of CPU time.
 * Usage: node test/bench/reports.ts [ORDERS]
 */
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { affiliatesReport } from '../../src/operations/reports/affiliates.ts'
import { couponsReport } from '../../src/operations/reports/coupons.ts'
import { productsReport } from '../../src/operations/reports/products.ts'
import { salesReport } from '../../src/operations/reports/sales.ts'
import { stockReport } from '../../src/operations/reports/stock.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrateDatabase } from '../../src/platform/db/migrate.ts'
import { temporaryFolder } from './temporary-folder.ts'

const orders = Number(process.argv[2] ?? 1_000_000)
const mostMs = 1000
const first = Date.UTC(2021, 0, 1)
const stepMs = Math.floor((5 * 365 * 86_400_000) / orders)
const days = { from: '2021-01-01', to: '2025-12-31' }
const last = Date.UTC(2026, 0, 1)

/** A table expression with the numbers from 1. */
const numbers = (max: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${max})`

function fill(sqlite: Database.Database): void {
  sqlite.exec(`
    INSERT INTO users (id, email, email_key, username, username_key, display_name, password_hash, status, created_at, updated_at)
      ${numbers(500)} SELECT i, 'user-' || i || '@shop.example', 'user-' || i || '@shop.example', 'user-' || i, 'user-' || i,
        'User ' || i, 'none', 'active', ${first}, ${first} FROM n;
    INSERT INTO affiliates (id, user_id, code, code_key, status, created_at, updated_at)
      SELECT id, id, 'code' || id, 'code' || id, 'active', ${first}, ${first} FROM users;
    INSERT INTO affiliate_clicks (affiliate_id, day, clicks)
      SELECT a.id, date('2021-01-01', n.i || ' days'), 7 FROM affiliates a, (${numbers(1800)} SELECT i FROM n) n;
    INSERT INTO products (id, slug, name, description, type, price_minor, stock, published, position, created_at, updated_at)
      ${numbers(1000)} SELECT i, 'product-' || i, 'Lantern number ' || i, 'A lantern.', 'physical', 500 + i, i % 50, 1, i,
        ${first}, ${first} FROM n;
    INSERT INTO orders (id, email, email_key, status, currency, subtotal_minor, discount_minor, shipping_minor, total_minor,
        refunded_minor, strategy, contact, shipping_address, public_token, paid_at, created_at, updated_at)
      ${numbers(orders)} SELECT i, 'buyer-' || i || '@shop.example', 'buyer-' || i || '@shop.example', 'completed', 'EUR', 2550, 0,
        490, 3040, iif(i % 50 = 0, 3040, 0), 'redirect_to_store', '{"firstName":"Lena","lastName":"Hartmann"}',
        '{"address1":"Hafenstrasse 3","postcode":"24103","city":"Kiel","country":"DE"}', 'token-' || i,
        ${first} + i * ${stepMs} + 60000, ${first} + i * ${stepMs}, ${first} + i * ${stepMs} + 60000 FROM n;
    INSERT INTO order_items (order_id, product_id, name, quantity, unit_price_minor, discount_minor, total_minor, type,
        grants, stock_taken)
      SELECT o.id, (o.id * 7919 + line.value * 31) % 1000 + 1, 'Lantern number ' || (o.id % 1000), 1, 1275, 0, 1275, 'physical', '[]', 0
      FROM orders o, json_each('[0,1]') line;
    INSERT INTO invoices (order_id, kind, year, sequence, number, date, currency, total_minor, document, issued_at)
      SELECT id, 'credit_note', 2021, id / 50, 'CN' || (id / 50), date(paid_at / 1000, 'unixepoch'), 'EUR', 3040, '{}', paid_at
      FROM orders WHERE refunded_minor > 0;
    INSERT INTO visits (id, affiliate_id, order_id, created_at)
      SELECT id, id % 500 + 1, id, created_at FROM orders WHERE id % 10 < 3;
    INSERT INTO referrals (affiliate_id, order_id, visit_id, status, rate_bps, shop_rate_bps, amount_minor, currency, day, created_at, updated_at)
      SELECT affiliate_id, order_id, id, 'unpaid', 1000, 1000, 255, 'EUR', date(created_at / 1000, 'unixepoch'), created_at, created_at FROM visits;`)
}

const db = openDatabase(join(temporaryFolder('reports'), 'shopstead.db'))
migrateDatabase(db)
db.sqlite.pragma('synchronous = OFF')
db.sqlite.transaction(() => fill(db.sqlite))()
db.sqlite.pragma('wal_checkpoint(TRUNCATE)')

const reports = {
  'sales by day': () => salesReport.make({ db }, { ...days, by: 'day' }, 0),
  'sales by month': () => salesReport.make({ db }, { ...days, by: 'month' }, 0),
  products: () => productsReport.make({ db }, { ...days, limit: 100 }, 0),
  coupons: () => couponsReport.make({ db }, { ...days, limit: 100 }, 0),
  affiliates: () => affiliatesReport.make({ db }, { ...days, limit: 100 }, 0),
  stock: () => stockReport.make({ db }, { ...days, low: 5, all: true }, last)
}

for (const [name, report] of Object.entries(reports)) {
  const times: number[] = []
  for (let run = 0; run < 3; run += 1) {
    const before = process.cpuUsage()
    await report()
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000)
  }
  const ms = Math.round(Math.min(...times))
  process.stdout.write(`${name.padEnd(16)}${String(ms).padStart(6)} ms${ms > mostMs ? '  too slow' : ''}\n`)
  if (ms > mostMs) process.exitCode = 1
}
