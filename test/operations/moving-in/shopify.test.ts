import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { MoveReport } from '../../../src/operations/moving-in/move-in.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { findUserByEmail } from '../../../src/shop/accounts/find.ts'
import { findCoupon } from '../../../src/shop/catalog/coupons.ts'
import { couponsOf, getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { taxesOfOrder } from '../../../src/shop/orders/totals.ts'
import { shopstead } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ada, bo, shipped, shopifyCsv, waiting, writeShopifyExports } from './shopify-export.ts'

const catalog =
  'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Published\nmug,Mug,Colour,Blue,MUG-BLUE,16.00,true\nmug,,,Red,MUG-RED,16.00,\ntote,Tote bag,Title,Default Title,,20.00,true\n'

async function newShop() {
  const folder = temporaryFolder()
  await shopstead(folder, ['init'])
  writeFileSync(join(folder, 'catalog.csv'), catalog)
  expect((await shopstead(folder, ['offers', 'import', join(folder, 'catalog.csv')])).code).toBe(0)
  const exports = writeShopifyExports(folder)
  const run = async (...flags: string[]) => {
    const { code, json, stderr, stdout } = await shopstead<MoveReport>(folder, [
      'import',
      'shopify',
      exports,
      '--json',
      ...flags
    ])
    expect({ code, stderr, stdout }).toMatchObject({ code: 0 })
    return json.subjects
  }
  const open = () => openDatabase(join(folder, 'shopstead.db'), { readonly: true })
  return { folder, exports, run, open }
}

/** The rows of each table, except the sessions and settings of the test. */
function contentOf(open: () => ReturnType<typeof openDatabase>): Record<string, unknown[]> {
  const { sqlite } = open()
  const names = sqlite
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%fts%'"
    )
    .all()
  const rows = names.map(({ name }) => [name, sqlite.prepare(`SELECT * FROM ${name}`).all()] as const)
  sqlite.close()
  return Object.fromEntries(rows)
}

it('a Shopify shop moves in from its exports, after a dry run that says the same and changes nothing', async () => {
  const { run, open, folder } = await newShop()
  const before = contentOf(open)
  const planned = await run('--dry-run')
  expect(contentOf(open)).toEqual(before)
  const done = await run()
  expect(done).toEqual(planned)
  expect(done.map(({ subject, found, arrived, left }) => [subject, found, arrived, left])).toEqual([
    ['customers', 3, 2, 1],
    ['coupons', 3, 2, 1],
    ['orders', 3, 3, 0],
    ['redirects', 2, 2, 0],
    ['gift cards', 1, 0, 1]
  ])
  expect(done.find(({ subject }) => subject === 'orders')?.sums).toEqual([
    { name: 'orders', currency: 'EUR', found: '90.94', arrived: '90.94' },
    { name: 'refunds', currency: 'EUR', found: '16.00', arrived: '16.00' }
  ])
  const db = open()
  const user = findUserByEmail(db, 'ada@example.com')
  expect(user).toMatchObject({
    displayName: 'Ada Möller',
    companyName: 'Möller, Söhne & Co.',
    billingPhone: '+49 40 123',
    marketingOptIn: 'yes',
    passwordHash: '',
    address: { address1: 'Am Kai 3', postcode: '20457', city: 'Hamburg', country: 'DE' }
  })
  expect(findUserByEmail(db, 'bo@example.com')?.marketingOptIn).toBe('no')
  expect(getOrder(db, 1001)).toMatchObject({
    userId: user?.id,
    status: 'completed',
    totalMinor: 5190,
    shippingMinor: 490,
    taxMinor: 829,
    taxIncluded: true,
    refundedMinor: 1600,
    imported: true,
    notes: 'Please wrap,\n"nicely"',
    createdAt: Date.parse('2026-01-03T09:14:00Z'),
    paidAt: Date.parse('2026-01-03T09:15:00Z'),
    shippingAddress: { firstName: 'Ada', lastName: 'Möller', postcode: '20457', country: 'DE' },
    importedRecord: { number: '#1001', status: 'partially_refunded, fulfilled', payment: 'Shopify Payments' }
  })
  expect(
    itemsOf(db, 1001).map(({ name, quantity, totalMinor, productId, variationId }) => [
      name,
      quantity,
      totalMinor,
      productId > 0,
      variationId !== null
    ])
  ).toEqual([
    ['Mug - Blue', 2, 2892, true, true],
    ['Tote bag', 1, 1808, true, false]
  ])
  expect(taxesOfOrder(db, 1001)).toMatchObject([
    { name: 'MwSt 19%', rateMillionths: 190_000, amountMinor: 829, country: 'DE' }
  ])
  expect(couponsOf(db, 1001)).toMatchObject([{ code: 'FALL5', discountMinor: 500 }])
  expect(getOrder(db, 1002)).toMatchObject({
    status: 'processing',
    taxIncluded: false,
    taxMinor: 304,
    totalMinor: 1904
  })
  expect(getOrder(db, 1003)).toMatchObject({
    status: 'cancelled',
    userId: null,
    paidAt: null,
    email: 'guest@example.com'
  })
  expect(findCoupon(db, 'fall5')).toMatchObject({
    amountMinor: 500,
    minTotalMinor: 3000,
    used: 7,
    maxUses: 10,
    maxUsesPerCustomer: 1,
    exclusive: true,
    enabled: true
  })
  // Shopify's export does not say for which products the coupon is.
  expect(findCoupon(db, 'TEN')).toMatchObject({ percentBps: 1000, enabled: false })
  expect(findCoupon(db, 'SHIPFREE')).toBeUndefined()
  expect(db.sqlite.prepare('SELECT count(*) FROM mails').pluck().get()).toBe(0)
  db.sqlite.close()
  const shown = await shopstead(folder, ['redirects', 'show', '/old-mug', '--json'])
  expect(shown.json).toMatchObject({ to: '/products/mug' })
})

