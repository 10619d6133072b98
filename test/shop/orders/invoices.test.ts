import { expect, it } from 'vitest'
import fc from 'fast-check'
import { AppError } from '../../../src/errors.ts'
import { taxReport } from '../../../src/operations/reports/tax.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { taxesLeft, taxesOfRefund } from '../../../src/shop/invoices/part-taxes.ts'
import type { InvoiceTax } from '../../../src/shop/invoices/document.ts'
import { documentsOf, findInvoice } from '../../../src/shop/invoices/find.ts'
import { invoicePdf } from '../../../src/shop/invoices/pdf.ts'
import type { InvoiceRow } from '../../../src/shop/invoices/find.ts'
import { invoices } from '../../../src/shop/invoices/schema.ts'
import { salesOf } from '../../../src/operations/reports/sales.ts'
import { taxSums } from '../../../src/shop/invoices/tax-sums.ts'
import { toText } from '../../../src/shop/invoices/text.ts'
import { correctInvoice, issueMissingInvoice } from '../../../src/shop/orders/invoice-order.ts'
import { payOrder, recordRefund, reverseRefund } from '../../../src/shop/orders/transition.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import { markPaid } from '../../../src/shop/payments/attempts.ts'
import { setTaxRate } from '../../../src/shop/tax/rates.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { formatMoney } from '../../../src/platform/money.ts'
import { readPdf } from '../../support/pdf-text.ts'
import type { PdfText } from '../../support/pdf-text.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import { draft, line, makeProduct, place } from './support.ts'

const cause = { by: 'operator', reason: 'a test' }

function pay(db: Db, order: OrderRow, now = noon): OrderRow {
  return write(db, (tx) => payOrder(tx, order.id, cause, now))
}

function buy(db: Db, { quantity = 1, now = noon, unitPriceMinor = 1250 } = {}): OrderRow {
  return pay(db, place(db, draft([line(makeProduct(db), { quantity, unitPriceMinor })]), now), now)
}

function refund(db: Db, orderId: number, amountMinor: number, now = noon): void {
  write(db, (tx) => void recordRefund(tx, orderId, amountMinor, cause, now))
}

const numbers = (db: Db): string[] =>
  db.orm
    .select()
    .from(invoices)
    .all()
    .map(({ number }) => number)
function documentOf(db: Db, orderId: number, index = 0): InvoiceRow {
  const row = documentsOf(db, orderId)[index]
  if (row === undefined) throw new Error('there is no such document')
  return row
}
const totals = (db: Db, orderId: number): number[] => documentsOf(db, orderId).map(({ totalMinor }) => totalMinor)

it('gives each paid order the next number, and none to an order that is not paid', () => {
  const db = emptyShop()
  buy(db)
  const unpaid = place(db, draft([line(makeProduct(db))]))
  buy(db)
  expect(numbers(db)).toEqual(['2026-1', '2026-2'])
  expect(findInvoice(db, unpaid.id)).toBeUndefined()
})

it('issues one invoice, however often the payment is reported', () => {
  const db = emptyShop()
  const order = buy(db)
  pay(db, order)
  expect(numbers(db)).toEqual(['2026-1'])
})

it('gives a renewal and an order that an operator marks as paid invoices of their own', () => {
  const db = emptyShop()
  const first = buy(db)
  const charge = { amountMinor: 990, currency: 'EUR', by: 'webhook' }
  const renewal = pay(
    db,
    write(db, (tx) => insertRenewal(tx, first, charge, noon))
  )
  const byHand = markPaid(db, place(db, draft([line(makeProduct(db))])).id, 'operator', noon)
  expect([renewal.id, byHand.id].map((id) => totals(db, id))).toEqual([[990], [1250]])
  expect(numbers(db)).toEqual(['2026-1', '2026-2', '2026-3'])
})

it('gives a number back when the payment is rolled back', () => {
  const db = emptyShop()
  const order = place(db, draft([line(makeProduct(db))]))
  const failing = () =>
    write(db, (tx) => {
      payOrder(tx, order.id, cause, noon)
      throw new Error('the disk is full')
    })
  expect(failing).toThrow('the disk is full')
  buy(db)
  pay(db, order)
  expect(numbers(db)).toEqual(['2026-1', '2026-2'])
})

