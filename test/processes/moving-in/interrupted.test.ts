import { createConnection } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/platform/config/config.ts'
import { loadDump } from '../../../src/operations/moving-in/wordpress/dump.ts'
import { openWordPress } from '../../../src/operations/moving-in/wordpress/database.ts'
import { importWordPress } from '../../../src/operations/moving-in/wordpress/import-wordpress.ts'
import { findUserByEmail } from '../../../src/shop/accounts/find.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { productsBySku, variationById } from '../../../src/shop/catalog/stored-product.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { shopstead } from '../../support/command-line.ts'
import { testClock } from '../../support/shop-context.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { dumpOf } from './old-shop.ts'

/** Stops an import: a signal that lets a number of transactions pass. */
class Stopped extends Error {}

function stopAfter(transactions: number) {
  let left = transactions
  const throwIfAborted = (): void => {
    left -= 1
    if (left < 0) throw new Stopped()
  }
  const signal = Object.assign(new AbortController().signal, { throwIfAborted })
  return { interruption: () => ({ signal, [Symbol.dispose]: () => undefined }), passed: () => transactions - left }
}

async function newShop(url: string) {
  const dataDir = temporaryFolder()
  await shopstead(dataDir, ['init'])
  const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: dataDir }
  const app = createApp(parseConfig(env), { database: 'migrated' }, { clock: testClock() })
  const run = async (interruption?: ReturnType<typeof stopAfter>['interruption'], updatesProducts = false) => {
    const source = await openWordPress(url)
    const options = { isDryRun: false, onStep: () => undefined, interruption, updatesProducts }
    try {
      return await importWordPress(app, source, options)
    } finally {
      await source.close()
    }
  }
  return { app, run }
}

/** What is made by chance, or tells when the shop itself began. */
const changing = new Set(['public_token', 'id_of_shop', 'activated_at'])
const ownTables =
  /^(?:sqlite|settings|jobs|migrations|__drizzle|sessions|instances|shop_id|identity|products_fts|.*fts)/

/** The rows of the tables that an import fills. */
function contentOf({ db: { sqlite } }: ReturnType<typeof createApp>): Record<string, unknown[]> {
  const names = sqlite.prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  const tables = names.map(({ name }) => name).filter((name) => !ownTables.test(name))
  return Object.fromEntries(
    tables.toSorted().map((name) => {
      const rows = sqlite.prepare<[], Record<string, unknown>>(`SELECT * FROM "${name}"`).all()
      return [name, rows.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => !changing.has(key))))]
    })
  )
}

it('an import that is stopped at twenty places and run again makes the same shop', { timeout: 600_000 }, async () => {
  await using dump = await loadDump(dumpOf('a2'))
  const whole = await newShop(dump.url)
  const counting = stopAfter(Number.MAX_SAFE_INTEGER)
  await whole.run(counting.interruption)
  const all = counting.passed()
  expect(all).toBeGreaterThan(40)
  const stopped = await newShop(dump.url)
  const places = Array.from({ length: 20 }, (_, index) => Math.floor(((index + 0.37) * all) / 20))
  for (const place of places) await expect(stopped.run(stopAfter(place).interruption)).rejects.toThrow(Stopped)
  const byOperator = () => ({ signal: AbortSignal.abort(), [Symbol.dispose]: () => undefined })
  const said = { code: 'CONFLICT', message: expect.stringContaining('run it again to continue') }
  await expect(stopped.run(byOperator)).rejects.toMatchObject(said)
  const { subjects } = await stopped.run()
  for (const { found, arrived, already, left } of subjects) expect(found).toBe(arrived + already + left)
  expect(contentOf(stopped.app)).toEqual(contentOf(whole.app))
  stopped.app.close()
  whole.app.close()
})

