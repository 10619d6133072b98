import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { writeCsv } from '../../src/cli/terminal/files.ts'
import { write } from '../../src/platform/db/database.ts'
import { exportOrders } from '../../src/shop/customers/export-orders.ts'
import { createAttempt, updateAttempt } from '../../src/shop/payments/attempts.ts'
import { getOrder } from '../../src/shop/orders/find.ts'
import { draft, line, makeProduct, move, place } from '../shop/orders/support.ts'
import { shopstead } from '../support/command-line.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'
import { noon } from '../support/temporary-shop.ts'

type Row = Record<string, string>
type Listed = { orders: { id: number; email: string | null }[]; nextCursor: string }

const rowsOf = (csv: string): Row[] => parse(csv, { columns: true, bom: true })

/** An order of two lines that was paid by card; the buyer's name is a formula. */
function paidOrder(shop: TestShop): number {
  const lines = [
    line(makeProduct(shop.db, { slug: 'mug' }), { quantity: 2, discountMinor: 250, sku: 'MUG-BLUE', name: '@SUM(A1)' }),
    line(makeProduct(shop.db, { slug: 'lamp' }), { name: 'Lamp, "big"' })
  ]
  const contact = { firstName: '=HYPERLINK("https://evil.example")', lastName: 'Hartmann' }
  const { id } = place(shop.db, draft(lines, { email: 'lena@shop.example', contact }))
  write(shop.db, (tx) => {
    const how = { gateway: 'stripe', kind: 'checkout_session', livemode: false } as const
    const attempt = createAttempt(tx, getOrder(tx, id), how, noon)
    updateAttempt(tx, attempt.id, { objectId: 'cs_1', paymentIntentId: 'pi_1', outcome: 'paid' }, noon)
  })
  move(shop.db, id, 'processing')
  return id
}