it('counts each kind and each year from 1, by the time zone of the shop, after the prefix', () => {
  const db = emptyShop()
  setSetting(db, 'shop.timeZone', 'Europe/Berlin', noon)
  setSetting(db, 'invoice.prefix', 'SL-', noon)
  buy(db, { now: Date.UTC(2026, 11, 31, 22, 59) })
  const order = buy(db, { now: Date.UTC(2026, 11, 31, 23) })
  refund(db, order.id, 100, Date.UTC(2027, 0, 2))
  setSetting(db, 'invoice.prefix', 'NEW', noon)
  buy(db, { now: Date.UTC(2027, 0, 3) })
  expect(numbers(db)).toEqual(['SL-2026-1', 'SL-2027-1', 'SL-CN2027-1', 'NEW2027-2'])
  expect(documentsOf(db, order.id)[0]).toMatchObject({ date: '2027-01-01', document: { orderedOn: '2027-01-01' } })
})

it('refuses a prefix that would give an invoice the number of a credit note', () => {
  const db = emptyShop()
  expect(() => setSetting(db, 'invoice.prefix', 'SLCN', noon)).toThrow(AppError)
  expect(() => setSetting(db, 'shop.timeZone', 'Mars/Base', noon)).toThrow(AppError)
})

it('takes no number for an order that costs nothing, also when an operator asks for its invoice', () => {
  const db = emptyShop()
  const order = buy(db, { unitPriceMinor: 0 })
  refund(db, order.id, 0)
  expect(totals(db, order.id)).toEqual([])
  expect(() => issueMissingInvoice(db, order.id, noon)).toThrow('because it cost nothing')
  buy(db)
  expect(numbers(db)).toEqual(['2026-1'])
})

it('freezes seller, buyer and lines when it is issued', () => {
  const db = emptyShop()
  setSetting(db, 'shop.legal', 'Tin Lantern Ltd\nQuay 7', noon)
  const contact = { firstName: 'Lena', companyName: 'Slow Coast' }
  const billingAddress = { address1: 'Hafen 3\nVAT ID fake', postcode: '24103', city: 'Kiel', country: 'DE' }
  const product = makeProduct(db)
  const order = pay(db, place(db, draft([line(product, { quantity: 2 })], { contact, billingAddress })))
  setSetting(db, 'shop.legal', 'Another', noon)
  db.sqlite.prepare(`UPDATE orders SET billing_address = NULL, contact = '{}'`).run()
  db.sqlite.prepare(`UPDATE order_items SET name = 'Other'`).run()
  expect(toText(documentOf(db, order.id))).toEqual({
    title: 'Invoice',
    number: '2026-1',
    facts: [
      { label: 'Invoice number', value: '2026-1' },
      { label: 'Invoice date', value: '1 June 2026' },
      { label: 'Order number', value: String(order.id) },
      { label: 'Order date', value: '1 June 2026' },
      { label: 'Date of payment', value: '1 June 2026' },
      { label: 'Date of supply', value: '1 June 2026' }
    ],
    seller: ['Shopstead Demo', 'Tin Lantern Ltd', 'Quay 7'],
    buyer: ['Lena', 'Slow Coast', 'Hafen 3 VAT ID fake', '24103 Kiel', 'Germany'],
    lines: [
      {
        name: 'Storm lantern',
        sku: null,
        quantity: '2',
        unitPrice: '€12.50',
        rate: '0 %',
        amount: '€25.00',
        details: []
      }
    ],
    hasRates: false,
    sums: [{ label: 'Total', amount: '€25.00', isTotal: true }],
    taxes: [],
    notes: ['Paid in full on 1 June 2026.']
  })
})

it('names the buyer by the shipping address if the billing address has only a country', () => {
  const db = emptyShop()
  const shippingAddress = { address1: 'Hafen 3', postcode: '24103', city: 'Kiel', country: 'DE' }
  const lines = [line(makeProduct(db))]
  const { id } = pay(db, place(db, draft(lines, { billingAddress: { country: 'FR' }, shippingAddress })))
  expect(documentOf(db, id).buyer?.lines).toEqual(['Lena', 'Hafen 3', '24103 Kiel', 'Germany'])
})

