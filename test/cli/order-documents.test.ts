import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { recordRefund } from '../../src/shop/orders/transition.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { makeGerman, sell } from '../shop/invoices/cases.ts'
import { draft, line, makeProduct, move, place } from '../shop/orders/support.ts'
import { shopstead } from '../support/command-line.ts'
import { brokenRules } from '../support/e-invoices/rules.ts'
import { ublTerms } from '../support/e-invoices/terms.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'

const env = { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' }
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
  const { json } = await shopstead(shop.dataDir, ['orders', 'invoice', String(id), '--json'], { env })
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
  const args = ['orders', 'invoice', String(id), '--file', file, '--number', 'CN2026-1']
  const ran = await shopstead(shop.dataDir, args, { env })
  expect(ran.stdout).toMatch(
    /Invoice 2026-1 .*\nCredit note CN2026-1 .*\nhttps:\/\/shop\.example\/checkout\/invoice\/\S+\nDocument written/
  )
  expect(readFileSync(file).subarray(0, 5).toString()).toBe('%PDF-')
  const again = await shopstead(shop.dataDir, ['orders', 'invoice', String(id), '--file', file], { env })
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists') })
})

test('an operator writes the documents of some days into a folder, with an index and checksums that hold', async () => {
  using shop = openTestShop()
  setSetting(shop.db, 'invoice.prefix', 'A/', 0)
  const first = paidOrder(shop)
  const cause = { by: 'operator', reason: 'a dent' }
  write(shop.db, (tx) => void recordRefund(tx, first, 500, cause, shop.clock.now()))
  const later = paidOrder(shop)
  const folder = join(shop.dataDir, 'documents')
  const args = ['orders', 'documents', folder]
  const { json } = await shopstead(shop.dataDir, [...args, '--json'], { env })
  expect(json).toEqual({ folder, documents: 3 })
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'index.csv'), 'utf8'), {
    columns: true,
    bom: true
  })
  expect(rows).toMatchObject([
    { number: 'A/2026-1', kind: 'invoice', order: String(first), total: '37.50', corrects: '', file: 'A+2026-1.pdf' },
    { number: 'A/CN2026-1', kind: 'credit_note', order: String(first), total: '5.00', corrects: 'A/2026-1' },
    { number: 'A/2026-2', kind: 'invoice', order: String(later) }
  ])
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n')
  expect(sums).toHaveLength(4)
  for (const line of sums) {
    const [sum, file = ''] = line.split('  ')
    const content = readFileSync(join(folder, file))
    expect(hash('sha256', content, 'hex')).toBe(sum)
    if (file !== 'index.csv') expect(content.subarray(0, 5).toString()).toBe('%PDF-')
  }
  expect(await shopstead(shop.dataDir, args, { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already exists')
  })
  const none = join(shop.dataDir, 'none')
  const before = await shopstead(shop.dataDir, ['orders', 'documents', none, '--to', '2001-01-01', '--json'], { env })
  expect(before.json).toEqual({ folder: none, documents: 0 })
  expect(readdirSync(none).toSorted()).toEqual(['SHA256SUMS', 'index.csv'])
  expect((await shopstead(shop.dataDir, [...args, '--from', 'May'], { env })).code).toBe(2)
})

test('an operator writes the electronic invoice of a business, alone and with all documents', async () => {
  using shop = openTestShop()
  makeGerman(shop.db)
  const lamp = { unitPriceMinor: 1250, totalMinor: 2500, quantity: 2 }
  const [row] = sell(shop.db, [lamp], { to: 'DE', shippingMinor: 490 }, shop.clock.now())
  paidOrder(shop)
  const id = String(row?.orderId)
  const invoice = (...options: string[]) => shopstead(shop.dataDir, ['orders', 'invoice', id, ...options], { env })
  const file = join(shop.dataDir, 'invoice.xml')
  expect(await invoice('--file', file, '--format', 'xrechnung')).toMatchObject({ code: 0 })
  const xml = readFileSync(file, 'utf8')
  expect(brokenRules(ublTerms(xml), 'XRechnung')).toEqual([])
  expect(await invoice('--format', 'xrechnung')).toMatchObject({ code: 2, stderr: expect.stringContaining('--file') })
  expect(await invoice('--file', `${file}2`, '--format', 'docx')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('pdf, facturx, xrechnung')
  })
  const folder = join(shop.dataDir, 'documents')
  expect((await shopstead(shop.dataDir, ['orders', 'documents', folder], { env })).code).toBe(0)
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'index.csv'), 'utf8'), {
    columns: true,
    bom: true
  })
  expect(rows).toMatchObject([
    { file: '2026-1.pdf', xml: '2026-1.xml', xmlSha256: hash('sha256', xml, 'hex') },
    { file: '2026-2.pdf', xml: '', xmlSha256: '' }
  ])
  expect(readFileSync(join(folder, '2026-1.xml'), 'utf8')).toBe(xml)
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  expect(sums).toContain(`${hash('sha256', xml, 'hex')}  2026-1.xml\n`)
  const pdfs = ['2026-1.pdf', '2026-2.pdf'].map((name) => readFileSync(join(folder, name)).includes('factur-x.xml'))
  expect(pdfs).toEqual([true, false])
})

