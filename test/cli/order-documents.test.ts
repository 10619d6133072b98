import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { recordRefund } from '../../src/shop/orders/refund-order.ts'
import { draft, line, makeProduct, move, place } from '../shop/orders/support.ts'
import { shopstead } from '../support/command-line.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'

const shippingAddress = { address1: 'Hafen 3', postcode: '24103', city: 'Kiel', country: 'DE' }

function paidOrder(shop: TestShop, quantity = 2): number {
  const lines = [
    line(makeProduct(shop.db), { quantity, sku: 'SL-1', weightGrams: 400 }),
    line(makeProduct(shop.db, { type: 'digital' }), { name: 'Plan', type: 'digital' })
  ]
  const { id } = place(shop.db, draft(lines, { shippingAddress, contact: { firstName: 'Lena' }, notes: 'Ring twice' }))
  move(shop.db, id, 'processing', {}, shop.clock.now())
  return id
}

test('an operator reads the invoice and the credit notes of an order, and writes one as a PDF', async () => {
  using shop = openTestShop()
  const id = paidOrder(shop)
  const cause = { by: 'operator', reason: 'a dent' }
  write(shop.db, (tx) => void recordRefund(tx, id, 500, cause, shop.clock.now()))
  const { json } = await shopstead(shop.dataDir, ['orders', 'invoice', String(id), '--json'])
  expect(json).toMatchObject({
    invoice: {
      number: '2026-1',
      orderId: id,
      total: 37.5,
      buyer: { lines: ['Lena', '', 'Berlin', 'Germany'].filter(Boolean) }
    },
    creditNotes: [{ number: 'CN2026-1', corrects: '2026-1', total: 5 }]
  })
  const file = join(shop.dataDir, 'note.pdf')
  const ran = await shopstead(shop.dataDir, ['orders', 'invoice', String(id), '--pdf', file, '--number', 'CN2026-1'])
  expect(ran.stdout).toMatch(/Invoice 2026-1 .*\nCredit note CN2026-1 .*\nhttp.*\/checkout\/invoice\/\S+\nPDF written/)
  expect(readFileSync(file).subarray(0, 5).toString()).toBe('%PDF-')
  const again = await shopstead(shop.dataDir, ['orders', 'invoice', String(id), '--pdf', file])
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') })
})

test('an order that was paid before there were invoices gets its invoice with --issue', async () => {
  using shop = openTestShop()
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))]))
  const invoice = (...options: string[]) => shopstead(shop.dataDir, ['orders', 'invoice', String(id), ...options])
  expect((await invoice()).stderr).toContain('it has not been paid')
  expect((await invoice('--issue')).code).toBe(1)
  shop.db.sqlite.prepare(`UPDATE orders SET status = 'processing', paid_at = 5`).run()
  expect((await invoice()).stderr).toContain(`"shopstead orders invoice ${id} --issue"`)
  expect((await invoice('--issue')).code).toBe(0)
  expect((await invoice('--json')).json).toMatchObject({
    invoice: { number: expect.stringMatching(/^\d{4}-1$/), paidOn: '1970-01-01' }
  })
})

test('an operator sees what to pack, and what is left after a part was shipped', async () => {
  using shop = openTestShop()
  const id = paidOrder(shop, 3)
  const pack = (...options: string[]) => shopstead(shop.dataDir, ['orders', 'pack', ...options])
  await shopstead(shop.dataDir, ['orders', 'ship', String(id), '--items', '1:1'])
  expect((await pack('--json')).json).toMatchObject({
    orders: [
      {
        id,
        shipTo: ['Lena', 'Hafen 3', '24103 Kiel', 'Germany'],
        weightGrams: 800,
        lines: [{ line: 1, name: 'Storm lantern', sku: 'SL-1', quantity: 2 }]
      }
    ]
  })
  const [csv, html] = [join(shop.dataDir, 'pack.csv'), join(shop.dataDir, 'slips.html')]
  expect((await pack('--csv', csv, '--html', html)).stdout).toContain('1:2')
  expect(readFileSync(csv, 'utf8').split('\n')[1]).toContain(
    '1,Storm lantern,SL-1,2,"Lena, Hafen 3, 24103 Kiel, Germany"'
  )
  expect(readFileSync(html, 'utf8')).toMatch(/<span>24103 Kiel<\/span>[^]*<td>2<\/td><td><bdi>Storm lantern/)
  await shopstead(shop.dataDir, ['orders', 'ship', String(id)])
  expect((await pack()).stdout).toBe('There is nothing to ship.\n')
})

test('the report of the tax sums the invoices of some days, and writes them as CSV', async () => {
  using shop = openTestShop()
  paidOrder(shop)
  const report = (...options: string[]) => shopstead(shop.dataDir, ['report', 'tax', ...options])
  const days = ['--from', '2026-01-01', '--to', '2026-01-31']
  expect((await report(...days, '--json')).json).toEqual({
    from: '2026-01-01',
    to: '2026-01-31',
    timeZone: 'UTC',
    rows: [
      {
        country: 'DE',
        region: '',
        name: '',
        ratePercent: 0,
        reverseCharge: false,
        currency: 'EUR',
        net: 37.5,
        tax: 0,
        gross: 37.5,
        invoices: 1,
        creditNotes: 0
      }
    ],
    totals: [{ currency: 'EUR', net: 37.5, tax: 0, gross: 37.5 }]
  })
  const csv = join(shop.dataDir, 'tax.csv')
  expect((await report(...days, '--csv', csv)).stdout).toContain('1 rows written')
  expect(existsSync(csv)).toBe(true)
  expect((await report('--from', '2026-02-01', '--to', '2026-02-28')).stdout).toContain('No invoices')
  expect((await report('--from', '2026-02-31')).code).toBe(2)
  expect((await report('--from', '2026-02-03', '--to', '2026-02-01')).code).toBe(2)
})