it('counts from the first number of the settings in each year, and goes on from its own numbers', () => {
  const db = emptyShop()
  setSetting(db, 'invoice.firstNumber', '501', noon)
  const order = buy(db)
  refund(db, order.id, 1250)
  buy(db)
  setSetting(db, 'invoice.firstNumber', '900', noon)
  buy(db)
  buy(db, { now: Date.UTC(2027, 5, 1) })
  expect(numbers(db)).toEqual(['2026-501', 'CN2026-501', '2026-502', '2026-900', '2027-900'])
  const columns = 'order_id, kind, year, sequence, number, date, currency, total_minor, document, issued_at'
  const values = `(99, 'invoice', 2026, 902, 'x', '2026-06-01', 'EUR', 0, '{}', 0)`
  const insert = db.sqlite.prepare(`INSERT INTO invoices (${columns}) VALUES ${values}`)
  expect(() => insert.run()).toThrow('the numbers of invoices have no gaps')
})

it('cannot be changed or deleted, and leaves no gap, also by SQL', () => {
  const db = emptyShop()
  const order = buy(db)
  const run = (sql: string) => () => db.sqlite.prepare(sql).run()
  expect(run(`UPDATE invoices SET total_minor = 1`)).toThrow('an invoice never changes')
  expect(run(`UPDATE invoices SET document = '{}'`)).toThrow('an invoice never changes')
  expect(run(`UPDATE invoices SET buyer = '{"lines":["Another"]}'`)).toThrow('an invoice never changes')
  expect(run('DELETE FROM invoices')).toThrow('invoices are never deleted')
  const columns = 'order_id, kind, year, sequence, number, date, currency, total_minor, document, issued_at'
  const insert = `INSERT INTO invoices (${columns}) VALUES (99, 'invoice', 2026, 3, 'x', '2026-01-01', 'EUR', 0, '{}', 0)`
  expect(run(insert)).toThrow('the numbers of invoices have no gaps')
  expect(totals(db, order.id)).toEqual([1250])
})

it('credits each refund, and in all exactly the invoice', () => {
  const db = emptyShop()
  const order = buy(db, { quantity: 2 })
  refund(db, order.id, 999)
  refund(db, order.id, 1)
  refund(db, order.id, 1500)
  expect(totals(db, order.id)).toEqual([2500, 999, 1, 1500])
  expect(toText(documentOf(db, order.id, 1))).toMatchObject({
    title: 'Credit note',
    number: 'CN2026-1',
    lines: [],
    sums: [{ label: 'Total credited', amount: '€9.99' }],
    notes: ['This credit note reduces invoice 2026-1.']
  })
})

it('repeats the lines of the invoice when a refund returns all of it', () => {
  const db = emptyShop()
  const order = buy(db)
  refund(db, order.id, 1250)
  expect(toText(documentOf(db, order.id, 1))).toMatchObject({
    lines: [{ name: 'Storm lantern', amount: '€12.50' }],
    notes: ['This credit note cancels invoice 2026-1.']
  })
})

it('credits a refund once, also when it failed at the bank and was sent again', () => {
  const db = emptyShop()
  const order = buy(db)
  refund(db, order.id, 500)
  write(db, (tx) => void reverseRefund(tx, order.id, 500, cause, noon))
  expect(totals(db, order.id)).toEqual([1250, 500])
  refund(db, order.id, 700)
  expect(totals(db, order.id)).toEqual([1250, 500, 200])
})