it('a second run brings what came since and changes nothing else', async () => {
  const { run, open, exports } = await newShop()
  await run()
  const before = contentOf(open)
  for (const subject of await run()) expect(subject).toMatchObject({ arrived: 0, changed: [] })
  expect(contentOf(open)).toEqual(before)
  const [head = {}, second = {}] = shipped
  const refunded = [{ ...head, 'Financial Status': 'refunded', 'Refunded Amount': '51.90' }, second]
  const sent = [{ ...waiting[0], 'Fulfillment Status': 'fulfilled' }]
  const added = [{ ...waiting[0], Name: '#1004', Id: '5550000004' }]
  writeFileSync(join(exports, 'orders_export_1.csv'), shopifyCsv.orders([...refunded, ...sent, ...added]))
  writeFileSync(
    join(exports, 'customers_export.csv'),
    shopifyCsv.customers([ada, bo, { ...bo, Email: 'cy@example.com' }])
  )
  const again = await run()
  expect(again.find(({ subject }) => subject === 'customers')).toMatchObject({ arrived: 1, already: 2 })
  expect(again.find(({ subject }) => subject === 'orders')).toMatchObject({ arrived: 1, already: 2 })
  const db = open()
  expect(getOrder(db, 1001)).toMatchObject({ status: 'refunded', refundedMinor: 5190 })
  expect(db.sqlite.prepare('SELECT sum(amount_minor) FROM order_refunds WHERE order_id = 1001').pluck().get()).toBe(
    5190
  )
  expect(getOrder(db, 1002)).toMatchObject({ status: 'completed' })
  expect(getOrder(db, 1004)).toMatchObject({ status: 'processing' })
  expect(db.sqlite.prepare('SELECT count(*) FROM mails').pluck().get()).toBe(0)
  db.sqlite.close()
})

it('a redirect that would lead back to itself is left out and not stored', async () => {
  const { run, open, exports } = await newShop()
  writeFileSync(join(exports, 'redirects_export.csv'), 'Redirect from,Redirect to\n/old,/new\n/new,/old\n')
  const subjects = await run()
  expect(subjects.find(({ subject }) => subject === 'redirects')).toMatchObject({ arrived: 1, left: 1 })
  const db = open()
  expect(db.sqlite.prepare('SELECT path, target FROM redirects').all()).toEqual([{ path: '/old', target: '/new' }])
  db.sqlite.close()
})

it('what is not an export of Shopify is refused with what to do, and nothing changes', async () => {
  const { folder, open } = await newShop()
  const before = contentOf(open)
  const refused = async (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    const { code, json } = await shopstead<{ error: { message: string } }>(folder, [
      'import',
      'shopify',
      join(folder, name),
      '--json'
    ])
    expect(code).not.toBe(0)
    return json.error.message
  }
  expect(await refused('people.csv', 'Name,Shoe size\nAda,38\n')).toContain('users import')
  expect(await refused('orders.json', '[{"id":1,"status":"completed"}]')).toContain('wp db export shop.sql')
  expect(await refused('dump.sql', '-- MariaDB dump 10.19\nCREATE TABLE wp_posts')).toContain('import wordpress')
  expect(await refused('site.xml', '<?xml version="1.0"?><rss>')).toContain('wp db export shop.sql')
  expect(await refused('users.csv', 'ID,user_login,display_name,user_email\n1,ada,Ada,a@b.example\n')).toContain(
    'wp db export'
  )
  expect(await refused('exports.zip', 'PK\u0003\u0004')).toContain('Unpack')
  expect(await refused('empty.csv', '')).toContain('empty')
  const split = shopifyCsv.orders([...shipped, ...waiting, ...shipped])
  expect(await refused('split.csv', split)).toMatch(/Line \d+, Name: The order #1001 continues/)
  expect(await refused('quote.csv', `${shopifyCsv.orders()}\n#1009,"open`)).toContain('not valid CSV')
  expect(contentOf(open)).toEqual(before)
})
