import { inflateSync } from 'node:zlib'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { toCii } from '../../../src/shop/invoices/cii.ts'
import { documentFile, isForBusiness } from '../../../src/shop/invoices/e-invoice-file.ts'
import { toEInvoice } from '../../../src/shop/invoices/e-invoice.ts'
import type { InvoiceRow } from '../../../src/shop/invoices/find.ts'
import { invoicePdf } from '../../../src/shop/invoices/pdf.ts'
import { toUbl } from '../../../src/shop/invoices/ubl.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { allAt, readXml } from '../../support/e-invoices/read-xml.ts'
import { ublTerms } from '../../support/e-invoices/terms.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeGerman, sell } from './cases.ts'

let shop: TestShop
beforeEach(() => {
  shop = openTestShop()
  onTestFinished(() => shop[Symbol.dispose]())
  makeGerman(shop.db)
})

const pageUrl = 'https://shop.example/x'
const lamp = { unitPriceMinor: 1250, totalMinor: 2500, quantity: 2 }

function invoice(changes: object = {}): InvoiceRow {
  const [row] = sell(shop.db, [lamp], { to: 'DE', shippingMinor: 490, ...changes }, shop.clock.now())
  if (row === undefined) throw new Error('there is no invoice')
  return row
}

/** The objects of a PDF, by their ids. */
function objectsOf(pdf: Uint8Array): Map<string, string> {
  const source = Buffer.from(pdf).toString('latin1')
  return new Map([...source.matchAll(/^(\d+) 0 obj\n([^]*?)\nendobj$/gm)].map(([, id = '', body = '']) => [id, body]))
}

function streamOf(object = ''): Buffer {
  const bytes = Buffer.from(/stream\n([^]*)\nendstream/.exec(object)?.[1] ?? '', 'latin1')
  return object.includes('/FlateDecode') ? inflateSync(bytes) : bytes
}

const idAt = (object: string, name: string): string => new RegExp(`/${name} \\[?(\\d+) 0 R`).exec(object)?.[1] ?? ''

it('embeds the data as another form of the document in a PDF for archives', async () => {
  const row = invoice()
  const { name, type, content } = await documentFile(row, 'facturx', { pageUrl })
  expect([name, type]).toEqual(['2026-1.pdf', 'application/pdf'])
  const objects = objectsOf(content)
  const catalog = [...objects.values()].find((object) => object.includes('/Type /Catalog')) ?? ''
  const file = objects.get(idAt(catalog, 'AF')) ?? ''
  expect(file).toContain('/AFRelationship /Alternative')
  expect(file).toContain('/F (factur-x.xml)')
  const embedded = objects.get(idAt(file, 'F')) ?? ''
  expect(embedded).toContain('/Subtype /text#2Fxml')
  expect(streamOf(embedded).toString()).toBe(toCii(toEInvoice(row)))
  // The colours of the pages mean something on every screen and printer.
  const intent = objects.get(idAt(catalog, 'OutputIntents')) ?? ''
  expect(intent).toContain('/S /GTS_PDFA1')
  expect(streamOf(objects.get(idAt(intent, 'DestOutputProfile'))).length).toBeGreaterThan(1000)
  // Every font is in the file.
  const fonts = [...objects.values()].filter((object) => object.includes('/Type /FontDescriptor'))
  expect(fonts.length).toBeGreaterThan(0)
  expect(fonts.every((font) => font.includes('/FontFile2'))).toBe(true)
  expect([...objects.values()].some((object) => /\/Subtype \/Type1\b/.test(object))).toBe(false)
})