it('issues the invoice of an order that was paid before there were invoices, and the credit note of its refunds', () => {
  const db = emptyShop()
  const old = place(db, draft([line(makeProduct(db), { quantity: 2 })]))
  db.sqlite.prepare(`UPDATE orders SET status = 'processing', paid_at = ? WHERE id = ?`).run(noon - 1000, old.id)
  refund(db, old.id, 500)
  expect(documentsOf(db, old.id)).toEqual([])
  buy(db)
  issueMissingInvoice(db, old.id, noon)
  issueMissingInvoice(db, old.id, noon)
  expect(numbers(db)).toEqual(['2026-1', '2026-2', 'CN2026-1'])
  expect(totals(db, old.id)).toEqual([2500, 500])
  const unpaid = place(db, draft([line(makeProduct(db))]))
  expect(() => issueMissingInvoice(db, unpaid.id, noon)).toThrow('has not been paid')
})

const correct = (db: Db, id: number, now = noon) => write(db, (tx) => correctInvoice(tx, getOrder(tx, id), now))

it('cancels the invoice of a changed order and issues it anew, by the settings of the moment', () => {
  const db = emptyShop()
  const order = buy(db)
  setSetting(db, 'shop.legal', 'Quay 8', noon)
  db.sqlite.prepare(`UPDATE orders SET billing_address = '{"company":"Slow Coast"}'`).run()
  expect(correct(db, order.id, noon + 1)?.number).toBe('2026-2')
  expect(documentsOf(db, order.id).map((row) => toText(row))).toMatchObject([
    { number: '2026-1', buyer: ['Lena', 'Berlin', 'Germany'] },
    { number: 'CN2026-1', lines: [{ amount: '€12.50' }], notes: ['This credit note cancels invoice 2026-1.'] },
    {
      number: '2026-2',
      seller: ['Shopstead Demo', 'Quay 8'],
      buyer: ['Lena', 'Slow Coast'],
      notes: ['This invoice replaces invoice 2026-1 of 1 June 2026.', 'Paid in full on 1 June 2026.']
    }
  ])
  expect(findInvoice(db, order.id)?.number).toBe('2026-2')
})

it('credits what was refunded again, to the invoice that replaces the cancelled one', () => {
  const db = emptyShop()
  const order = buy(db, { quantity: 2 })
  refund(db, order.id, 500)
  correct(db, order.id)
  expect(totals(db, order.id)).toEqual([2500, 500, 2000, 2500, 500])
  expect(toText(documentOf(db, order.id, 2)).notes).toEqual([
    'This credit note cancels what is left of invoice 2026-1.'
  ])
  refund(db, order.id, 2000)
  expect(documentsOf(db, order.id).at(-1)?.document.corrects).toMatchObject({ number: '2026-2' })
  expect(correct(db, order.id)).toBeUndefined()
  expect(totals(db, order.id)).toEqual([2500, 500, 2000, 2500, 500, 2000])
})

it('does not report a correction as a refund, and leaves the taxes of the days as they are', () => {
  const db = emptyShop()
  setTaxRate(db, rate('DE', 19))
  const order = buy(db, { quantity: 3 })
  refund(db, order.id, 1000)
  const days = { from: '2026-06-01', to: '2026-06-01' }
  const before = [salesOf(db, days, 'day'), taxSums(db, days).map(({ netMinor, taxMinor }) => [netMinor, taxMinor])]
  correct(db, order.id)
  expect([salesOf(db, days, 'day'), taxSums(db, days).map(({ netMinor, taxMinor }) => [netMinor, taxMinor])]).toEqual(
    before
  )
})

it('refuses a second invoice beside one that is not cancelled, also by SQL', () => {
  const db = emptyShop()
  const { id } = buy(db)
  const columns = 'order_id, kind, year, sequence, number, date, currency, total_minor, document, issued_at'
  const values = `VALUES (${id}, 'invoice', 2026, 2, '2026-2', '2026-06-01', 'EUR', 1, '{}', 0)`
  expect(() => db.sqlite.prepare(`INSERT INTO invoices (${columns}) ${values}`).run()).toThrow('one invoice at a time')
})

