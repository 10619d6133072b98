import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { shopstead, testTerminal } from '../support/command-line.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'

const count = 1500
const last = 999_999 + count
const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-lists-'))
const file = join(dataDir, 'shopstead.db')
createMigratedDatabase(file)
const db = openDatabase(file)

/** Fills the lists of the shop by SQL. */
beforeAll(() => {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1000000 UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`
  db.sqlite.exec(`
    BEGIN;
    INSERT INTO users (id, email, email_key, username, username_key, display_name, password_hash, status, created_at,
      updated_at)
      ${numbers} SELECT i, 'u' || i || '@many.example', 'u' || i || '@many.example', 'u' || i, 'u' || i, 'Person ' || i,
        '', 'active', i, i FROM n;
    INSERT INTO products (id, slug, name, type, price_minor, published, position, created_at, updated_at)
      ${numbers} SELECT i, 'p' || i, 'Product ' || i, 'physical', 100, 1, i, i, i FROM n;
    INSERT INTO affiliates (id, user_id, code, code_key, status, created_at, updated_at)
      ${numbers} SELECT i, i, 'z' || i, 'z' || i, 'active', i, i FROM n;
    INSERT INTO coupons (id, code, code_key, percent_bps, created_at)
      ${numbers} SELECT i, 'Z' || i, 'z' || i, 1000, i FROM n;
    INSERT INTO orders (id, email, status, currency, subtotal_minor, discount_minor, total_minor, strategy, contact,
      public_token, created_at, updated_at)
      ${numbers} SELECT i, 'u' || i || '@many.example', 'cancelled', 'EUR', 100, 0, 100, 'redirect_to_store', '{}', i, i, i
        FROM n;
    INSERT INTO visits (id, affiliate_id, order_id, created_at) ${numbers} SELECT i, i, i, i FROM n;
    INSERT INTO referrals (id, affiliate_id, order_id, visit_id, status, rate_bps, amount_minor, currency, created_at,
      updated_at)
      ${numbers} SELECT i, i, i, i, 'unpaid', 1000, 10, 'EUR', i, i FROM n;
    INSERT INTO events (id, type, payload, created_at)
      ${numbers} SELECT i, 'order.paid', '{"orderId":' || i || '}', i FROM n;
    INSERT INTO webhook_endpoints (id, url, secret, created_at) VALUES (1, 'https://receiver.example', '', 0);
    INSERT INTO webhook_deliveries (id, endpoint_id, event_id, state, next_attempt_at, created_at)
      ${numbers} SELECT i, 1, i, 'delivered', i, i FROM n;
    COMMIT`)
  return () => {
    db.sqlite.close()
    rmSync(dataDir, { recursive: true })
  }
})

describe('a list without a limit', () => {
  it.each([
    ['offers list', `UPDATE products SET name = 'changed' WHERE id = ${last}`],
    ['affiliates list', `UPDATE affiliates SET message = 'changed' WHERE id = ${last}`],
    ['coupons list', `UPDATE coupons SET code = 'changed' WHERE id = ${last}`],
    ['referrals export', `UPDATE affiliates SET code = 'changed' WHERE id = ${last}`],
    ['orders export', `UPDATE orders SET email = 'changed' WHERE id = ${last}`]
  ])('of `%s` has printed its first rows before it reads the last one', async (command, change) => {
    const { terminal, stdout } = testTerminal()
    const write = terminal.stdout.write.bind(terminal.stdout)
    let isFirst = true
    terminal.stdout.write = ((text: string, done: () => void) => {
      if (isFirst) db.sqlite.exec(change)
      isFirst = false
      return write(text, done)
    }) as typeof terminal.stdout.write
    expect(await main([...command.split(' '), '--json', '--data-dir', dataDir], terminal)).toBe(0)
    const [rows] = Object.values(JSON.parse(stdout()) as Record<string, object[]>)
    expect(rows?.length).toBeGreaterThanOrEqual(count)
    expect(JSON.stringify(rows?.at(-1))).toContain('"changed"')
    expect(JSON.stringify(rows?.slice(0, -1))).not.toContain('"changed"')
  })
})

describe('a list with a limit', () => {
  it.each(['users list', 'orders list', 'referrals list', 'events list', 'webhooks deliveries'])(
    'of `%s` shows that many of the newest rows',
    async (command) => {
      const { json } = await shopstead(dataDir, [...command.split(' '), '--limit', '1000', '--json'])
      const [rows] = Object.values(json)
      expect(rows).toHaveLength(1000)
    }
  )
})
