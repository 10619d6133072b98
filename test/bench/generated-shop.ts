import { hash, randomBytes } from 'node:crypto'
import { copyFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { hash as hashPassword } from '@node-rs/argon2'
import Database from 'better-sqlite3'
import { reversed } from '../../src/platform/search-text.ts'
import type { Packed } from '../support/packed.ts'
import { runPacked } from '../torture/packed-shop.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type Size = { products: number; orders: number; users: number; referrals: number; events?: number }

/** The size of the measured shop, which has been successful for years. */
export const grown: Size = { products: 1_000, orders: 100_000, users: 20_000, referrals: 1_000_000 }

/** The size for the form of CI. */
export const small: Size = { products: 1_000, orders: 2_000, users: 2_000, referrals: 2_000 }

/** The users of the measurements, by user id. */
export const people = {
  /** Has a twentieth of all orders. */
  regular: 1,
  /** Has a tenth as many orders as `regular`. */
  occasional: 2,
  /** Has an average number of orders, and one benefit of each kind. */
  member: 3,
  /** Has all referrals. */
  affiliate: 4,
  /** Has a tenth as many referrals as `affiliate`, in addition. */
  smallAffiliate: 5
} as const
export type Person = keyof typeof people

export const password = 'harbour-lantern-42'
/** The email of a generated user. */
export const emailOf = (user: number | string): string => `user-${user}@shop.example`

export type GeneratedShop = {
  dataDir: string
  /** A copy of the generated database, for the reference. */
  copy: string
  /** The Cookie header of a session that stays valid during the benchmark. */
  cookieOf(person: Person): string
}

const dayMs = 86_400_000

/** Creates a data folder with packed commands and fills its database with SQL. Takes a minute for the size `grown`. */
export async function generateShop(packed: Packed, size: Size): Promise<GeneratedShop> {
  const dataDir = temporaryFolder('bench')
  await command(packed, dataDir, 'init')
  // A thousand accounts log in more often than people do. The limits by address hold: each request has its own.
  await command(packed, dataDir, 'settings', 'set', 'limits.login_account', '100000000/60')
  const file = join(dataDir, 'shopstead.db')
  const tokens = new Map(Object.keys(people).map((person) => [person, randomBytes(32).toString('base64url')]))
  const sqlite = new Database(file)
  sqlite.pragma('synchronous = OFF')
  fill(sqlite, size, { passwordHash: await passwordHash(), tokens, now: Date.now() })
  sqlite.pragma('wal_checkpoint(TRUNCATE)')
  sqlite.close()
  const copy = join(dataDir, 'reference.db')
  copyFileSync(file, copy)
  return {
    dataDir,
    copy,
    cookieOf: (person) => `__Host-shopstead_session=${tokens.get(person)}`
  }
}

/** A copy of a generated shop with more rows. Nothing checks what they refer to. */
export function copyWith({ dataDir, copy, cookieOf }: GeneratedShop, sql: string): GeneratedShop {
  const folder = temporaryFolder('bench')
  cpSync(dataDir, folder, { recursive: true })
  const sqlite = new Database(join(folder, 'shopstead.db'))
  sqlite.pragma('synchronous = OFF')
  sqlite.pragma('foreign_keys = OFF')
  sqlite.transaction(() => sqlite.exec(sql))()
  sqlite.pragma('wal_checkpoint(TRUNCATE)')
  sqlite.close()
  return { dataDir: folder, copy, cookieOf }
}

async function command(packed: Packed, dataDir: string, ...words: string[]): Promise<void> {
  const ran = await runPacked(packed, { dataDir }, ...words)
  if (ran.exitCode !== 0) throw new Error(`shopstead ${words.join(' ')} ended with ${ran.exitCode}: ${ran.stderr}`)
}

/** A hash with the shop's own parameters, so that a login does not rehash it. */
function passwordHash(): Promise<string> {
  return hashPassword(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
}

type FillData = { passwordHash: string; tokens: ReadonlyMap<string, string>; now: number }

function fill(sqlite: Database.Database, size: Size, data: FillData): void {
  sqlite.transaction(() => {
    fillCatalog(sqlite, size, data)
    fillAccounts(sqlite, size, data)
    fillOrders(sqlite, size, data)
    fillReferrals(sqlite, size, data)
    fillBenefits(sqlite, data)
    fillEvents(sqlite, size, data)
  })()
}

/** A table expression with the numbers from 1, for `INSERT … SELECT … FROM n`. */
export const numbers = (max: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${max})`

const words = ['lantern', 'number', 'glass', 'workshop', 'harbour', 'wick', 'handle']

function fillCatalog(sqlite: Database.Database, { products }: Size, { now }: FillData): void {
  sqlite.exec(`
    INSERT INTO products (id, slug, name, description, type, price_minor, published, position, created_at, updated_at)
      ${numbers(products)} SELECT i, 'product-' || i, 'Lantern number ' || i,
        'SharedViews of tin and glass in the workshop by the harbour, number ' || i || ' of its kind, with a wick and a handle.',
        'physical', 500 + i, 1, i, ${now}, ${now} FROM n;
    INSERT INTO categories (id, slug, name) ${numbers(20)} SELECT i, 'room-' || i, 'Room ' || i FROM n;
    INSERT INTO product_categories (product_id, category_id, position) SELECT id, id % 20 + 1, 0 FROM products;
    INSERT INTO product_tags (product_id, tag, position) SELECT id, 'tag-' || id % 50, 0 FROM products;
    INSERT INTO products_search (rowid, name, tags, labels, description, keys)
      SELECT position << 32 | id, name, 'tag-' || id % 50, 'Room ' || (id % 20 + 1), description,
        concat_ws(' ', char(0xE000) || 'listed', char(0xE000) || 'p' || id, char(0xE000) || 'c' || (id % 20 + 1))
      FROM products;
    INSERT INTO search_words (word, reversed) VALUES ${words.map((word) => `('${word}', '${reversed(word)}')`).join(', ')};
  `)
}

function fillAccounts(sqlite: Database.Database, { users }: Size, { passwordHash, tokens, now }: FillData): void {
  sqlite
    .prepare(
      `INSERT INTO users (id, email, email_key, username, username_key, display_name, password_hash, status,
         email_verified_at, first_name, last_name, billing_email, created_at, updated_at)
       ${numbers(users)} SELECT i, 'user-' || i || '@shop.example', 'user-' || i || '@shop.example', 'user-' || i,
         'user-' || i, 'User ' || i, ?, 'active', ${now}, 'User', 'Number ' || i, 'user-' || i || '@shop.example',
         ${now}, ${now} FROM n`
    )
    .run(passwordHash)
  sqlite.exec(`
    INSERT INTO registration_consents (user_id, marketing_opt_in, terms_accepted_at, privacy_accepted_at, recorded_at)
      SELECT id, 0, ${now}, ${now}, ${now} FROM users;
  `)
  const session = sqlite.prepare(
    `INSERT INTO sessions (token_hash, user_id, remember_me, created_at, last_seen_at, ends_at) VALUES (?, ?, 1, ?, ?, ?)`
  )
  for (const [person, id] of Object.entries(people))
    session.run(hash('sha256', tokens.get(person) ?? '', 'hex'), id, now, now, now + 30 * dayMs)
}

/** Every 20th order belongs to `regular`, every 200th to `occasional`, and the others to all other users. */
function fillOrders(sqlite: Database.Database, { orders, users, products }: Size, { now }: FillData): void {
  sqlite.exec(`
    INSERT INTO affiliates (user_id, code, code_key, status, created_at, updated_at)
      SELECT id, 'code' || id, 'code' || id, 'active', ${now}, ${now} FROM users
      WHERE id IN (${people.affiliate}, ${people.smallAffiliate});
    INSERT INTO orders (id, user_id, email, email_key, status, currency, subtotal_minor, discount_minor, total_minor,
        strategy, contact, public_token, paid_at, created_at, updated_at)
      ${numbers(orders)} SELECT i,
        CASE WHEN i % 20 = 0 THEN ${people.regular} WHEN i % 200 = 1 THEN ${people.occasional} ELSE i % ${users - 2} + 3 END,
        'a@shop.example', 'a@shop.example', 'completed', 'EUR', 2550, 0, 2550, 'redirect_to_store', '{}', 'token-' || i,
        ${now} - (${orders} - i) * 1000, ${now} - (${orders} - i) * 1000, ${now} - (${orders} - i) * 1000 FROM n;
    INSERT INTO order_items (order_id, product_id, name, quantity, unit_price_minor, discount_minor, total_minor, type,
        grants, stock_taken)
      SELECT o.id, (o.id + line.value) % ${products} + 1, 'Lantern number ' || ((o.id + line.value) % ${products} + 1), 1, 1275, 0,
        1275, 'physical', '[]', 0
      FROM orders o, json_each('[0,1]') line;
    INSERT INTO order_history (order_id, from_status, to_status, by, reason, at)
      SELECT id, NULL, 'completed', 'bench', 'made up', created_at FROM orders;
    INSERT INTO visits (id, affiliate_id, order_id, created_at) SELECT id, 1, id, created_at FROM orders WHERE id % 5 = 0;
    INSERT INTO order_attributions (order_id, affiliate_id, visit_id, affiliate_ref, affiliate_campaign, source_type,
        utm_source, utm_medium, utm_content, candidates)
      SELECT id, 1, id, 'code4', '', 'referral', 'affiliate:code4', 'affiliate', 'visit:' || id, '[]'
        FROM orders WHERE id % 5 = 0
      UNION ALL SELECT id, NULL, NULL, '', '', 'typein', NULL, NULL, NULL, '[]' FROM orders WHERE id % 5 <> 0;
    INSERT INTO referrals (affiliate_id, order_id, visit_id, status, rate_bps, shop_rate_bps, amount_minor, currency, day, created_at, updated_at)
      SELECT 1, id, id, 'unpaid', 1000, 1000, 255, 'EUR', date(created_at / 1000, 'unixepoch'), created_at, created_at FROM orders WHERE id % 5 = 0;
  `)
}

/** Referrals of orders that do not exist, because creating them would take minutes. The list never reads the orders. */
function fillReferrals(sqlite: Database.Database, { referrals, orders }: Size, { now }: FillData): void {
  const beyond = 1_000_000_000
  sqlite.exec(`
    CREATE TEMP TABLE made AS ${numbers(referrals + referrals / 10)}
      SELECT ${beyond} + i AS id, CASE WHEN i % 11 = 0 THEN 2 ELSE 1 END AS affiliate FROM n;
    DELETE FROM made WHERE affiliate = 1 AND id > ${beyond} + ${(referrals - orders / 5) * 1.1};
    INSERT INTO visits (id, affiliate_id, order_id, created_at) SELECT id, affiliate, id, ${now} FROM made;
    INSERT INTO referrals (affiliate_id, order_id, visit_id, status, rate_bps, shop_rate_bps, amount_minor, currency, day, created_at, updated_at)
      SELECT affiliate, id, id, 'pending', 1000, 1000, id % 5000, 'EUR', date(${now} / 1000, 'unixepoch'), ${now}, ${now} FROM made;
    DROP TABLE made;
  `)
}

function fillBenefits(sqlite: Database.Database, { now }: FillData): void {
  sqlite.exec(`
    INSERT INTO plans (id, slug, name, module, rank, is_pro) VALUES (1, 'friends', 'Friends of the Shop', 'A', 10, 1);
    INSERT INTO campaigns (id, slug, name) VALUES (1, 'new-roof', 'A new roof');
    INSERT INTO memberships (user_id, plan_id, started_at, expires_at)
      VALUES (${people.member}, 1, ${now}, ${now + 365 * dayMs});
    INSERT INTO subscriptions (user_id, product_id, interval, is_pro, started_at, current_period_end)
      VALUES (${people.member}, 1, 'month', 0, ${now}, ${now + 30 * dayMs});
    INSERT INTO donations (user_id, campaign_id, amount_minor, currency, created_at)
      VALUES (${people.member}, 1, 1000, 'EUR', ${now});
  `)
}

/** One event a second until now. */
function fillEvents(sqlite: Database.Database, { events }: Size, { now }: FillData): void {
  if (events === undefined) return
  sqlite.exec(`
    INSERT INTO events (id, type, payload, created_at)
      ${numbers(events)} SELECT i, 'order.paid', '{"orderId":' || i || '}', ${now} - (${events} - i) * 1000 FROM n;
  `)
}