it('adds up to what the order costs, less what was refunded, however often it is refunded and corrected', () => {
  const db = emptyShop()
  for (const input of [rate('DE', 19), rate('DE', 7, 'reduced')]) setTaxRate(db, input)
  const product = makeProduct(db)
  const step = fc.oneof(fc.constant('correct' as const), fc.integer({ min: 1, max: 900 }))
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 999 }), { minLength: 1, maxLength: 3 }),
      fc.array(step, { maxLength: 6 }),
      (prices, steps) => {
        const lines = prices.map((unitPriceMinor, index) =>
          line(product, { unitPriceMinor, taxClass: index % 2 === 0 ? 'standard' : 'reduced' })
        )
        const { id } = pay(db, place(db, draft(lines)))
        for (const each of steps) {
          const { totalMinor, refundedMinor } = getOrder(db, id)
          if (each === 'correct') correct(db, id)
          else if (each <= totalMinor - refundedMinor) refund(db, id, each)
        }
        const { totalMinor, refundedMinor } = getOrder(db, id)
        const signed = documentsOf(db, id).map((row) => ({ row, sign: row.kind === 'invoice' ? 1 : -1 }))
        expect(signed.reduce((sum, { row, sign }) => sum + sign * row.totalMinor, 0)).toBe(totalMinor - refundedMinor)
        for (const { row } of signed) expect(sumOf(row.document.taxes)).toBe(row.totalMinor)
      }
    ),
    { numRuns: 40 }
  )
})

it('reports what invoices minus credit notes come to, day by day', async () => {
  const db = emptyShop()
  const dayMs = 86_400_000
  const order = buy(db, { quantity: 3 })
  refund(db, order.id, 1000, noon + dayMs)
  buy(db, { now: noon + 40 * dayMs })
  const sum = async (from: string, to: string) => (await taxReport.make({ db }, { from, to }, noon)).totals
  expect(await sum('2026-06-01', '2026-06-01')).toEqual([{ currency: 'EUR', net: 37.5, tax: 0, gross: 37.5 }])
  expect(await sum('2026-01-01', '2026-12-31')).toEqual([{ currency: 'EUR', net: 40, tax: 0, gross: 40 }])
  expect(await sum('2026-01-01', '2026-05-31')).toEqual([])
  const made = await taxReport.make({ db }, { from: '2026-06-02', to: '2026-06-02' }, noon)
  expect(new TextDecoder().decode(made.file('csv')).split('\n')[1]).toBe('DE,,DE,,0,none,no,EUR,-10,0.00,-10,0,1')
})

const rate = (country: string, percent: number, taxClass: 'standard' | 'reduced' = 'standard') => ({
  country,
  region: '',
  class: taxClass,
  rateMillionths: percent * 10_000,
  name: 'VAT'
})

it('shows the taxes of the order, and the report sums them by country and rate', async () => {
  const db = emptyShop()
  setSetting(db, 'shop.country', 'DE', noon)
  for (const input of [rate('DE', 19), rate('DE', 7, 'reduced'), rate('FR', 20)]) setTaxRate(db, input)
  const product = makeProduct(db)
  const lines = [
    line(product, { unitPriceMinor: 11_900 }),
    line(product, { unitPriceMinor: 1070, taxClass: 'reduced' })
  ]
  const german = pay(db, place(db, draft(lines)))
  pay(db, place(db, draft([line(product, { unitPriceMinor: 1200 })], { billingAddress: { country: 'FR' } })))
  expect(toText(documentOf(db, german.id))).toMatchObject({
    hasRates: true,
    lines: [{ rate: '19 %' }, { rate: '7 %' }],
    taxes: [
      { label: '19 % VAT', base: '€100.00', amount: '€19.00' },
      { label: '7 % VAT', base: '€10.00', amount: '€0.70' }
    ],
    notes: ['All prices include the tax of Germany.', 'Paid in full on 1 June 2026.']
  })
  refund(db, german.id, 6485)
  expect(documentOf(db, german.id, 1).document.taxes).toMatchObject([
    { baseMinor: 5000, amountMinor: 950 },
    { baseMinor: 500, amountMinor: 35 }
  ])
  const { rows, totals } = await taxReport.make({ db }, { from: '2026-06-01', to: '2026-06-01' }, noon)
  expect(rows).toMatchObject([
    { country: 'DE', ratePercent: 19, net: 50, tax: 9.5, gross: 59.5, invoices: 1, creditNotes: 1 },
    { country: 'DE', ratePercent: 7, net: 5, tax: 0.35, gross: 5.35, invoices: 1, creditNotes: 1 },
    { country: 'FR', ratePercent: 20, net: 10, tax: 2, gross: 12, invoices: 1, creditNotes: 0 }
  ])
  expect(totals).toEqual([{ currency: 'EUR', net: 65, tax: 11.85, gross: 76.85 }])
})

