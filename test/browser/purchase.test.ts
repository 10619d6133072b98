import { expect, test } from 'vitest'
import { addToCart, fillAddress, logIn, look, newVisitor } from './support/chromium.ts'
import { demoPassword, openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()

const newest = () =>
  shop.app.db.sqlite.prepare('SELECT id, status, total_minor AS total FROM orders ORDER BY id DESC').get() as {
    id: number
    status: string
    total: number
  }

test('a visitor whom an affiliate sent registers, buys on the payment page, and finds the order without its attribution', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.goto(`${shop.url}/?ref=mira&campaign=spring&utm_source=newsletter&utm_medium=email`)
  await page.getByRole('link', { name: 'Beeswax pillar candle' }).click()
  await page.getByLabel('Quantity').fill('2')
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.goto(`${shop.url}/register?next=/cart`)
  await page.getByLabel('Your name').fill('Ada Quill')
  await page.getByLabel('Email', { exact: true }).fill('ada@example.com')
  await page.getByLabel('Password').fill('tidal-basalt-93')
  await page.getByLabel('I accept the terms').check()
  await page.getByRole('button', { name: 'Create my account' }).click()
  await page.waitForURL(`${shop.url}/cart`)
  await fillAddress(page)
  await page.getByText('Add a coupon or gift card').click()
  await page.getByLabel('Coupon').fill('WELCOME10')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  await look(page, 'sandbox-checkout')
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.waitForURL('**/thanks')
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
  await look(page, 'thanks-paid')
  expect(newest()).toMatchObject({ status: 'processing', total: 3370 })

  await page.getByRole('link', { name: 'My orders' }).click()
  await page.getByRole('article').waitFor()
  expect(await page.locator('main').innerText()).not.toMatch(/utm|affiliate|mira|newsletter/i)
  await look(page, 'orders')
  await page.goto(`${shop.url}/cart`)
  await page.getByRole('heading', { name: 'Your cart is empty' }).waitFor()
  await look(page, 'cart-empty')
  expect(complaints).toEqual([])
})

test('a card is paid with on the site itself: declined in customer-safe words, asked about by the bank, taken', async () => {
  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, 'lena@shop.example', demoPassword)
  await addToCart(page, shop.url, 'enamel-kettle')
  await fillAddress(page)
  await page.getByText('Here, with a test card').click()
  const card = page.getByLabel('Test card', { exact: true })
  const pay = page.getByRole('button', { name: 'Order and pay' })
  const tries: [string, RegExp][] = [
    ['pm_card_chargeDeclined', /Your card was declined/],
    ['pm_card_visa_chargeDeclinedInsufficientFunds', /insufficient funds/],
    ['pm_card_chargeDeclinedExpiredCard', /has expired/],
    ['pm_sandbox_code_fraud', /was blocked/]
  ]
  for (const [token, words] of tries) {
    await card.selectOption(token)
    await pay.click()
    await page.getByRole('alert').filter({ hasText: words }).waitFor()
    expect(newest().status).toBe('failed')
  }
  await look(page, 'cart-declined')

  await card.selectOption('pm_card_authenticationRequired')
  await pay.click()
  await page.waitForURL('**/sandbox/3ds/**')
  await look(page, 'sandbox-3ds')
  await page.getByRole('button', { name: 'Refuse' }).click()
  await page.waitForURL('**/thanks**')
  await page.getByRole('heading', { name: 'The payment did not go through' }).waitFor()
  await look(page, 'thanks-declined')
  expect(newest().status).toBe('failed')

  await page.getByRole('link', { name: 'Back to the cart' }).click()
  await fillAddress(page)
  await page.getByText('Here, with a test card').click()
  await card.selectOption('pm_card_authenticationRequired')
  await pay.click()
  await page.waitForURL('**/sandbox/3ds/**')
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.waitForURL('**/thanks**')
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
  expect(newest().status).toBe('processing')
  expect(complaints).toEqual([])
})

test('a double click buys once', async () => {
  const { page } = await newVisitor(browser)
  await logIn(page, shop.url, 'lena@shop.example', demoPassword)
  await addToCart(page, shop.url, 'lamp-oil')
  await fillAddress(page)
  await page.getByText('Here, with a test card').click()
  const before = newest().id
  await page.getByRole('button', { name: 'Order and pay' }).dblclick()
  await page.waitForURL('**/thanks**')
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
  expect(newest().id).toBe(before + 1)
})

test('a guest buys without an account, and is told at the field what is wrong', async () => {
  const { page, complaints } = await newVisitor(browser)
  await addToCart(page, shop.url, 'hurricane-lamp')
  await page.getByRole('button', { name: 'Continue' }).click()
  expect(await page.evaluate('document.activeElement.id')).toBe('email')
  await look(page, 'cart-errors')
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await page.getByText('Add a coupon or gift card').click()
  await page.getByLabel('Coupon').fill('EXPIRED')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByText('This code has expired.').waitFor()
  await page.getByLabel('Coupon').fill('')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  await page.getByRole('button', { name: 'Cancel and return' }).click()
  await page.waitForURL('**/cart')
  await page.getByText('You have not been charged').waitFor()
  await look(page, 'cart')
  await page.getByRole('button', { name: 'Order and pay' }).waitFor()
  expect(complaints).toEqual([])
})
