import { expect, it } from 'vitest'
import { taxReport } from '../../src/operations/reports/tax.ts'
import { shopDay } from '../../src/shop/settings/shop-days.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { listOrdersToPack } from '../../src/shop/shipments/pack-list.ts'
import { shipOrder } from '../../src/shop/shipments/ship-order.ts'
import { quay } from '../support/addresses.ts'
import { nextMail } from '../support/mail-files.ts'
import { openShop, pay, productId, withLoopback } from './shop.ts'

const catalog = {
  products: [
    { slug: 'lantern', name: 'Lantern', price: '48.00', weightGrams: 900 },
    { slug: 'almanac', name: 'Almanac', price: '10.70', weightGrams: 200, taxClass: 'reduced' }
  ],
  coupons: [{ code: 'TEN', percent: 10 }],
  shipping: [
    {
      zone: 'Germany',
      countries: ['DE'],
      methods: [
        { id: 'parcel', name: 'Parcel', amount: '4.90' },
        { id: 'express', name: 'Express', amount: '12.00' }
      ]
    }
  ],
  tax: [
    { country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' },
    { country: 'DE', class: 'reduced', ratePercent: 7, name: 'VAT' }
  ]
}

type Document = { number: string; html: string; pdf: Buffer }

/** The invoice at an address, or a credit note, and its PDF. */
async function documentAt(url: string): Promise<Document> {
  const html = await (await fetch(url)).text()
  const pdfUrl = /href="([^"]+format=pdf)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const pdf = Buffer.from(await (await fetch(withLoopback(pdfUrl))).arrayBuffer())
  return { number: /<dt>\w[\w ]* number<\/dt><dd>([^<]+)/.exec(html)?.[1] ?? '', html, pdf }
}

it('an order is quoted, paid, invoiced, shipped in two parts and refunded in part, and every sum is the same', async () => {
  const shop = await openShop(catalog, { 'shop.country': 'DE' })
  const { db } = shop.app
  const buyer = shop.visitor()
  const body = {
    items: ['lantern', 'almanac'].map((slug) => ({ productId: productId(shop, slug), quantity: 2 })),
    couponCode: 'TEN',
    customer: { email: 'lena@example.com' },
    shippingAddress: { ...quay, firstName: 'Lena', lastName: 'Ray' },
    billingAddress: { country: 'DE' },
    shippingMethod: 'express'
  }
  // 2 × 48 + 2 × 10.70 - 10 % + 12. The shipping has the rates of the goods, in proportion to their prices.
  const taxes = [
    { name: 'VAT', ratePercent: 19, amount: 15.36 },
    { name: 'VAT', ratePercent: 7, amount: 1.4 }
  ]
  const sums = { subtotal: 117.4, discount: 11.74, total: 117.66 }
  const { data: quote } = await buyer.post('/store/quote', body)
  expect(quote).toMatchObject({
    ...sums,
    payable: true,
    shipping: { amount: 12 },
    tax: { amount: 16.76, lines: taxes }
  })

  const { data: placed } = await buyer.post<Record<string, string>>('/store/checkout-session', body)
  const id = Number(placed['orderId'])
  const read = async () =>
    (await buyer.get<{ order: { invoiceUrl: string } }>(`/store/orders/${placed['orderToken']}`)).data.order
  expect(await read()).toMatchObject({ status: 'pending', invoiceUrl: null })
  expect(shop.app.sandbox?.findCheckout({ clientReferenceId: String(id) })?.amount_total).toBe(11_766)
  await pay(buyer, { orderId: id, url: withLoopback(placed['checkoutUrl'] ?? '') })
  const paid = await read()
  expect(paid).toMatchObject({ status: 'processing', totals: { ...sums, shipping: 12, tax: 16.76, taxIncluded: true } })

  const invoice = await documentAt(withLoopback(paid.invoiceUrl))
  expect(await (await buyer.fetch(withLoopback(paid.invoiceUrl))).text()).toContain('<span>Lena Ray</span><span>Quay 7')
  expect(invoice.html).not.toContain('Lena Ray')
  expect(invoice.html).toMatch(/Lantern[^]*<td>19 %<\/td><td>€96.00<\/td>[^]*Almanac[^]*<td>7 %<\/td><td>€21.40<\/td>/)
  expect(invoice.html).toMatch(/€11.74[^]*€12.00[^]*Total<\/dt><dd>€117.66[^]*19 % VAT of €[\d.]+ net<\/dt><dd>€15.36/)
  expect(invoice.pdf.subarray(0, 5).toString()).toBe('%PDF-')

  expect([...listOrdersToPack(db)]).toMatchObject([
    { id, weightGrams: 2200, shippingMethod: 'Express', lines: [{ line: 1 }, { line: 2 }] }
  ])
  const parcel = { carrier: 'DHL', tracking: '00340', url: null }
  shipOrder(db, id, { ...parcel, items: [{ line: 1, quantity: 1 }] }, 'operator', shop.clock.now())
  expect([...listOrdersToPack(db)]).toMatchObject([{ weightGrams: 1300, lines: [{ quantity: 1 }, { quantity: 2 }] }])
  expect(await read()).toMatchObject({
    status: 'processing',
    shipments: [{ lines: [{ name: 'Lantern', quantity: 1 }] }]
  })
  shipOrder(db, id, { ...parcel, items: null }, 'operator', shop.clock.now())
  expect(await read()).toMatchObject({ status: 'completed', shipments: [{}, { carrier: 'DHL', tracking: '00340' }] })

  await refundOrder(shop.app, id, { amountMinor: 2000 }, 'operator')
  await shop.app.sandbox?.deliverDue()
  const refund = await nextMail(shop.dataDir, 'lena@example.com', 4)
  const [noteUrl = ''] = /http\S+number=\S+/.exec(refund.text) ?? []
  const note = await documentAt(withLoopback(noteUrl))
  expect(note.html).toMatch(/<h1>Credit note<\/h1>[^]*Total credited<\/dt><dd>€20.00[^]*€2.61[^]*€0.24/)
  expect(note.html).toContain(`This credit note reduces invoice ${invoice.number}.`)

  const today = shopDay(db, shop.clock.now())
  const { totals } = await taxReport.make({ db }, { from: today, to: today }, 0)
  expect(totals).toEqual([{ currency: 'EUR', net: 83.75, tax: 13.91, gross: 97.66 }])
})
