/**
 * How much longer the last page of 1,000,000 referrals of one affiliate takes than the first: most 1.5 times. Rows are
 * made by SQL, pages read as GET /affiliates/referrals reads them. Run: npx node test/bench/referrals-paging.ts [ROWS]
 */
import { sealCursor } from '../../src/shop/affiliates/cursor.ts'
import { listReferrals } from '../../src/shop/affiliates/list-referrals.ts'
import { makeAffiliate } from '../shop/affiliates/support.ts'
import { openTestShop } from '../support/shop-context.ts'

const mostRatio = 1.5
const rows = Number(process.argv[2] ?? 1_000_000)
const limit = 20

using shop = openTestShop()
const mira = await makeAffiliate(shop)
const others = await makeAffiliate(shop, { code: 'petra' })
// Every tenth row is another affiliate's, so that the index is not asked about one alone.
shop.db.sqlite.exec(`
  BEGIN;
  CREATE TEMP TABLE made AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.ceil((rows * 10) / 9)})
    SELECT i, CASE WHEN i % 10 = 0 THEN ${others.id} ELSE ${mira.id} END AS affiliate FROM n;
  INSERT INTO visits (id, affiliate_id, order_id, created_at) SELECT i, affiliate, i, i FROM made;
  INSERT INTO referrals (affiliate_id, order_id, visit_id, status, rate_bps, amount_minor, currency, created_at, updated_at)
    SELECT affiliate, i, i, 'unpaid', 1000, i % 5000, 'EUR', i, i FROM made;
  COMMIT;
`)
const { count, twentieth } = shop.db.sqlite
  .prepare<[number, number], { count: number; twentieth: number }>(
    `SELECT count(*) AS count, (SELECT id FROM referrals WHERE affiliate_id = ? ORDER BY id LIMIT 1 OFFSET ${limit}) AS twentieth
     FROM referrals WHERE affiliate_id = ?`
  )
  .get(mira.id, mira.id) ?? { count: 0, twentieth: 0 }
const lastCursor = sealCursor(shop.keys.cursor, mira.id, twentieth)

function page(cursor: string | undefined): number {
  const { referrals, nextCursor } = listReferrals(shop, mira.userId, { limit, cursor })
  if ((nextCursor === null) !== (cursor !== undefined)) throw new Error('This is not the page that was meant.')
  return referrals.length
}

/** Median of several rounds, the two pages in turn, so that neither has the quieter machine. */
function medianMicroseconds(pages: readonly (string | undefined)[]): number[] {
  const rounds = Array.from({ length: 15 }, () =>
    pages.map((cursor) => {
      const start = process.hrtime.bigint()
      for (let call = 0; call < 500; call += 1) page(cursor)
      return Number(process.hrtime.bigint() - start) / 500_000
    })
  )
  return pages.map(
    (_, index) => rounds.map((round) => round[index] ?? Number.NaN).toSorted((a, b) => a - b)[7] ?? Number.NaN
  )
}

medianMicroseconds([undefined, lastCursor])
const [first = Number.NaN, last = Number.NaN] = medianMicroseconds([undefined, lastCursor])
const ratio = last / first
const holds = ratio <= mostRatio
process.stdout.write(
  `${JSON.stringify({ referrals: count, microseconds: { first, last }, ratio, most: mostRatio, holds }, null, 2)}\n`
)
process.exitCode = holds ? 0 : 1
