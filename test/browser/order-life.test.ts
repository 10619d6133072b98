import { expect, test } from 'vitest'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { shipOrder } from '../../src/shop/shipments/ship-order.ts'
import { addToCart, fillStreet, look, newVisitor, picture, picturePdf, printedPages } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()
const { db } = shop.app

test('an order lives from the cart with shipping and VAT to its invoice, a parcel, a partial refund and its credit note', async () => {
  const { page, complaints } = await newVisitor(browser)
  await addToCart(page, shop.url, 'storm-lantern')
  await addToCart(page, shop.url, 'beeswax-pillar')
  await page.getByLabel('Quantity of Beeswax pillar candle').fill('3')
  await page.getByLabel('Email for the receipt').fill('lena@example.com')
  await page.getByLabel('First name').fill('Lena')
  await page.getByLabel('Last name').fill('Núñez Çelik')
  await fillStreet(page)
  await page.getByLabel('Express').check()
  const total = page.locator('[data-sum=total]')
  await expect.poll(() => total.textContent()).toBe('€108.00')
  expect(await page.locator('.totals .tax').innerText()).toMatch(/incl\. 19% VAT\s+€17\.24/)
  await picture(page, 'life-1-cart')

  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  await picture(page, 'life-2-payment')
  await page.getByRole('button', { name: 'Pay €108.00' }).click()
  await page.waitForURL('**/thanks')
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
  await picture(page, 'life-3-thanks')

  await page.getByRole('link', { name: 'Page of the order' }).click()
  await page.waitForURL('**/checkout/done/**')
  const orderPage = page.url()
  await page.getByRole('link', { name: 'Invoice' }).click()
  await page.getByRole('heading', { name: 'Invoice' }).waitFor()
  const invoice = await page.locator('main').innerText()
  expect(invoice).toMatch(/Lena Núñez Çelik\s+Quay 7\s+20457 Hamburg/)
  expect(invoice).toMatch(/Shipping: Express parcel\s+€12\.00\s+Total\s+€108\.00\s+19 % VAT of €90\.76 net\s+€17\.24/)
  expect(await printedPages(page)).toBe(1)
  await look(page, 'life-4-invoice')
  await picturePdf(page, 'Download PDF', 'life-5-invoice-pdf')

  const { id } = db.sqlite.prepare('SELECT max(id) AS id FROM orders').get() as { id: number }
  const parcel = { carrier: 'DHL', tracking: '00340434161094015902', url: null }
  shipOrder(db, id, { ...parcel, items: [{ line: 1, quantity: 1 }] }, 'operator', Date.now())
  await page.goto(orderPage)
  await page.getByRole('link', { name: /Track/ }).waitFor()
  await picture(page, 'life-6-shipped-in-part')

  await refundOrder(shop.app, id, { amountMinor: 2000 }, 'operator')
  await expect
    .poll(async () => (await page.reload(), page.locator('.summary').innerText()))
    .toMatch(/Refunded\s+-€20\.00/)
  await look(page, 'life-7-refunded-in-part')
  await page.getByRole('link', { name: 'Credit note' }).click()
  await page.getByRole('heading', { name: 'Credit note' }).waitFor()
  expect(await page.locator('main').innerText()).toMatch(/Total credited\s+€20\.00\s+19 % VAT of €16\.81 net\s+€3\.19/)
  await look(page, 'life-8-credit-note')
  await picturePdf(page, 'Download PDF', 'life-9-credit-note-pdf')

  shipOrder(db, id, { ...parcel, items: null }, 'operator', Date.now())
  await page.goto(orderPage)
  await picture(page, 'life-10-shipped')
  expect(complaints).toEqual([])
})
