import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { recordRefund } from '../../src/shop/orders/transition.ts'
import { setSetting, unsetSetting } from '../../src/shop/settings/settings.ts'
import { checkOut, handoff, mug, set } from '../api/checkout-support.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { brokenRules } from '../support/e-invoices/rules.ts'
import { ublTerms } from '../support/e-invoices/terms.ts'
import { makeGerman } from '../shop/invoices/cases.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { mailsTo, nextMail } from '../support/mail-files.ts'

type Listed = { orders: { id: number; invoiceUrl: string | null }[] }

let shop: RunningShop
let buyer: Browser
beforeAll(async () => {
  shop = await startShop()
  set(shop, withoutHoldLimits)
  buyer = shop.visitor()
})
afterAll(() => shop.stop())

async function buy(visitor = shop.visitor(), body: object = handoff): Promise<{ id: number; token: string }> {
  const billingAddress = {
    firstName: 'Ada',
    lastName: '<b>Quill</b>',
    address1: 'Quay 7',
    postcode: '20457',
    city: 'Hamburg',
    country: 'DE'
  }
  const { data } = await checkOut(visitor, {
    items: [mug],
    billingAddress,
    customer: { email: 'ada@example.com' },
    ...body
  })
  return { id: Number(data.orderId), token: data.orderToken }
}
const onLoopback = (url: string | null | undefined): string => (url ?? '').replace('//localhost:', '//127.0.0.1:')
const page = (token: string, query = '') => buyer.fetch(`${shop.url}/checkout/invoice/${token}${query}`)

it('shows the invoice of a paid order in the browser that bought it', async () => {
  const { token } = await buy(buyer)
  const response = await page(token)
  const html = await response.text()
  expect([response.status, response.headers.get('cache-control'), response.headers.get('x-robots-tag')]).toEqual([
    200,
    'no-store',
    'noindex'
  ])
  expect(html).toMatch(/<h1>Invoice<\/h1>[^]*<span>Ada &lt;b&gt;Quill&lt;\/b&gt;<\/span><span>Quay 7<\/span>/)
  expect(html).toContain('<bdi>Mug</bdi>')
})

it('sends the invoice as a PDF', async () => {
  const { token, id } = await buy()
  const response = await page(token, '?format=pdf')
  expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    200,
    'application/pdf',
    'no-store'
  ])
  const [invoice] = documentsOf(shop.app.db, id)
  expect(response.headers.get('content-disposition')).toBe(`inline; filename="${invoice?.number}.pdf"`)
  expect(
    Buffer.from(await response.arrayBuffer())
      .subarray(0, 5)
      .toString()
  ).toBe('%PDF-')
})