it('says in the metadata of the PDF what it is, also for a seller whose name has special characters of XML', async () => {
  setSetting(shop.db, 'shop.legal.name', 'Müller & <Sons>', 0)
  const { content } = await documentFile(invoice(), 'facturx', { pageUrl })
  const objects = objectsOf(content)
  const catalog = [...objects.values()].find((object) => object.includes('/Type /Catalog')) ?? ''
  const xmp = streamOf(objects.get(idAt(catalog, 'Metadata'))).toString()
  const tidy = xmp.replaceAll(/<\?xpacket[^>]*\?>/g, '').trim()
  const facts = allAt(readXml(tidy), 'RDF/Description').flatMap(({ children }) => children)
  const textOf = (name: string) => facts.find((fact) => fact.name === name)?.text
  expect(['pdfaid:part', 'pdfaid:conformance'].map(textOf)).toEqual(['3', 'B'])
  expect(['fx:DocumentFileName', 'fx:DocumentType', 'fx:Version', 'fx:ConformanceLevel'].map(textOf)).toEqual([
    'factur-x.xml',
    'INVOICE',
    '1.0',
    'EN 16931'
  ])
  expect(xmp).toContain('<rdf:li>Müller &amp; &lt;Sons&gt;</rdf:li>')
  const described = xmp.match(/(?<=<pdfaProperty:name>)\w+/g)
  expect(described).toEqual(['DocumentFileName', 'DocumentType', 'Version', 'ConformanceLevel'])
})

it('makes the same file each time, and a plain PDF without the data', async () => {
  const row = invoice()
  const [one, again] = [
    await documentFile(row, 'facturx', { pageUrl }),
    await documentFile(row, 'facturx', { pageUrl })
  ]
  expect(Buffer.from(one.content).equals(again.content)).toBe(true)
  const plain = await documentFile(row, 'pdf', { pageUrl })
  expect(Buffer.from(plain.content).equals(await invoicePdf(row, pageUrl))).toBe(true)
  expect(Buffer.from(plain.content).includes('factur-x.xml')).toBe(false)
})

it('writes XRechnung with the reference of the buyer, and where the goods went', async () => {
  const shippingAddress = { address1: 'Lager 2', postcode: '24159', city: 'Kiel', country: 'DE' }
  const row = invoice({ buyerReference: '04011000-1234512345-06', shippingAddress })
  const { name, type, content } = await documentFile(row, 'xrechnung', { pageUrl })
  expect([name, type]).toEqual(['2026-1.xml', 'application/xml; charset=utf-8'])
  const source = Buffer.from(content).toString()
  expect(source).toBe(toUbl(toEInvoice(row)))
  expect(ublTerms(source)).toMatchObject({
    buyerReference: '04011000-1234512345-06',
    deliverTo: { country: 'DE', city: 'Kiel', postcode: '24159' },
    buyer: { electronicAddress: { scheme: 'EM', id: 'guest@shop.example' } }
  })
})

it('names what a document lacks, and the command that issues it again', async () => {
  setSetting(shop.db, 'shop.legal.phone', '', 0)
  setSetting(shop.db, 'shop.legal.city', '', 0)
  const row = invoice()
  const lacking = documentFile(row, 'xrechnung', { pageUrl })
  await expect(lacking).rejects.toMatchObject({ code: 'CONFLICT', status: 409 })
  await expect(lacking).rejects.toThrow(
    '2026-1 cannot be an electronic invoice: it lacks shop.legal.city, shop.legal.phone. When that is set, "shopstead orders invoice 1 --correct" issues it again.'
  )
  await expect(documentFile({ ...row, buyer: null }, 'facturx', { pageUrl })).rejects.toThrow('does not name its buyer')
})

it('stores the email address of a business with its documents, and not that of a consumer', () => {
  const business = invoice()
  expect([isForBusiness(business), business.buyer?.email]).toEqual([true, 'guest@shop.example'])
  const consumer = invoice({ contact: { firstName: 'Lena' }, billingAddress: { city: 'Kiel', country: 'DE' } })
  expect([isForBusiness(consumer), consumer.buyer?.email, consumer.buyer?.shipTo]).toEqual([
    false,
    undefined,
    undefined
  ])
})
