import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { recordRefund } from '../../src/shop/orders/transition.ts'
import { setSetting, unsetSetting } from '../../src/shop/settings/settings.ts'
import { checkOut, handoff, mug, set } from '../api/checkout-support.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
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