it('says on the invoice of a business in another EU country that the buyer owes the VAT', async () => {
  const db = emptyShop()
  setSetting(db, 'shop.country', 'DE', noon)
  setTaxRate(db, rate('DE', 19))
  const order = draft([line(makeProduct(db), { unitPriceMinor: 10_000 })], {
    billingAddress: { country: 'FR' },
    vatId: 'FR83404833048'
  })
  const { id } = pay(db, place(db, order))
  expect(toText(documentOf(db, id))).toMatchObject({
    buyer: ['Lena', 'France', 'VAT ID FR83404833048'],
    taxes: [],
    notes: ['Tax-free intra-Community supply (Article 138 of Directive 2006/112/EC).', 'Paid in full on 1 June 2026.']
  })
  const { rows } = await taxReport.make({ db }, { from: '2026-06-01', to: '2026-06-01' }, noon)
  expect(rows).toMatchObject([{ country: 'FR', category: 'supply', reverseCharge: true, net: 100, tax: 0 }])
})

it('reports exactly the invoices minus the credit notes of random orders and refunds', () => {
  const db = emptyShop()
  for (const input of [rate('DE', 19), rate('DE', 7, 'reduced'), rate('FR', 5.5)]) setTaxRate(db, input)
  const product = makeProduct(db)
  const sale = fc.record({
    country: fc.constantFrom('DE', 'FR', 'US'),
    prices: fc.array(fc.nat(9999), { minLength: 1, maxLength: 3 }),
    refunds: fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 3 })
  })
  fc.assert(
    fc.property(sale, ({ country, prices, refunds }) => {
      const lines = prices.map((unitPriceMinor, index) =>
        line(product, { unitPriceMinor, taxClass: index % 2 === 0 ? 'standard' : 'reduced' })
      )
      const order = pay(db, place(db, draft(lines, { billingAddress: { country } })))
      let left = order.totalMinor
      for (const amount of refunds.filter((each) => each <= order.totalMinor / 3)) {
        refund(db, order.id, amount)
        left -= amount
      }
      if (order.totalMinor > 0) refund(db, order.id, Math.max(1, left - 5))
    }),
    { numRuns: 20 }
  )
  const rows = db.orm.select().from(invoices).all()
  const sumBy = (of: (row: InvoiceRow) => number): number =>
    rows.reduce((sum, row) => sum + (row.kind === 'invoice' ? of(row) : -of(row)), 0)
  const sums = taxSums(db, { from: '2026-06-01', to: '2026-06-01' })
  expect(sums.reduce((sum, { taxMinor }) => sum + taxMinor, 0)).toBe(sumBy(({ document }) => document.taxMinor))
  const gross = sums.reduce((sum, { netMinor, taxMinor }) => sum + netMinor + taxMinor, 0)
  expect(gross).toBe(sumBy(({ totalMinor }) => totalMinor))
})

const taxes = fc.array(
  fc.record({
    category: fc.constant('taxed' as const),
    destination: fc.constant('DE'),
    serviceBaseMinor: fc.constant(0),
    serviceAmountMinor: fc.constant(0),
    name: fc.constant('VAT'),
    country: fc.constantFrom('DE', 'FR'),
    region: fc.constant(''),
    rateMillionths: fc.constantFrom(0, 70_000, 190_000),
    baseMinor: fc.nat(10_000),
    amountMinor: fc.nat(2_000)
  }),
  { minLength: 1, maxLength: 4 }
)
const sumOf = (rows: readonly InvoiceTax[]): number =>
  rows.reduce((sum, { baseMinor, amountMinor }) => sum + baseMinor + amountMinor, 0)

