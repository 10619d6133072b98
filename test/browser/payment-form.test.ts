import { expect, test } from 'vitest'
import { newVisitor } from './support/chromium.ts'
import type { Visitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'
import { guidePage, serveGuide } from './support/guide-site.ts'

const { shop, browser } = await openDemoShop({ SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1,::1' })
const site = await serveGuide(shop.url, { '/pay': guidePage('createPaymentForm') })

async function openForm(): Promise<Visitor> {
  const visitor = await newVisitor(browser)
  await visitor.page.goto(`${site}/pay`)
  await visitor.page.getByLabel('Test card').waitFor()
  return visitor
}

/** The order that the address of the thank-you page names, as the shop has it. */
async function orderAt(address: string): Promise<{ status: string; result: string | null }> {
  const query = new URL(address).searchParams
  const { data } = await shop.visitor().get<{ order: { status: string } }>(`/store/orders/${query.get('orderToken')}`)
  return { status: data.order.status, result: query.get('result') }
}

test('a buyer pays in the form on the site’s own page, after an empty form and a declined card, with one order', async () => {
  const { page, complaints } = await openForm()
  const pay = page.getByRole('button', { name: 'Order and pay' })
  await pay.click()
  await page.locator('#message', { hasText: 'Choose a card.' }).waitFor()
  await page.getByLabel('Test card').selectOption('pm_card_visa_chargeDeclined')
  await pay.click()
  await page.locator('#message', { hasText: 'declined' }).waitFor()
  await page.getByLabel('Test card').selectOption('pm_card_visa')
  await pay.dblclick()
  await page.getByRole('heading', { name: 'The page thanks' }).waitFor()
  expect(await orderAt(page.url())).toEqual({ status: 'processing', result: 'success' })
  expect(complaints).toEqual([])
})

test('a buyer confirms a payment at their bank, and comes back to the site', async () => {
  const { page } = await openForm()
  await page.getByLabel('Test card').selectOption('pm_card_threeDSecure2Required')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: 'The page thanks' }).waitFor()
  // The bank leads to the site's own address, with what Stripe appends. The typed client knows which order it is.
  const paymentId = new URL(page.url()).searchParams.get('payment_intent')
  const stored = await page.evaluate<string>("localStorage.getItem('shopstead.payments')")
  const payments = JSON.parse(stored) as { paymentId: string; orderToken: string }[]
  const { orderToken } = payments.find((each) => each.paymentId === paymentId) ?? { orderToken: 'none' }
  expect(await orderAt(`${site}/?orderToken=${orderToken}`)).toEqual({ status: 'processing', result: null })
})