describe('an electronic invoice', () => {
  const business = {
    ...handoff,
    billingAddress: { company: 'Hafen & Co', address1: 'Kai 1', postcode: '24103', city: 'Kiel', country: 'DE' },
    customer: { email: 'bill@hafen.example', firstName: 'Ada', lastName: 'Quill' },
    buyerReference: '04011000-1234512345-06'
  }
  beforeAll(() => {
    makeGerman(shop.app.db)
    set(shop, withoutHoldLimits)
  })

  it('is linked for a business, downloaded in two forms, and attached to the receipt', async () => {
    const visitor = shop.visitor()
    const { id, token } = await buy(visitor, business)
    const read = (format: string) => visitor.fetch(`${shop.url}/checkout/invoice/${token}?format=${format}`)
    const html = await (await visitor.fetch(`${shop.url}/checkout/invoice/${token}`)).text()
    expect(html).toContain('?format=facturx">Factur-X / ZUGFeRD</a>')
    expect(html).toContain('?format=xrechnung">XRechnung</a>')
    const [facturx, xrechnung] = [await read('facturx'), await read('xrechnung')]
    expect([facturx, xrechnung].map(({ status, headers }) => [status, headers.get('content-type')])).toEqual([
      [200, 'application/pdf'],
      [200, 'application/xml; charset=utf-8']
    ])
    expect(Buffer.from(await facturx.arrayBuffer()).includes('factur-x.xml')).toBe(true)
    const source = await xrechnung.text()
    expect(brokenRules(ublTerms(source), 'XRechnung')).toEqual([])
    const { attachments } = await nextMail(shop.dataDir, business.customer.email)
    const number = documentsOf(shop.app.db, id)[0]?.number
    expect(attachments?.map(({ name, type }) => [name, type])).toEqual([
      [`${number}.xml`, 'application/xml; charset=utf-8']
    ])
    expect(Buffer.from(attachments?.[0]?.base64 ?? '', 'base64').toString()).toBe(source)
  })

  it('is attached as Factur-X without a reference, also to the mail of a refund', async () => {
    const { buyerReference: _none, ...without } = business
    const customer = { ...business.customer, email: 'office@hafen.example' }
    const { id } = await buy(shop.visitor(), { ...without, customer })
    const cause = { by: 'operator', reason: 'a dent' }
    write(shop.app.db, (tx) => void recordRefund(tx, id, 100, cause, shop.app.clock.now()))
    await nextMail(shop.dataDir, customer.email, 2)
    const mails = mailsTo(shop.dataDir, customer.email).flatMap(({ attachments = [] }) => attachments)
    const documents = documentsOf(shop.app.db, id)
    expect(new Set(mails.map(({ name }) => name))).toEqual(new Set(documents.map(({ number }) => `${number}.pdf`)))
  })

  it('is refused for another form, another visitor, and a document that lacks something', async () => {
    const { token } = await buy(buyer, business)
    const other = await page(token, '?format=docx')
    expect(other.status).toBe(400)
    expect(await other.text()).toContain('format: Must be pdf, facturx, xrechnung, or absent for the page.')
    const visitor = await shop.visitor().fetch(`${shop.url}/checkout/invoice/${token}?format=xrechnung`)
    expect(visitor.status).toBe(404)
    makeGerman(shop.app.db, { 'shop.legal.phone': '' })
    const lacking = await page((await buy(buyer, business)).token, '?format=xrechnung')
    expect([lacking.status, (await lacking.text()).includes('it lacks shop.legal.phone')]).toEqual([409, true])
    makeGerman(shop.app.db)
  })
})

it('counts a PDF as a checkout for the limit of its address', async () => {
  const { token } = await buy()
  setSetting(shop.app.db, 'limits.checkout_ip', '1/600', 0)
  const statuses = [(await page(token, '?format=pdf')).status, (await page(token, '?format=pdf')).status]
  expect(statuses.at(-1)).toBe(429)
  expect((await page(token)).status).toBe(200)
  unsetSetting(shop.app.db, 'limits.checkout_ip')
})

it('is 404 for an unknown token, an unpaid order, and the number of another order', async () => {
  const [one, other] = [await buy(), await buy()]
  const unpaid = await buy(shop.visitor(), {})
  const number = documentsOf(shop.app.db, other.id)[0]?.number
  const statuses = [await page('unknown'), await page(unpaid.token), await page(one.token, `?number=${number}`)]
  expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404])
})

it('links the invoice and the credit notes from the order, its page and its emails', async () => {
  const customer = shop.visitor()
  await customer.register({ email: 'lena@example.com' })
  const { id, token } = await buy(customer)
  const url = `${shop.app.publicUrl()}/checkout/invoice/${token}`
  const { data } = await customer.get<Listed>('/orders')
  const { invoiceUrl } = data.orders[0] ?? {}
  expect([data.orders[0]?.id, invoiceUrl?.split('?proof=')[0]]).toEqual([id, url])
  expect(await (await shop.visitor().fetch(onLoopback(invoiceUrl))).text()).toContain('<span>Quay 7</span>')
  expect((await buyer.get<{ order: object }>(`/store/orders/${token}`)).data.order).toMatchObject({ invoiceUrl: url })
  const cause = { by: 'operator', reason: 'a dent' }
  write(shop.app.db, (tx) => void recordRefund(tx, id, 100, cause, shop.app.clock.now()))
  const note = documentsOf(shop.app.db, id)[1]?.number ?? ''
  const orderPage = await (await buyer.fetch(`${shop.url}/checkout/done/${token}`)).text()
  expect(orderPage).toContain(`<a href="${url}?number=${note}">Credit note ${note}</a>`)
  expect(await (await page(token, `?number=${note}`)).text()).toContain('<h1>Credit note</h1>')
  await nextMail(shop.dataDir, 'lena@example.com', 2)
  const mails = mailsTo(shop.dataDir, 'lena@example.com').map(({ text }) => text)
  expect(mails.some((text) => text.includes(`View your invoice:\n${invoiceUrl}\n`))).toBe(true)
  expect(mails.some((text) => text.includes(`View your credit note:\n${url}?number=${note}&proof=`))).toBe(true)
})