it('returns tax in proportion, and in all refunds together exactly the tax of the invoice', () => {
  fc.assert(
    fc.property(taxes, fc.array(fc.nat(3_000), { maxLength: 8 }), (invoiced, parts) => {
      const credited: InvoiceTax[][] = []
      for (const part of [...parts, sumOf(invoiced)]) {
        const left = taxesLeft(invoiced, credited)
        const wanted = Math.min(part, sumOf(left))
        const share = taxesOfRefund(left, wanted)
        expect(sumOf(share)).toBe(wanted)
        for (const [index, { amountMinor, baseMinor }] of share.entries()) {
          expect(Math.min(amountMinor, baseMinor)).toBeGreaterThanOrEqual(0)
          const exact = sumOf(left) === 0 ? 0 : ((left[index]?.amountMinor ?? 0) * wanted) / sumOf(left)
          expect(Math.abs(amountMinor - exact)).toBeLessThan(2)
        }
        credited.push(share)
      }
      expect(sumOf(taxesLeft(invoiced, credited))).toBe(0)
    }),
    { numRuns: 50 }
  )
})

it('writes a PDF of one page for a usual order and of several for a long one', async () => {
  const db = emptyShop()
  const product = makeProduct(db)
  const long = 'A lantern with a long name, '.repeat(8)
  const pagesOf = async (lines: number): Promise<number> => {
    const items = Array.from({ length: lines }, () => line(product, { name: long }))
    const order = pay(db, place(db, draft(items)))
    const pdf = Buffer.from(await invoicePdf(documentOf(db, order.id), 'https://shop.example/x'))
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
  }
  expect(await pagesOf(3)).toBe(1)
  expect(await pagesOf(30)).toBe(3)
})

it.each([
  ['without rates', []],
  ['with rates', [19]]
])('writes each amount of a PDF inside the page, below its head and beside the others: %s', async (_title, rates) => {
  const db = emptyShop()
  for (const percent of rates) setTaxRate(db, rate('DE', percent))
  const product = makeProduct(db)
  const items = Array.from({ length: 40 }, (_, index) =>
    line(product, { name: `Lantern ${index}`, quantity: 100, unitPriceMinor: 999_999 + index })
  )
  const order = pay(db, place(db, draft(items, { billingAddress: { country: 'DE' } })))
  const texts = readPdf(await invoicePdf(documentOf(db, order.id), 'https://shop.example/x'))
  const first = (text: string): PdfText => {
    const found = texts.find((one) => one.text === text)
    if (found === undefined) throw new Error(`the PDF does not contain ${text}`)
    return found
  }
  const [pageRight, pageLeft] = [545, 50]
  for (const { left, right, y } of texts) {
    expect(left).toBeGreaterThanOrEqual(pageLeft)
    expect(right).toBeLessThanOrEqual(pageRight + 0.01)
    expect(y).toBeGreaterThan(30)
  }
  const heads = ['Item', 'Quantity', 'Price', ...(rates.length > 0 ? ['Tax'] : []), 'Amount'].map(first)
  for (const [index, item] of texts.filter(({ text }) => text.startsWith('Lantern ')).entries()) {
    const row = texts.filter(({ page, y }) => page === item.page && y === item.y)
    const price = formatMoney(999_999 + index, 'EUR')
    const amount = formatMoney(100 * (999_999 + index), 'EUR')
    const cells = [`Lantern ${index}`, '100', price, ...rates.map((percent) => `${percent} %`), amount]
    expect(row.map(({ text }) => text)).toEqual(cells)
    for (const [at, { left, right }] of row.entries()) {
      if (at > 0) expect(left).toBeGreaterThan(row[at - 1]?.right ?? 0)
      const head = heads[at]
      if (at > 0) expect(right).toBeCloseTo(head?.right ?? 0, 1)
      else expect(left).toBe(head?.left)
    }
  }
  expect(texts.filter(({ text }) => text === 'Amount').map(({ page }) => page)).toEqual([0, 1])
  const [label, total] = [first('Total'), first(formatMoney(order.totalMinor, 'EUR'))]
  expect([total.page, total.y]).toEqual([label.page, label.y])
  expect(total.right).toBeCloseTo(pageRight, 1)
})

