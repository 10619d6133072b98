import fc from 'fast-check'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { toDecimalText } from '../../../src/platform/money.ts'
import { toCii } from '../../../src/shop/invoices/cii.ts'
import { obstacleOf, toEInvoice } from '../../../src/shop/invoices/e-invoice.ts'
import type { EInvoiceFormat } from '../../../src/shop/invoices/e-invoice.ts'
import type { TaxCategory } from '../../../src/shop/tax/categories.ts'
import { documentsOf, listDocuments } from '../../../src/shop/invoices/find.ts'
import { toUbl } from '../../../src/shop/invoices/ubl.ts'
import type { InvoiceRow } from '../../../src/shop/invoices/find.ts'
import type { NewLine } from '../../../src/shop/orders/create-order.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { brokenRules } from '../../support/e-invoices/rules.ts'
import { schemaErrors } from '../../support/e-invoices/schemas.ts'
import { readXml } from '../../support/e-invoices/read-xml.ts'
import { ciiTerms, ublTerms } from '../../support/e-invoices/terms.ts'
import { misplaced } from '../../support/e-invoices/ubl-order.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { emptyShop } from '../../support/temporary-shop.ts'
import { checkDocuments, makeFrench, refundedCart } from '../orders/refund-properties.ts'
import { giveBack } from '../orders/support.ts'
import { companies, frenchId, makeGerman, sell } from './cases.ts'

let shop: TestShop
beforeEach(() => {
  shop = openTestShop()
  onTestFinished(() => shop[Symbol.dispose]())
  makeGerman(shop.db)
})

const lamp = { unitPriceMinor: 1250, totalMinor: 2500, quantity: 2, sku: 'LAMP-1', name: 'Lamp <red> & "bright"' }
const book: Partial<NewLine> = { unitPriceMinor: 1290, totalMinor: 1290, taxClass: 'reduced', name: 'Book' }
const file: Partial<NewLine> = { unitPriceMinor: 500, totalMinor: 500, type: 'digital', name: 'Plans' }
const domestic = { to: 'DE', shippingMinor: 490 } as const

/** Writes documents in both syntaxes, and expects that they keep the rules and have the sums of the documents. */
async function written(rows: readonly InvoiceRow[]) {
  const files = rows.map((row) => ({ row, cii: toCii(toEInvoice(row)), ubl: toUbl(toEInvoice(row)) }))
  expect(await schemaErrors(files.map(({ cii }) => cii))).toEqual([])
  return files.map(({ row, cii, ubl }) => {
    const [terms, german] = [ciiTerms(cii), ublTerms(ubl)]
    expect([brokenRules(terms), brokenRules(german, 'XRechnung')]).toEqual([[], []])
    expect(misplaced(readXml(ubl))).toEqual([])
    expectSums(terms.sums, row)
    const { specification: _one, currencies: _all, deliverTo: place, ...same } = terms
    expect(german).toMatchObject(place?.city === null ? same : { ...same, deliverTo: place })
    return terms
  })
}

function expectSums(sums: Readonly<Record<string, string | null>>, { document, currency }: InvoiceRow): void {
  const amount = (minor: number): string => toDecimalText(minor, currency)
  const { totalMinor, taxMinor } = document
  const total = amount(totalMinor)
  const net = amount(totalMinor - taxMinor)
  expect(sums).toMatchObject({ net, tax: amount(taxMinor), total, paid: total, due: amount(0) })
}

