import { expect, test } from 'vitest'
import { look, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })

test('a buyer chooses the shipping in the cart, and sees each total at once', async () => {
  const { page } = await newVisitor(browser)
  await page.goto(`${shop.url}/products/storm-lantern`)
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.goto(`${shop.url}/cart`)
  await page.getByLabel('Country').selectOption('DE')
  await page.getByText('the next working day').waitFor()
  const total = page.locator('[data-sum=total]')
  const shipping = page.locator('[data-sum=shipping]')
  await expect.poll(() => shipping.textContent()).toBe('€4.90')
  await page.getByLabel('Express').check()
  await expect.poll(() => shipping.textContent()).toBe('€12.00')
  await look(page, 'cart-shipping')
  await page.getByLabel('Country').selectOption('AT')
  await expect.poll(() => shipping.textContent()).toBe('€12.60')
  await page.getByLabel('Country').selectOption('DE')
  await expect.poll(() => shipping.textContent()).toBe('€4.90')
  expect(await total.textContent()).not.toBe('')
})

test('the page of an order, which has no script, offers the methods and shows another total before the order', async () => {
  const { page } = await newVisitor(browser)
  const { data } = await shop
    .visitor()
    .post<{ checkoutUrl: string }>('/store/checkout-session', { items: [{ productId: 1, quantity: 1 }] })
  await page.goto(data.checkoutUrl)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await page.getByLabel('Country').selectOption('DE')
  await page
    .getByRole('button', { name: /^(Change country|Continue)$/ })
    .last()
    .click()
  await page.getByLabel('Street and number').fill('Quay 7')
  await page.getByLabel('Postcode').fill('20457')
  await page.getByLabel('Town or city').fill('Hamburg')
  await look(page, 'hosted-shipping')
  await page.getByLabel('Express').check()
  await page.getByLabel('Bank transfer or cash').check()
  await page
    .getByRole('button', { name: /^Order for/ })
    .last()
    .click()
  await page.getByText('With this address and shipping').waitFor()
  await look(page, 'hosted-shipping-confirm')
  await page
    .getByRole('button', { name: /^Order for/ })
    .last()
    .click()
  await page.waitForURL(/checkout\/done/)
  await look(page, 'order-shipping')
})