it('a second run brings what happened in the old shop since', { timeout: 600_000 }, async () => {
  await using dump = await loadDump(dumpOf('a1'))
  const { app, run } = await newShop(dump.url)
  await run()
  const before = contentOf(app)
  for (const subject of (await run()).subjects) expect(subject).toMatchObject({ arrived: 0, changed: [] })
  expect(contentOf(app)).toEqual(before)

  const connection = await createConnection(dump.url)
  const change = (sql: string, values: unknown[] = []) => connection.query(sql, values)
  const mails = app.db.sqlite.prepare('SELECT count(*) FROM mails').pluck()
  const order = app.db.sqlite
    .prepare<[], { id: number; total: number }>(
      "SELECT id, total_minor AS total FROM orders WHERE status = 'processing' AND refunded_minor = 0 AND imported AND id > 100 LIMIT 1"
    )
    .get()
  const completed = app.db.sqlite
    .prepare<[], { id: number }>(
      "SELECT id FROM orders WHERE status = 'processing' AND imported AND id > 100 LIMIT 1 OFFSET 1"
    )
    .get()
  if (order === undefined || completed === undefined) throw new Error('the shop has no such orders')
  // The whole order is refunded, as WooCommerce writes it.
  await change("UPDATE wp_posts SET post_status = 'wc-refunded' WHERE ID = ?", [order.id])
  await change(
    "INSERT INTO wp_posts (ID, post_parent, post_type, post_status, post_date, post_date_gmt, post_modified, post_modified_gmt, post_content, post_title, post_excerpt, to_ping, pinged, post_content_filtered) VALUES (90001, ?, 'shop_order_refund', 'wc-completed', '2026-11-21 10:00:00', '2026-11-21 10:00:00', '2026-11-21 10:00:00', '2026-11-21 10:00:00', '', '', '', '', '', '')",
    [order.id]
  )
  await change(
    "INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (90001, '_refund_amount', ?), (90001, '_refund_reason', 'came back')",
    [String(order.total / 100)]
  )
  await change("UPDATE wp_posts SET post_status = 'wc-completed' WHERE ID = ?", [completed.id])
  // A commission is accepted, a customer registers, another one changes the password.
  const affiliateOf = app.db.sqlite
    .prepare<[], { sourceId: string; affiliateId: number; amount: number }>(
      "SELECT m.source_id AS sourceId, r.affiliate_id AS affiliateId, r.amount_minor AS amount FROM moved_rows m JOIN referrals r ON r.id = m.target_id WHERE m.kind = 'referral' AND r.status = 'pending' LIMIT 1"
    )
    .get()
  if (affiliateOf === undefined) throw new Error('the shop has no pending commission')
  const owed = balanceOf(app.db, affiliateOf.affiliateId).unpaidMinor
  await change("UPDATE wp_affiliate_wp_referrals SET status = 'unpaid' WHERE referral_id = ?", [affiliateOf.sourceId])
  await change(
    "INSERT INTO wp_users (ID, user_login, user_pass, user_nicename, user_email, user_registered, display_name) VALUES (9001, 'late', '$P$BQVnT1hHXO6OzjYQc1U3aHzVZ1a3Ne1', 'late', 'late@example.test', '2026-11-21 09:00:00', 'Late')"
  )
  const fritz = findUserByEmail(app.db, 'fritz.sahin1@post.example.test')
  await change(
    "UPDATE wp_users SET user_pass = '$P$BQVnT1hHXO6OzjYQc1U3aHzVZ1a3Ne1' WHERE user_email = 'fritz.sahin1@post.example.test'"
  )
  await connection.end()

  const { subjects } = await run()
  const arrived = subjects
    .filter((subject) => subject.arrived > 0)
    .map(({ subject, arrived: count }) => [subject, count])
  expect(arrived).toEqual([['customers', 1]])
  expect(getOrder(app.db, order.id)).toMatchObject({ status: 'refunded', refundedMinor: order.total })
  expect(getOrder(app.db, completed.id).status).toBe('completed')
  expect(balanceOf(app.db, affiliateOf.affiliateId).unpaidMinor).toBe(owed + affiliateOf.amount)
  expect(findUserByEmail(app.db, 'late@example.test')).toBeDefined()
  expect(fritz?.passwordHash).not.toBe('$P$BQVnT1hHXO6OzjYQc1U3aHzVZ1a3Ne1')
  expect(findUserByEmail(app.db, 'fritz.sahin1@post.example.test')?.passwordHash).toBe(
    '$P$BQVnT1hHXO6OzjYQc1U3aHzVZ1a3Ne1'
  )
  expect(mails.get()).toBe(0)
  const after = contentOf(app)
  for (const subject of (await run()).subjects) expect(subject).toMatchObject({ arrived: 0, changed: [] })
  expect(contentOf(app)).toEqual(after)
  app.close()
})

it('prices and stock stay as they are here unless those of the old shop are wanted', { timeout: 600_000 }, async () => {
  await using dump = await loadDump(dumpOf('a1'))
  const { app, run } = await newShop(dump.url)
  await run()
  const connection = await createConnection(dump.url)
  const set = (sku: string, key: string, value: string) =>
    connection.query(
      `UPDATE wp_postmeta SET meta_value = ? WHERE meta_key = ? AND post_id IN
         (SELECT post_id FROM (SELECT post_id FROM wp_postmeta WHERE meta_key = '_sku' AND meta_value = ?) s)`,
      [value, key, sku]
    )
  const product = (sku: string) => productsBySku(app.db, sku)[0]
  const coffee = product('KAF-250')
  const book = product('BUCH-1')
  const variation = app.db.sqlite
    .prepare<[], { id: number; sku: string; product: string }>(
      `SELECT v.id, v.sku, p.slug AS product FROM variations v JOIN products p ON p.id = v.product_id
       JOIN moved_rows r ON r.kind = 'variation' AND r.target_id = v.id WHERE v.sku LIKE 'TS-%' LIMIT 1`
    )
    .get()
  if (coffee === undefined || book === undefined || variation === undefined)
    throw new Error('the shop has no such goods')
  // What the owner changes here stays in each case.
  app.db.sqlite.prepare('UPDATE products SET name = ? WHERE id = ?').run('Kaffee von hier', coffee.id)
  await set('KAF-250', '_regular_price', '9.95')
  await set('BUCH-1', '_stock', '7')
  await set(variation.sku, '_regular_price', '99.00')
  const before = contentOf(app)

  const changesOf = ({ subjects }: Awaited<ReturnType<typeof run>>) =>
    subjects.find(({ subject }) => subject === 'products')?.changed
  const named = expect.arrayContaining([coffee.slug, book.slug, variation.product])
  expect(changesOf(await run())).toEqual([
    { count: 3, why: expect.stringContaining('--update-products'), examples: named }
  ])
  expect(contentOf(app)).toEqual(before)
  expect(changesOf(await run(undefined, true))).toEqual([
    { count: 3, why: 'The price and the stock are those of the old shop now', examples: named }
  ])
  expect(product('KAF-250')).toEqual({
    ...coffee,
    name: 'Kaffee von hier',
    priceMinor: 995,
    updatedAt: expect.any(Number)
  })
  expect(product('BUCH-1')).toEqual({ ...book, stock: 7, updatedAt: expect.any(Number) })
  expect(variationById(app.db, variation.id)).toMatchObject({ priceMinor: 9900 })
  const after = contentOf(app)
  expect(changesOf(await run(undefined, true))).toEqual([])
  expect(contentOf(app)).toEqual(after)
  await connection.end()
  app.close()
})
