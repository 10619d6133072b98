import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { fetchImages } from '../../src/shop/catalog/images/fetch-images.ts'
import { shipOrder } from '../../src/shop/shipments/ship-order.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { logIn, look, newVisitor, printedPages } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()
const { db } = shop.app
await fetchImages(shop.app, {})
const password = 'quiet-heron-lands-7'
const email = 'ines@shop.example'
const buyer = shop.visitor()
await buyer.register({ email, password })

const address = {
  firstName: 'Inês',
  lastName: 'Núñez',
  address1: 'Quay 7',
  postcode: '20457',
  city: 'Hamburg',
  country: 'DE'
}

async function place(slugs: readonly string[], strategy = 'redirect_to_store') {
  const items = slugs.map((slug) => ({
    productId: db.sqlite.prepare('SELECT id FROM products WHERE slug = ?').pluck().get(slug),
    quantity: 2
  }))
  const answer = await buyer.post<{ orderId: string; orderToken: string }>('/store/checkout-session', {
    items,
    strategy,
    couponCode: 'WELCOME10',
    shippingAddress: address,
    shippingMethod: 'express'
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return { ...answer.data, id: Number(answer.data.orderId) }
}

/** The sum of the lines, the discount, the shipping, the total and the VAT that a page of an order shows. */
async function sumsOf(page: Page): Promise<number[]> {
  const amounts = async (selector: string): Promise<number[]> =>
    (await page.locator(`.summary ${selector} .amount`).allInnerTexts()).map((text) => Number(text.replace('€', '')))
  const lines = await amounts('tbody')
  return [lines.reduce((sum, amount) => sum + amount, 0), ...(await amounts('tfoot'))]
}

test('a customer opens an order, sees what was shipped to them, and orders what is still sold again', async () => {
  const { id } = await place(['beeswax-pillar', 'enamel-kettle', 'storm-lantern'])
  write(db, (tx) => moveOrder(tx, id, 'processing', { by: 'test', reason: 'paid' }, Date.now()))
  const parcel = { carrier: 'UPS', tracking: '1Z9', url: null, items: [{ line: 1, quantity: 2 }] }
  shipOrder(db, id, parcel, 'test', Date.now())
  db.sqlite.prepare("UPDATE products SET stock = 1 WHERE slug = 'enamel-kettle'").run()
  db.sqlite.prepare("UPDATE products SET published = 0 WHERE slug = 'storm-lantern'").run()

  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, email, password)
  await page.goto(`${shop.url}/orders`)
  await page.getByRole('link', { name: `Order ${id}` }).click()
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
  const text = await page.locator('main').innerText()
  expect(text).toMatch(/Inês Núñez\s+Quay 7\s+20457 Hamburg\s+Germany/)
  // The lines, less the discount and with the shipping, are the total, which includes the VAT.
  const [sum = 0, discount = 0, shipping = 0, total = 0, vat = 0] = await sumsOf(page)
  expect([sum, discount, shipping, total]).toEqual([236, -23.6, 12, 224.4])
  expect(vat).toBeCloseTo((total * 19) / 119, 2)
  expect(text).not.toMatch(/utm|attribution|Billing address/i)
  expect(await page.getByRole('link', { name: 'Track UPS' }).getAttribute('href')).toContain('1Z9')
  expect(await shownPictures(page, '.summary tbody')).toBe(3)
  await look(page, 'order')
  await page.getByRole('link', { name: /^Invoice / }).click()
  await page.getByRole('heading', { name: 'Invoice' }).waitFor()
  await look(page, 'invoice')
  expect(await printedPages(page)).toBe(1)
  await page.goBack()

  await page.getByRole('button', { name: 'Order again' }).click()
  await page.getByText('Your cart has what can still be bought').waitFor()
  expect(await page.locator('main').getByRole('status').innerText()).toMatch(/is not sold any more[\s\S]*only 1 left/)
  await look(page, 'order-again')
  await page.getByRole('link', { name: 'Go to the cart' }).click()
  await page.getByRole('heading', { name: 'How would you like to pay?' }).waitFor()
  const lines = page.locator('.lines li')
  expect([await lines.count(), await shownPictures(page, '.lines')]).toEqual([2, 2])
  db.sqlite.prepare("UPDATE products SET published = 1 WHERE slug = 'storm-lantern'").run()
  db.sqlite.prepare("UPDATE products SET stock = NULL WHERE slug = 'enamel-kettle'").run()
  expect(complaints).toEqual([])
})

/** The number of pictures that are loaded. */
async function shownPictures(page: Page, place: string): Promise<number> {
  await page.waitForLoadState('networkidle')
  const selector = JSON.stringify(`${place} .art img`)
  const widths = await page.evaluate<number[]>(
    `[...document.querySelectorAll(${selector})].map((image) => image.naturalWidth)`
  )
  return widths.filter((width) => width > 0).length
}

test('a cart that forms without script filled has pictures, with and without script', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.context().addCookies([{ name: 'shopstead_cart', value: '1x2.3x1', url: shop.url }])
  await page.goto(`${shop.url}/cart`)
  await page.locator('.lines .art img').nth(1).waitFor()
  expect(await shownPictures(page, '.lines')).toBe(2)
  await look(page, 'cart-pictures')
  const storageState = await page.context().storageState()
  const { page: plain } = await newVisitor(browser, { javaScriptEnabled: false, storageState })
  await plain.goto(`${shop.url}/cart`)
  expect(await shownPictures(plain, '.lines')).toBe(2)
  expect(complaints).toEqual([])
})

test('a customer pays an open order from its page, and cancels another one', async () => {
  const open = await place(['enamel-kettle'])
  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, email, password)
  await page.goto(`${shop.url}/orders/${open.id}`)
  await page.getByRole('heading', { name: 'Your order is not paid yet' }).waitFor()
  await look(page, 'order-open')
  await page.getByRole('link', { name: 'Pay now' }).click()
  await page.waitForURL(/checkout/)
  await page.goBack()
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await page.getByRole('heading', { name: 'This order was cancelled' }).waitFor()
  expect(await page.getByRole('button', { name: 'Cancel the order' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Order again' }).waitFor()
  await look(page, 'order-cancelled')
  expect(complaints).toEqual([])
})

test('the page of an order that is not theirs leads a customer to their orders, and a guest to the login and back', async () => {
  const { id } = await place(['enamel-kettle'])
  const { page, complaints } = await newVisitor(browser)
  await page.goto(`${shop.url}/orders/${id}`)
  await page.getByRole('heading', { name: 'Please log in' }).waitFor()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`${shop.url}/orders/${id}`)
  await page.getByRole('heading', { name: 'Your order is not paid yet' }).waitFor()
  await page.goto(`${shop.url}/orders/999999`)
  await page.getByRole('heading', { name: 'We cannot find this order' }).waitFor()
  await look(page, 'order-unknown')
  await page.getByRole('link', { name: 'My orders' }).first().click()
  await page.waitForURL(`${shop.url}/orders`)
  expect(complaints).toEqual([])
})
