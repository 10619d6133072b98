import { describe, expect, it } from 'vitest'
import { loadDump } from '../../../src/operations/moving-in/wordpress/dump.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { shopstead } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { dumpOf, expectedOf } from './old-shop.ts'

const minorOf = (text: string): number => Math.round(Number(text) * 100)
/** A sum of another shop has more decimals than a cent in its parts. */
const sumOf = (amounts: readonly string[]): number =>
  minorOf(String(amounts.reduce((sum, text) => sum + Number(text), 0)))
const statusOf = (stored: string): string => stored.replace(/^wc-/, '')
/** Carts that were not ordered, and orders in the trash. */
const stays = (status: string): boolean => ['trash', 'checkout-draft'].includes(statusOf(status))
const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

/** Orders of WooCommerce, apart from those of Easy Digital Downloads. */
const moved = `orders o JOIN moved_rows r ON r.kind = 'order' AND r.target_id = o.id AND r.source_id NOT LIKE 'edd %'`
const monthOf = (column: string): string => `strftime('%Y-%m', ${column} / 1000, 'unixepoch')`

async function movedIn(name: string) {
  const folder = temporaryFolder()
  await shopstead(folder, ['init'])
  await using dump = await loadDump(dumpOf(name))
  expect((await shopstead(folder, ['import', 'wordpress', dump.url, '--json'])).code).toBe(0)
  const { sqlite } = openDatabase(`${folder}/shopstead.db`, { readonly: true })
  return (sql: string): unknown[] => sqlite.prepare(sql).raw().all()
}