test('an operator reads what a document lacks to be an electronic invoice', async () => {
  using shop = openTestShop()
  makeGerman(shop.db, { 'shop.legal.street': '' })
  const [row] = sell(shop.db, [{ unitPriceMinor: 1250, totalMinor: 1250 }], { to: 'DE' }, shop.clock.now())
  const file = join(shop.dataDir, 'invoice.pdf')
  const args = ['orders', 'invoice', String(row?.orderId), '--file', file, '--format', 'facturx']
  expect(await shopstead(shop.dataDir, args, { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('it lacks shop.legal.street')
  })
  expect(existsSync(file)).toBe(false)
})

test('a folder whose documents cannot all be written is removed', async () => {
  using shop = openTestShop()
  const folder = join(shop.dataDir, 'documents')
  paidOrder(shop)
  shop.db.sqlite.exec(`DROP TRIGGER invoices_unchanged; UPDATE invoices SET document = '{}'`)
  expect((await shopstead(shop.dataDir, ['orders', 'documents', folder], { env })).code).not.toBe(0)
  expect(existsSync(folder)).toBe(false)
})

test('an order that was paid before there were invoices gets its invoice with --issue', async () => {
  using shop = openTestShop()
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))]))
  const invoice = (...options: string[]) =>
    shopstead(shop.dataDir, ['orders', 'invoice', String(id), ...options], { env })
  expect((await invoice()).stderr).toContain('it has not been paid')
  expect((await invoice('--issue')).code).toBe(1)
  shop.db.sqlite.prepare(`UPDATE orders SET status = 'processing', paid_at = 5`).run()
  expect((await invoice()).stderr).toContain(`"shopstead orders invoice ${id} --issue"`)
  expect((await invoice('--issue')).code).toBe(0)
  expect((await invoice('--json')).json).toMatchObject({
    invoice: { number: expect.stringMatching(/^\d{4}-1$/), paidOn: '1970-01-01' }
  })
})

test('an operator corrects the company and the VAT id of an invoice, and sees all documents of the order', async () => {
  using shop = openTestShop()
  const id = paidOrder(shop)
  const invoice = (...options: string[]) =>
    shopstead(shop.dataDir, ['orders', 'invoice', String(id), ...options], { env })
  expect(await invoice('--company', 'Slow Coast')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--correct')
  })
  expect(await invoice('--correct', '--vat-id', 'IE1', '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('vatId')
  })
  const bad = await invoice('--correct', '--address1', 'Hafen 3', '--postcode', '1', '--yes')
  expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining('postcode') })
  expect((await invoice('--correct')).stderr).toContain('Pass --yes')
  expect((await invoice('--json')).json).toMatchObject({
    invoice: { number: '2026-1' },
    creditNotes: [],
    cancelled: []
  })
  const changes = [
    '--company',
    'Slow Coast',
    '--vat-id',
    'DE136695976',
    '--address1',
    'Hafen 9',
    '--postcode',
    '24103',
    '--city',
    'Kiel'
  ]
  const done = await invoice('--correct', ...changes, '--yes', '--json')
  expect(done.json).toMatchObject({
    invoice: {
      number: '2026-2',
      replaces: '2026-1',
      buyer: { lines: ['Lena', 'Slow Coast', 'Hafen 9', '24103 Kiel', 'Germany'], vatId: 'DE136695976' },
      url: expect.not.stringContaining('number')
    },
    creditNotes: [{ number: 'CN2026-1', corrects: '2026-1', total: 37.5 }],
    cancelled: [{ number: '2026-1', url: expect.stringContaining('number=2026-1') }]
  })
  expect((await shopstead(shop.dataDir, ['orders', 'show', String(id)])).stdout).toContain('Hafen 3')
})

test('a VAT id that would change the tax of an order does not correct its invoice', async () => {
  using shop = openTestShop()
  await shopstead(shop.dataDir, ['settings', 'set', 'shop.country', 'DE'])
  await shopstead(shop.dataDir, ['tax', 'set', 'DE', '--rate', '19'])
  await shopstead(shop.dataDir, ['tax', 'set', 'FR', '--rate', '20'])
  const french = { address1: '1 quai', postcode: '75001', city: 'Paris', country: 'FR' }
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))], { billingAddress: french }))
  move(shop.db, id, 'processing', {}, shop.clock.now())
  const correct = (...options: string[]) =>
    shopstead(shop.dataDir, ['orders', 'invoice', String(id), '--correct', '--yes', ...options], { env })
  expect(await correct('--vat-id', 'FR83404833048')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('another tax')
  })
  expect((await correct('--company', 'Quai', '--json')).json).toMatchObject({
    invoice: { buyer: { lines: ['Lena', 'Quai', '1 quai', '75001 Paris', 'France'] } }
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
        destination: 'DE',
        name: '',
        ratePercent: 0,
        category: 'none',
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

test('an order without an invoice says why', async () => {
  using shop = openTestShop()
  const free = place(shop.db, draft([line(makeProduct(shop.db), { unitPriceMinor: 0, totalMinor: 0 })])).id
  const unpaid = place(shop.db, draft([line(makeProduct(shop.db))])).id
  move(shop.db, free, 'completed', {}, shop.clock.now())
  const invoice = async (id: number) =>
    (await shopstead(shop.dataDir, ['orders', 'invoice', String(id)], { env })).stderr
  expect(await invoice(free)).toContain('because it cost nothing')
  expect(await invoice(unpaid)).toContain('because it has not been paid')
})