it('writes the sums of a PDF on the page of the last line, wherever the page ends', async () => {
  const db = emptyShop()
  setTaxRate(db, rate('DE', 19))
  const product = makeProduct(db)
  for (let count = 26; count <= 34; count += 1) {
    const items = Array.from({ length: count }, (_, index) => line(product, { name: `Lantern ${index}` }))
    const order = pay(db, place(db, draft(items, { billingAddress: { country: 'DE' } })))
    const texts = readPdf(await invoicePdf(documentOf(db, order.id), 'https://shop.example/x'))
    const pageOf = (wanted: string) => texts.find(({ text }) => text.startsWith(wanted))?.page
    const last = pageOf(`Lantern ${count - 1}`)
    expect([pageOf('Total'), pageOf('19 % VAT of')]).toEqual([last, last])
  }
})

it('writes a tagged PDF with a language, a title, a heading and the cells of its tables', async () => {
  const db = emptyShop()
  const product = makeProduct(db)
  const items = Array.from({ length: 60 }, () => line(product))
  const order = pay(db, place(db, draft(items)))
  const pdf = Buffer.from(await invoicePdf(documentOf(db, order.id), 'https://shop.example/x')).toString('latin1')
  const has = (part: string) => [part, pdf.includes(part)]
  const parts = ['/Marked true', '/Lang (en)', '/DisplayDocTitle true', '(Invoice 2026-1)']
  expect(parts.map(has)).toEqual(parts.map((part) => [part, true]))
  const count = (type: string) => pdf.match(new RegExp(`/S /${type}\\b`, 'g'))?.length
  // The facts have six rows of a head and a value. The head of the lines is repeated on the second page, and is content
  // once. The total is a row of its own.
  expect([count('Document'), count('H1'), count('Table'), count('TH'), count('TD')]).toEqual([1, 1, 3, 10, 248])
})

it('writes Hebrew and Arabic words from right to left, joined, and numbers and Latin words among them from left to right', async () => {
  const db = emptyShop()
  const product = makeProduct(db)
  const contact = { firstName: 'דוד', lastName: 'כהן (משרד 12)' }
  const order = pay(db, place(db, draft([line(product, { name: 'فانوس كبير' })], { contact })))
  const texts = readPdf(await invoicePdf(documentOf(db, order.id), 'https://shop.example/x'))
  // The letters as they are seen from the left.
  const seen = (wanted: RegExp) => texts.filter(({ text }) => wanted.test(text)).map(({ text }) => text)
  expect(seen(/[א-ת]|^12$/)).toEqual(['12', ' דרשמ) ןהכ דוד'])
  expect(seen(/[ء-ي]/)).toEqual(['ريبك سوناف'])
  const runs = texts.filter(({ text }) => /[א-ת]|^12$/.test(text))
  expect(runs[1]?.left).toBeCloseTo(runs[0]?.right ?? 0, 1)
  expect(texts.filter(({ text }) => text.startsWith('This file cannot show'))).toEqual([])
})

it('breaks a long Arabic name into lines of the column, in the order of reading', async () => {
  const db = emptyShop()
  const name = 'فانوس العاصفة الكبير مع زجاج إضافي ولون أحمر ومقبض خشبي طويل جدا'
  const order = pay(db, place(db, draft([line(makeProduct(db), { name })])))
  const texts = readPdf(await invoicePdf(documentOf(db, order.id), 'https://shop.example/x'))
  const lines = texts.filter(({ text }) => /[ء-ي]/.test(text))
  const read = lines.map(({ text }) => Array.from(text).toReversed().join(''))
  expect(read.join(' ')).toBe(name)
  expect(read.length).toBe(2)
  expect(Math.max(...lines.map(({ right }) => right))).toBeLessThanOrEqual(260)
})

it('says on a PDF that it lacks letters only if the fonts do', async () => {
  const db = emptyShop()
  const order = pay(db, place(db, draft([line(makeProduct(db), { name: '灯笼' })])))
  const texts = readPdf(await invoicePdf(documentOf(db, order.id), 'https://shop.example/x'))
  expect(texts.some(({ text }) => text.startsWith('This file cannot show'))).toBe(true)
})
