import { afterAll, expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/platform/config/config.ts'
import { loadDump } from '../../../src/operations/moving-in/wordpress/dump.ts'
import { openWordPress } from '../../../src/operations/moving-in/wordpress/database.ts'
import { importWordPress } from '../../../src/operations/moving-in/wordpress/import-wordpress.ts'
import { getAffiliateById } from '../../../src/shop/affiliates/find.ts'
import { productBySlug, variationsOfProduct } from '../../../src/shop/catalog/stored-product.ts'
import { findCoupon } from '../../../src/shop/catalog/coupons.ts'
import { findRedirect } from '../../../src/shop/redirects/redirects.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { shopstead } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { dumpOf, expectedOf } from './old-shop.ts'

const ends: (() => void)[] = []
afterAll(() => {
  for (const end of ends) end()
})
const minorOf = (text: string): number => Math.round(Number(text) * 100)

async function movedIn(name: string) {
  const dataDir = temporaryFolder((end) => ends.push(end))
  await shopstead(dataDir, ['init'])
  const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: dataDir }
  const app = createApp(parseConfig(env), { database: 'migrated' })
  ends.unshift(() => app.close())
  await using dump = await loadDump(dumpOf(name))
  const run = async () => {
    const source = await openWordPress(dump.url)
    const { subjects } = await importWordPress(app, source, { isDryRun: false, onStep: () => undefined })
    await source.close()
    return subjects
  }
  const first = await run()
  for (const subject of await run()) expect(subject).toMatchObject({ arrived: 0, changed: [] })
  return { app, first }
}

it('orders, products, discounts and files of Easy Digital Downloads move in', { timeout: 300_000 }, async () => {
  const { app, first } = await movedIn('a1')
  const here = app.db.sqlite.prepare<[], { status: string; gateway: string; n: number; total: number; tax: number }>(
    `SELECT json_extract(o.imported_record, '$.status') AS status, json_extract(o.imported_record, '$.payment') AS gateway,
       count(*) AS n, sum(o.total_minor) AS total, sum(o.tax_minor) AS tax
     FROM orders o JOIN moved_rows r ON r.target_id = o.id AND r.kind = 'order' AND r.source_id LIKE 'edd %'
     GROUP BY 1, 2 ORDER BY 1, 2`
  )
  const { eddOrders } = expectedOf('a1').sql
  expect(here.all().map((row) => ({ ...row, n: String(row.n) }))).toEqual(
    eddOrders
      .filter(({ type }) => type === 'sale')
      .map(({ status, gateway, n, total, tax }) => ({ status, gateway, n, total: minorOf(total), tax: minorOf(tax) }))
  )
  const refunded = app.db.sqlite.prepare(
    `SELECT sum(amount_minor) FROM order_refunds WHERE order_id IN
       (SELECT target_id FROM moved_rows WHERE kind = 'order' AND source_id LIKE 'edd %')`
  )
  const refunds = eddOrders.filter(({ type }) => type === 'refund')
  expect(refunded.pluck().get()).toBe(-refunds.reduce((sum, { total }) => sum + minorOf(total), 0))
  const plugin = productBySlug(app.db, 'plugin-groesser')
  expect(variationsOfProduct(app.db, plugin?.id ?? 0)).toMatchObject([
    { options: { Option: '1 Seite' }, priceMinor: 4900 },
    { options: { Option: '10 Seiten' }, priceMinor: 14_900 }
  ])
  expect(findRedirect(app, '/downloads/schriftart/')).toBe('/products/schriftart')
  expect(findCoupon(app.db, 'EDD10')).toMatchObject({ percentBps: 1000, used: 1, maxUses: 20 })
  expect(first.find(({ subject }) => subject === 'downloads of Easy Digital Downloads')).toMatchObject({ arrived: 5 })
})

it('affiliates of WP Affiliate Manager move in with their balances to the cent', { timeout: 300_000 }, async () => {
  const { app } = await movedIn('a2')
  const sums = expectedOf('a2').sql.affiliatesManagerSums
  const sumOf = (id: string, wanted: (type: string) => boolean): number =>
    sums
      .filter((row) => row.affiliateId === id && wanted(row.type))
      .reduce((sum, { amount }) => sum + minorOf(amount), 0)
  for (const id of ['2', '3', '5', '6']) {
    expect(balanceOf(app.db, Number(id))).toMatchObject({
      unpaidMinor: sumOf(id, () => true),
      paidMinor: -sumOf(id, (type) => type === 'payout') || 0
    })
    expect(getAffiliateById(app.db, Number(id)).status).toBe('active')
  }
  expect(getAffiliateById(app.db, 1).status).toBe('pending')
  expect(getAffiliateById(app.db, 7).status).toBe('rejected')
  const clicks = app.db.sqlite.prepare('SELECT sum(clicks) FROM affiliate_clicks WHERE affiliate_id = 3').pluck()
  expect(clicks.get()).toBe(8)
})