describe('an invoice by EN 16931', () => {
  it('has the lines, rates and shipping of a domestic sale', async () => {
    const [terms] = await written(sell(shop.db, [lamp, book], domestic, shop.clock.now()))
    expect(terms).toMatchObject({
      specification: 'urn:cen.eu:en16931:2017',
      type: '380',
      number: '2026-1',
      date: '2026-01-15',
      currency: 'EUR',
      seller: {
        name: 'Tin Lantern & Sons GmbH',
        vatId: 'DE136695976',
        ids: ['HRB 12345, Amtsgericht Hamburg'],
        city: 'Hamburg'
      },
      buyer: { name: 'Hafen & Co', contact: { name: 'Lena Kai' }, vatId: null, country: 'DE' },
      deliveryDate: '2026-01-15',
      deliverTo: { country: 'DE' },
      preceding: null
    })
    expect(terms?.lines).toMatchObject([
      {
        name: lamp.name,
        sku: 'LAMP-1',
        quantity: '2',
        unit: 'H87',
        net: '21.01',
        price: '10.505',
        tax: { percent: '19' }
      },
      { name: 'Book', sku: null, net: '12.06', tax: { code: 'S', percent: '7' }, allowances: [] }
    ])
    expect(terms?.adjustments.map(({ isCharge, reason, tax }) => [isCharge, reason, tax.percent])).toEqual([
      [true, 'Shipping: Post', '19'],
      [true, 'Shipping: Post', '7']
    ])
    expect(terms?.taxes.map(({ code, percent, reason }) => [code, percent, reason])).toEqual([
      ['S', '19', null],
      ['S', '7', null]
    ])
  })

  it('has the discount of a line as an allowance', async () => {
    const [terms] = await written(
      sell(shop.db, [{ ...lamp, totalMinor: 2000, discountMinor: 500 }], { to: 'DE' }, shop.clock.now())
    )
    expect(terms?.lines).toMatchObject([{ net: '16.81', price: '10.505', allowances: ['4.20'] }])
  })

  it('is the same for prices without tax', async () => {
    setSetting(shop.db, 'tax.pricesIncludeTax', 'false', 0)
    const discounted = { ...lamp, totalMinor: 2000, discountMinor: 500 }
    const [terms] = await written(sell(shop.db, [discounted, book], domestic, shop.clock.now()))
    expect(terms?.lines).toMatchObject([{ net: '20.00', price: '12.50', allowances: ['5.00'] }, { net: '12.90' }])
  })

  it.each([
    ['an intra-Community supply', [lamp], { to: 'FR', vatId: frenchId, shippingMinor: 490 }, {}, ['K', 'VATEX-EU-IC']],
    ['a service that the buyer owes the tax of', [file], { to: 'FR', vatId: frenchId }, {}, ['AE', 'VATEX-EU-AE']],
    ['an export', [lamp], { to: 'CH', shippingMinor: 490 }, {}, ['G', 'VATEX-EU-G']],
    ['a service outside the EU', [file], { to: 'CH' }, {}, ['O', 'VATEX-EU-O']],
    ['a small business', [lamp], { to: 'DE' }, { 'tax.smallBusiness': 'true' }, ['E', null]],
    ['a zero rate', [{ ...lamp, taxClass: 'zero' as const }], { to: 'DE' }, {}, ['Z', null]]
  ] as const)('has the category of %s', async (_, lines, bought, settings, [code, reasonCode]) => {
    makeGerman(shop.db, settings)
    const [terms] = await written(sell(shop.db, lines, bought, shop.clock.now()))
    expect(terms?.taxes).toMatchObject([{ code, reasonCode, percent: code === 'O' ? null : '0', amount: '0.00' }])
    expect(terms?.taxes[0]?.reason === null).toBe(code === 'Z')
  })

  it('names a small business by its tax number', async () => {
    makeGerman(shop.db, { 'tax.smallBusiness': 'true', 'shop.legal.vatId': '', 'shop.legal.taxNumber': '22/815/0815' })
    const [terms] = await written(sell(shop.db, [lamp], { to: 'DE' }, shop.clock.now()))
    expect(terms?.seller).toMatchObject({ vatId: null, taxNumber: '22/815/0815' })
    expect(terms?.seller.ids).toContain('22/815/0815')
    expect(terms?.taxes[0]?.reason).toContain('§ 19 UStG')
  })

  it('has goods and services of one business in their own categories', async () => {
    const [terms] = await written(sell(shop.db, [lamp, file], { to: 'FR', vatId: frenchId }, shop.clock.now()))
    expect(terms?.lines.map(({ tax, unit }) => [tax.code, unit])).toEqual([
      ['K', 'H87'],
      ['AE', 'C62']
    ])
  })

  it('says of a credit note which invoice it corrects, and what is returned', async () => {
    const [invoice] = sell(shop.db, [lamp, book], domestic, shop.clock.now())
    giveBack(shop.db, invoice?.orderId ?? 0, { items: [{ line: 1, quantity: 1 }] })
    giveBack(shop.db, invoice?.orderId ?? 0, { amountMinor: 300 })
    giveBack(shop.db, invoice?.orderId ?? 0, {})
    const [, ...notes] = await written(documentsOf(shop.db, invoice?.orderId ?? 0))
    expect(notes.map(({ type, preceding }) => [type, preceding])).toEqual(
      Array.from({ length: notes.length }, () => ['381', { number: '2026-1', date: '2026-01-15' }])
    )
    expect(notes[0]?.lines).toMatchObject([{ name: lamp.name, quantity: '1' }])
    expect(notes[1]?.lines.map(({ name, tax }) => [name, tax.percent])).toEqual([
      ['Credit note CN2026-2', '19'],
      ['Credit note CN2026-2', '7']
    ])
  })
})