describe('shopstead orders export', () => {
  it('writes a row for each line item, with SKU, sums once for each order, and payment ids', async () => {
    using shop = openTestShop()
    const id = paidOrder(shop)
    const { code, stdout } = await shopstead(shop.dataDir, ['orders', 'export'])
    expect(code).toBe(0)
    const [first, second, ...others] = rowsOf(stdout)
    expect(others).toEqual([])
    const shared = {
      order: String(id),
      status: 'processing',
      email: 'lena@shop.example',
      payment: 'cs_1',
      currency: 'EUR'
    }
    expect(first).toMatchObject({
      ...shared,
      payment_intent: 'pi_1',
      line: '1',
      product: 'mug',
      sku: 'MUG-BLUE',
      quantity: '2',
      line_total: '22.50',
      subtotal: '37.50',
      shipping: '0.00',
      tax: '0.00',
      total: '35.00'
    })
    expect(second).toMatchObject({
      ...shared,
      line: '2',
      product: 'lamp',
      name: 'Lamp, "big"',
      subtotal: '',
      total: ''
    })
  })

  it('says of each line why it is taxed as it is', async () => {
    using shop = openTestShop()
    const { id } = place(shop.db, draft([line(makeProduct(shop.db))]))
    place(shop.db, draft([line(makeProduct(shop.db, { slug: 'lamp' }))]))
    const values = '(order_id, category, name, country, region, rate_millionths, base_minor, amount_minor)'
    shop.db.sqlite.prepare(`INSERT INTO order_taxes ${values} VALUES (?, 'supply', '', 'FR', '', 0, 1250, 0)`).run(id)
    shop.db.sqlite.prepare('UPDATE order_items SET tax_row = 0 WHERE order_id = ?').run(id)
    const rows = rowsOf((await shopstead(shop.dataDir, ['orders', 'export'])).stdout)
    expect(rows.map(({ order, tax_category }) => [order, tax_category])).toEqual([
      [String(id), 'supply'],
      [String(id + 1), 'none']
    ])
  })

  it('escapes cells that a spreadsheet would run', async () => {
    using shop = openTestShop()
    paidOrder(shop)
    const [first] = rowsOf((await shopstead(shop.dataDir, ['orders', 'export'])).stdout)
    expect(first).toMatchObject({ first_name: `'=HYPERLINK("https://evil.example")`, name: "'@SUM(A1)" })
  })

  it('writes a new file, which only its owner reads, and never overwrites one', async () => {
    using shop = openTestShop()
    paidOrder(shop)
    const file = join(shop.dataDir, 'orders.csv')
    const written = await shopstead(shop.dataDir, ['orders', 'export', '--csv', file, '--json'])
    expect(written.json).toEqual({ file, orders: 1, nextCursor: '1' })
    expect(rowsOf(readFileSync(file, 'utf8'))).toHaveLength(2)
    const again = await shopstead(shop.dataDir, ['orders', 'export', '--csv', file])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') })
    const nowhere = join(shop.dataDir, 'no-folder', 'orders.csv')
    expect((await shopstead(shop.dataDir, ['orders', 'export', '--csv', nowhere])).stderr).toContain('does not exist')
  })

  it('leaves no half of a file behind when it cannot be written to its end', () => {
    using shop = openTestShop()
    const file = join(shop.dataDir, 'orders.csv')
    const parts = function* (): Generator<string> {
      yield 'order\n'
      throw new Error('the database is locked')
    }
    expect(() => writeCsv(file, parts())).toThrow('the database is locked')
    expect(existsSync(file)).toBe(false)
  })

  it('takes days, a state, and a cursor from which a later export continues', async () => {
    using shop = openTestShop()
    const lines = [line(makeProduct(shop.db))]
    const first = place(shop.db, draft(lines), Date.UTC(2026, 0, 31, 23, 59)).id
    const second = place(shop.db, draft(lines), Date.UTC(2026, 1, 1)).id
    move(shop.db, second, 'processing')
    const ids = async (...args: string[]) => {
      const { json } = await shopstead<Listed>(shop.dataDir, ['orders', 'export', '--json', ...args])
      return { ids: json.orders.map(({ id }) => id), nextCursor: json.nextCursor }
    }
    expect(await ids('--to', '2026-01-31')).toEqual({ ids: [first], nextCursor: String(first) })
    expect((await ids('--from', '2026-02-01')).ids).toEqual([second])
    expect((await ids('--status', 'pending')).ids).toEqual([first])
    expect((await ids('--limit', '1')).ids).toEqual([first])
    expect((await ids('--cursor', String(first))).ids).toEqual([second])
    expect(await ids('--cursor', String(second))).toEqual({ ids: [], nextCursor: String(second) })
    expect((await shopstead(shop.dataDir, ['orders', 'export', '--from', 'May'])).code).toBe(2)
  })

  it('reads thousands of orders in parts of a few hundred', () => {
    using shop = openTestShop()
    const lines = [line(makeProduct(shop.db))]
    write(shop.db, () => {
      for (let count = 0; count < 1100; count += 1) place(shop.db, draft(lines))
    })
    const parts: number[] = []
    const { rows } = exportOrders(shop.db, {}, (some) => {
      parts.push(some.length)
      return some.map(({ id }) => id)
    })
    const iterator = rows[Symbol.iterator]()
    expect(iterator.next().value).toBe(1)
    expect(parts).toEqual([500])
    expect([...{ [Symbol.iterator]: () => iterator }]).toHaveLength(1099)
    expect(parts).toEqual([500, 500, 100])
  })
})

describe('shopstead orders list', () => {
  it('pages by a cursor, and finds orders by a part of the name, also in an address', async () => {
    using shop = openTestShop()
    const lines = [line(makeProduct(shop.db))]
    const named = [
      { contact: { firstName: 'Zoë', lastName: 'Müller' } },
      { contact: {}, shippingAddress: { firstName: 'Anna', lastName: 'Müllerova' } },
      { contact: { companyName: 'Brandt & Sons' } }
    ].map((changes) => place(shop.db, draft(lines, changes)).id)
    const list = async (...args: string[]) => {
      const { json } = await shopstead<Listed>(shop.dataDir, ['orders', 'list', '--json', ...args])
      return { ids: json.orders.map(({ id }) => id), nextCursor: json.nextCursor }
    }
    expect((await list('--search', 'MÜLLER')).ids).toEqual([named[1], named[0]])
    expect((await list('--search', 'brandt')).ids).toEqual([named[2]])
    expect((await list('--search', 'GUEST@shop')).ids).toHaveLength(3)
    const first = await list('--limit', '2')
    expect(first.ids).toEqual([named[2], named[1]])
    expect(await list('--limit', '2', '--cursor', first.nextCursor)).toEqual({ ids: [named[0]], nextCursor: null })
    expect((await list('--from', '2030-01-01')).ids).toEqual([])
  })
})