describe.each(['a1', 'a2'])('the sums of the WooCommerce shop %s', { timeout: 300_000 }, (name) => {
  it('are the same here, and differ only on purpose', async () => {
    const here = await movedIn(name)
    const { sql, orders, customers, affiliates } = expectedOf(name)

    const months = sql.sumsByCurrencyStatusMonth.filter(({ status }) => !stays(status))
    const sales = months.filter(({ type }) => type === 'shop_order')
    expect(
      here(
        `SELECT o.currency, json_extract(o.imported_record, '$.status'), ${monthOf('o.created_at')}, count(*), sum(o.total_minor)
         FROM ${moved} GROUP BY 1, 2, 3`
      ).toSorted(byText)
    ).toEqual(
      sales
        .map(({ currency, status, month, n, total }) => [currency, statusOf(status), month, Number(n), minorOf(total)])
        .toSorted(byText)
    )
    // With its tables of orders, WooCommerce leaves the tax on shipping out of this column, so the getters are asked.
    const arriving = orders.filter(({ status }) => !stays(status))
    const taxes = Map.groupBy(arriving, ({ currency, createdGmt }) => `${currency} ${createdGmt.slice(0, 7)}`)
    expect(
      here(
        `SELECT o.currency || ' ' || ${monthOf('o.created_at')}, sum(o.tax_minor) FROM ${moved} GROUP BY 1 ORDER BY 1`
      )
    ).toEqual([...taxes].map(([month, all]) => [month, sumOf(all.map(({ tax }) => tax))]).toSorted(byText))

    const refunds = Map.groupBy(
      months.filter(({ type }) => type === 'shop_order_refund'),
      ({ currency, month }) => `${currency} ${month}`
    )
    expect(
      here(
        `SELECT o.currency || ' ' || ${monthOf('f.created_at')}, count(*), -sum(f.amount_minor)
         FROM ${moved} JOIN order_refunds f ON f.order_id = o.id GROUP BY 1 ORDER BY 1`
      )
    ).toEqual(
      [...refunds]
        .map(([month, rows]) => [
          month,
          rows.reduce((sum, { n }) => sum + Number(n), 0),
          sumOf(rows.map(({ total }) => total))
        ])
        .toSorted(byText)
    )

    const buyers = Map.groupBy(
      arriving.filter(({ customerId }) => customers.some(({ id }) => id === customerId)),
      ({ customerId }) => customerId
    )
    expect(
      here(
        `SELECT c.source_id, count(*), sum(o.total_minor) FROM ${moved}
         JOIN moved_rows c ON c.kind = 'customer' AND c.target_id = o.user_id GROUP BY 1`
      ).toSorted(byText)
    ).toEqual(
      [...buyers].map(([id, all]) => [String(id), all.length, sumOf(all.map(({ total }) => total))]).toSorted(byText)
    )

    // A product without counted stock can be out of stock there.
    const counted = sql.stockPerSku
      .filter(({ sku }) => !notHere.has(sku))
      .map(({ sku, quantity, manages, status }) => {
        const stock = manages === 'yes' ? Number(quantity) : status === 'outofstock' ? 0 : null
        return [sku, stock !== null && stock < 0 ? null : stock]
      })
    const goods = new Map(
      here('SELECT sku, stock FROM products WHERE sku IS NOT NULL UNION ALL SELECT sku, stock FROM variations')
        .filter((row) => Array.isArray(row))
        .map(([sku, stock]) => [sku, stock])
    )
    expect(counted.map(([sku]) => [sku, goods.get(sku)])).toEqual(counted)

    const uses = sql.coupons.filter(({ amount }) => Number(amount) > 0)
    const codes = new Map(
      here('SELECT code, used FROM coupons')
        .filter((row) => Array.isArray(row))
        .map(([code, used]) => [code, used])
    )
    expect(uses.map(({ code }) => [code, codes.get(code.replace('&amp;', '&'))])).toEqual(
      uses.map((coupon) => [coupon.code, Number(coupon.uses)])
    )

    const kindOf = `CASE WHEN password_hash LIKE '$wp$%' THEN '$wp$2y' WHEN password_hash NOT LIKE '$%' THEN 'md5'
      ELSE substr(password_hash, 1, instr(substr(password_hash, 2), '$')) END`
    const hashes = here(
      `SELECT CASE kind WHEN '' THEN '$P' ELSE kind END, count(*) FROM (SELECT ${kindOf} AS kind FROM users) GROUP BY 1`
    )
    expect(hashes.toSorted(byText)).toEqual(sql.hashes.map(({ kind, n }) => [kind, Number(n)]).toSorted(byText))
    expect(here('SELECT count(*), sum(is_admin) FROM users')).toEqual([
      [Number(sql.users[0]?.n), customers.filter(({ roles }) => roles.includes('administrator')).length]
    ])
    expect(here('SELECT * FROM desk_people')).toEqual([])

    // The other plugin of affiliates has a test of its own.
    if (affiliates.length === 0) return
    const balances = here(
      `SELECT CAST(affiliate_id AS TEXT), status, count(*), sum(amount_minor) FROM referrals GROUP BY 1, 2`
    )
    expect(balances.toSorted(byText)).toEqual(
      (sql.affiliateBalances ?? [])
        .filter(({ status }) => ['pending', 'unpaid', 'paid', 'rejected'].includes(status))
        .map(({ affiliate_id: id, status, n, amount }) => [id, status, Number(n), minorOf(amount)])
        .toSorted(byText)
    )
    expect(
      here('SELECT CAST(affiliate_id AS TEXT), count(*), sum(amount_minor) FROM payouts GROUP BY 1').toSorted(byText)
    ).toEqual(
      (sql.affiliatePayouts ?? [])
        .map(({ affiliate_id: id, n, amount }) => [id, Number(n), minorOf(amount)])
        .toSorted(byText)
    )
    expect(here('SELECT CAST(affiliate_id AS TEXT), sum(clicks) FROM affiliate_clicks GROUP BY 1')).toEqual(
      (sql.affiliateVisits ?? []).map(({ affiliate_id: id, n }) => [id, Number(n)])
    )
  })
})

/** A grouped and an external product, one in the trash, a private variation, and variations for any value. */
const notHere = new Set(['SET', 'EXT-1', 'TRASH', 'TS-ROT-XL', 'TS-ANY-XL', 'TUCH-ANY'])