it('keeps the rules for random carts and refunds, and the sums of each document to the cent', async () => {
  const shops = [makeFrench(emptyShop(), false), makeFrench(emptyShop())] as const
  for (const db of shops) setSetting(db, 'shop.legal.vatId', frenchId, 0)
  fc.assert(
    fc.property(refundedCart, (cart) => checkDocuments(shops, cart)),
    { numRuns: 40 }
  )
  const { address, ...buyer } = { address: companies.FR, vatId: null, email: 'buyer@phare.example', lines: [] }
  const rows = shops.flatMap((db) => [...listDocuments(db, {})])
  expect(rows.length).toBeGreaterThan(60)
  await written(
    rows.map(({ document, ...row }) => {
      const named = { ...document.seller, city: 'Brest', postcode: '29200', email: 'bill@phare.example', phone: '0298' }
      return { ...row, buyer: { ...buyer, address }, document: { ...document, seller: named } }
    })
  )
})

it('says why a document cannot be an electronic invoice', () => {
  const [invoice] = sell(shop.db, [lamp], domestic, shop.clock.now())
  if (invoice === undefined) throw new Error('there is no invoice')
  const { buyer, document } = invoice
  const of = (changes: Partial<InvoiceRow>, format: EInvoiceFormat = 'facturx') =>
    obstacleOf({ ...invoice, ...changes }, format)
  const seller = { ...document.seller, city: '', vatId: '', email: '', phone: ' ' }
  const [tax] = document.taxes
  const taxed = (...categories: TaxCategory[]) => ({
    document: {
      ...document,
      taxes: categories.flatMap((category) => (tax === undefined ? [] : [{ ...tax, category }]))
    }
  })
  expect(of({})).toBeUndefined()
  expect(of({}, 'xrechnung')).toBeUndefined()
  expect(of({ buyer: null })).toEqual({ kind: 'erased' })
  expect(of({ currency: 'KWD' })).toEqual({ kind: 'currency' })
  expect(of(taxed('none'))).toEqual({ kind: 'untaxed' })
  expect(of(taxed('outside', 'export'))).toEqual({ kind: 'mixed' })
  expect(of(taxed('voucher', 'taxed'))).toEqual({ kind: 'mixed' })
  expect(of({ document: { ...document, seller } })).toEqual({
    kind: 'seller',
    lacks: ['shop.legal.city', 'shop.legal.taxNumber']
  })
  expect(of({ document: { ...document, seller: { ...seller, city: 'Kiel', taxNumber: '1' } } }, 'xrechnung')).toEqual({
    kind: 'seller',
    lacks: ['shop.legal.email', 'shop.legal.phone']
  })
  expect(of({ ...taxed('supply'), buyer: buyer && { ...buyer, address: { country: 'FR' } } })).toEqual({
    kind: 'buyer',
    lacks: ['company', 'postcode', 'city', 'vat-id']
  })
  expect(of({ buyer: buyer && { lines: buyer.lines, address: buyer.address, vatId: null } }, 'xrechnung')).toEqual({
    kind: 'buyer',
    lacks: ['email']
  })
})
