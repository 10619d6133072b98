import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { fillAddress, look, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()
beforeEach(() => shop.app.sandbox?.clearFaults())

const loseWebhooks = () => void shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
const newest = () =>
  shop.app.db.sqlite.prepare('SELECT id, status, public_token AS token FROM orders ORDER BY id DESC').get() as {
    id: number
    status: string
    token: string
  }
const stock = (slug: string) =>
  shop.app.db.sqlite.prepare('SELECT stock FROM products WHERE slug = ?').pluck().get(slug)
const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor()

/** Fills the cart as a guest and goes to the gateway's page. */
async function goToPayment(page: Page, slug = 'beeswax-pillar'): Promise<void> {
  await page.goto(`${shop.url}/products/${slug}`)
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.goto(`${shop.url}/cart`)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
}

test('the thank-you page never says that an order is paid because its address says so', async () => {
  const { page, complaints } = await newVisitor(browser)
  for (const query of ['orderId=999999&result=success', 'orderId=1&orderToken=unknown&result=success', '']) {
    await page.goto(`${shop.url}/thanks?${query}`)
    const text = await page.getByRole('main').innerText()
    expect(text).not.toMatch(/paid|Thank you|on its way/)
    expect(text).toMatch(/We cannot show this order|Something went wrong/)
  }
  await look(page, 'thanks-unknown')
  expect(complaints).toEqual([])
})

test('a guest sees the paid order by its token, without the webhook, and the next cart is not emptied by a reload', async () => {
  loseWebhooks()
  const { page, complaints } = await newVisitor(browser)
  await goToPayment(page)
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.waitForURL('**/thanks')
  await heading(page, 'Thank you for your order')
  await page.getByText('The receipt goes to g…@example.com.').waitFor()
  expect(newest().status).toBe('processing')
  await look(page, 'thanks-guest')
  const back = page.url()
  expect(back).toBe(`${shop.url}/thanks`)
  await page.goto(`${shop.url}/products/lamp-oil`)
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.goto(back)
  await heading(page, 'Thank you for your order')
  await page.goto(`${shop.url}/cart`)
  await page.getByText('Lamp oil').first().waitFor()
  expect(complaints).toEqual([])
})

test('an order that the bank is deciding about is followed until it is decided', async () => {
  loseWebhooks()
  const { page, complaints } = await newVisitor(browser)
  await goToPayment(page)
  await page.evaluate("document.querySelector('input[name=payment_method]').value = 'pm_sandbox_processing'")
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.waitForURL('**/thanks')
  await heading(page, 'Your bank has not confirmed the payment yet')
  await look(page, 'thanks-bank')
  await expect
    .poll(
      async () => {
        await settlePayments(shop.app)
        return newest().status
      },
      { timeout: 20_000, interval: 500 }
    )
    .toBe('processing')
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor({ timeout: 40_000 })
  expect(complaints).toEqual([])
}, 90_000)

test('without script, the thank-you page shows the order and leads to its page', async () => {
  const { page } = await newVisitor(browser, { javaScriptEnabled: false })
  await page.goto(`${shop.url}/thanks?orderToken=${newest().token}&result=success`)
  await heading(page, 'Thank you for your order')
  await page.getByRole('link', { name: 'Page of the order' }).click()
  await heading(page, 'Thank you for your order')
})

test('Cancel on the payment page releases the last piece, and the same buyer can buy it again', async () => {
  const { page, complaints } = await newVisitor(browser)
  const before = stock('last-lantern')
  await goToPayment(page, 'last-lantern')
  expect(stock('last-lantern')).toBe(Number(before) - 1)
  await page.getByRole('button', { name: 'Cancel and return' }).click()
  await page.waitForURL('**/cart')
  await page.getByText('You have not been charged. Your cart is unchanged.').waitFor()
  expect([newest().status, stock('last-lantern')]).toEqual(['cancelled', before])
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  expect(newest().status).toBe('pending')
  await page.getByRole('button', { name: 'Cancel and return' }).click()
  await page.waitForURL('**/cart')
  expect(complaints).toEqual([])
})

test('Back from the payment page continues the same order, and a changed cart replaces it', async () => {
  const { page, complaints } = await newVisitor(browser)
  await goToPayment(page, 'last-lantern')
  const first = newest()
  const paymentPage = page.url()
  await page.goBack()
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL(paymentPage)
  expect(newest()).toEqual(first)

  await goToPayment(page, 'lamp-oil')
  expect(newest().id).toBe(first.id + 1)
  await page.goto(`${shop.url}/checkout/done/${first.token}`)
  await heading(page, 'This order was cancelled')
  await page.goto(paymentPage)
  await heading(page, 'This payment page has expired')
  expect(complaints).toEqual([])
})

test('an unpaid order is paid or cancelled from the thank-you page and from the page of the order', async () => {
  const { page, complaints } = await newVisitor(browser)
  await goToPayment(page)
  const { token } = newest()
  await page.goto(`${shop.url}/thanks?orderToken=${token}&result=success`)
  await heading(page, 'Your order is not paid yet')
  await page.getByRole('link', { name: 'Pay now' }).waitFor()
  await look(page, 'thanks-unpaid')
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await heading(page, 'This order was cancelled')
  expect(newest().status).toBe('cancelled')
  await look(page, 'thanks-cancelled')

  await page.goto(`${shop.url}/cart`)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  await page.goto(`${shop.url}/checkout/done/${newest().token}`)
  await look(page, 'order-unpaid-actions')
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await heading(page, 'This order was cancelled')
  await page.goBack()
  await page.reload()
  await heading(page, 'This order was cancelled')
  expect(complaints).toEqual([])
})
