import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { addToCart, fillAddress, fillStreet, logIn, look, newVisitor } from './support/chromium.ts'
import { demoPassword, openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()

/** Sets the stock of a product until the test ends. */
function setStock(slug: string, stock: number | null): void {
  const { sqlite } = shop.app.db
  const before = sqlite.prepare('SELECT stock FROM products WHERE slug = ?').pluck().get(slug)
  const set = sqlite.prepare('UPDATE products SET stock = ? WHERE slug = ?')
  set.run(stock, slug)
  onTestFinished(() => void set.run(before, slug))
}

/** The line of a product in the cart. */
const line = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })

/** A row of the totals. */
const sum = (page: Page, name: string) => page.locator(`[data-sum=${name}]`)

test('a line says that only 2 are left, and a button corrects the quantity', async () => {
  const { page, complaints } = await newVisitor(browser)
  setStock('enamel-kettle', 2)
  await logIn(page, shop.url, 'lena@shop.example', demoPassword)
  await addToCart(page, shop.url, 'beeswax-pillar')
  await addToCart(page, shop.url, 'enamel-kettle')
  await page.getByLabel('Quantity of Enamel kettle').fill('5')
  const kettle = line(page, 'Enamel kettle')
  await kettle.getByText('Enamel kettle: only 2 left.').waitFor()
  expect(
    await line(page, 'Beeswax pillar candle')
      .getByText(/left|sold out/)
      .count()
  ).toBe(0)
  await look(page, 'cart-not-enough')
  await kettle.getByRole('button', { name: 'Change to 2' }).click()
  await kettle.getByText('only 2 left').waitFor({ state: 'detached' })
  expect(await page.getByLabel('Quantity of Enamel kettle').inputValue()).toBe('2')
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Quantity of Enamel kettle')
  expect(complaints).toEqual([])
})

test('a product that was sold out meanwhile says so on its line, costs nothing, and can be removed', async () => {
  const { page, complaints } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  const single = await sum(page, 'total').innerText()
  await addToCart(page, shop.url, 'stripe-blanket')
  setStock('stripe-blanket', 0)
  await page.reload()
  await line(page, 'Harbour stripe wool blanket').getByText('Harbour stripe wool blanket is sold out.').waitFor()
  expect(await sum(page, 'total').innerText()).toBe(single)
  await look(page, 'cart-sold-out')
  await page.getByRole('button', { name: 'Remove Harbour stripe wool blanket' }).click()
  await page.getByText('is sold out').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test.each([390, 1280])('a cart that fills itself does not move what a buyer sees, %i pixels wide', async (width) => {
  const { page } = await newVisitor(browser, { viewport: { width, height: 844 } })
  await addToCart(page, shop.url, 'beeswax-pillar')
  await page.addInitScript(`globalThis.shift = 0
    const add = (list) => { for (const { value } of list.getEntries()) globalThis.shift += value }
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })`)
  await page.reload()
  await page.getByLabel('Country').waitFor()
  await page.locator('.totals .tax').waitFor()
  expect(await page.evaluate('globalThis.shift')).toBeLessThan(0.01)
})

test('the total with a coupon is known before the order', async () => {
  const { page, complaints } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  await page.getByText('Add a coupon or gift card').click()
  const coupon = page.getByLabel('Coupon')
  await coupon.fill('EXPIRED')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('This code has expired.').waitFor()
  expect(await coupon.getAttribute('aria-invalid')).toBe('true')
  await coupon.fill('welcome10')
  await coupon.press('Enter')
  await page.getByText('WELCOME10 takes').waitFor()
  expect(await coupon.getAttribute('aria-invalid')).toBeNull()
  const [subtotal, discount, total] = await Promise.all(
    ['subtotal', 'discount', 'total'].map((name) => sum(page, name).innerText())
  )
  const amount = (text = ''): number => Number(text.replace(/[^\d.]/g, ''))
  expect(amount(discount)).toBeCloseTo(amount(subtotal) / 10, 2)
  expect(amount(total)).toBeCloseTo(amount(subtotal) - amount(discount), 2)
  await look(page, 'cart-coupon')
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await sum(page, 'shipping').filter({ hasText: '€4.90' }).waitFor()
  const shipped = amount(await sum(page, 'total').innerText())
  expect(shipped).toBeCloseTo(amount(total) + 4.9, 2)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  const order = shop.app.db.sqlite.prepare('SELECT total_minor AS total FROM orders ORDER BY id DESC').get()
  expect(order).toEqual({ total: Math.round(shipped * 100) })
  expect(complaints).toEqual([])
})

test('the answer to an older cart does not replace the answer to the newest one', async () => {
  const { page } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  const single = Number((await sum(page, 'total').innerText()).replace(/[^\d.]/g, ''))
  const held: (() => Promise<void>)[] = []
  await page.route('**/cart', async (route) => {
    const response = await route.fetch()
    if (held.length === 0) held.push(() => route.fulfill({ response }).catch(() => undefined))
    else await route.fulfill({ response })
  })
  const quantity = page.getByLabel('Quantity of Beeswax pillar candle')
  await quantity.fill('2')
  await expect.poll(() => held.length).toBe(1)
  await quantity.fill('3')
  const tripled = new RegExp((single * 3).toFixed(2).replace('.', String.raw`\.`))
  await sum(page, 'total').filter({ hasText: tripled }).waitFor()
  await held[0]?.()
  await page.reload()
  await sum(page, 'total').filter({ hasText: tripled }).waitFor()
})

test('a buyer who pays in the cart is charged the total that the page showed, or sees the new total first', async () => {
  const { page, complaints } = await newVisitor(browser)
  const { sqlite } = shop.app.db
  const newest = () =>
    sqlite.prepare('SELECT id, status, total_minor AS total FROM orders ORDER BY id DESC').get() as {
      id: number
      status: string
      total: number
    }
  const setPrice = sqlite.prepare("UPDATE products SET price_minor = ? WHERE slug = 'beeswax-pillar'")
  const price = sqlite.prepare("SELECT price_minor FROM products WHERE slug = 'beeswax-pillar'").pluck().get()
  onTestFinished(() => void setPrice.run(price))
  const before = newest().id
  await addToCart(page, shop.url, 'beeswax-pillar')
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await page.getByText('Here, with a test card').click()
  await sum(page, 'shipping').filter({ hasText: '€4.90' }).waitFor()
  let isPressed = Promise.resolve()
  await page.route('**/cart', async (route) => {
    if (!route.request().isNavigationRequest()) await isPressed
    await route.continue().catch(() => undefined)
  })
  const pay = page.getByRole('button', { name: 'Order and pay' })
  const alert = page.getByRole('alert').filter({ hasText: 'The total has changed' })
  const changes = [
    () => page.getByLabel('Quantity of Beeswax pillar candle').fill('3'),
    () => page.getByLabel('Country').selectOption('FR'),
    () => Promise.resolve(setPrice.run(4321))
  ]
  for (const change of changes) {
    const { promise, resolve } = Promise.withResolvers<void>()
    isPressed = promise
    const shown = await sum(page, 'total').innerText()
    await change()
    expect(await sum(page, 'total').innerText()).toBe(shown)
    await pay.click()
    resolve()
    await alert.waitFor()
    const total = await sum(page, 'total').innerText()
    expect(total).not.toBe(shown)
    expect(await alert.innerText()).toContain(total)
    expect(newest().id).toBe(before)
  }
  await look(page, 'cart-total-changed')
  const shown = await sum(page, 'total').innerText()
  await pay.click()
  await page.waitForURL('**/thanks**')
  expect(newest()).toEqual({ id: before + 1, status: 'processing', total: Math.round(Number(shown.slice(1)) * 100) })
  expect(complaints).toEqual([])
})

test('a cart without a connection says that its prices may be old, and is checked again when the connection is back', async () => {
  const { page } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  await page.context().setOffline(true)
  await page.getByLabel('Quantity of Beeswax pillar candle').fill('4')
  await page.getByText('Prices and stock could not be checked.').waitFor()
  await look(page, 'cart-offline')
  setStock('beeswax-pillar', 0)
  await page.context().setOffline(false)
  await line(page, 'Beeswax pillar candle').getByText('Beeswax pillar candle is sold out.').waitFor()
  expect(await page.getByText('could not be checked').isVisible()).toBe(false)
})

test('a refused order shows its problems on the lines, even if no change was answered before', async () => {
  const { page, complaints } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  await addToCart(page, shop.url, 'stripe-blanket')
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillStreet(page)
  await page.route('**/cart', (route) => (route.request().isNavigationRequest() ? route.continue() : route.abort()))
  setStock('stripe-blanket', 0)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  const lamp = line(page, 'Harbour stripe wool blanket')
  await lamp.getByText('Harbour stripe wool blanket is sold out.').waitFor()
  const focused = page.locator('li:focus-within', { hasText: 'Harbour stripe wool blanket' })
  await focused.waitFor()
  expect(complaints).toEqual([])
})

test('reloading the page keeps what was typed, but not a password', async () => {
  const { page } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await page.getByLabel('Create an account for me').check()
  await page.getByLabel('Password').fill('tidal-basalt-93')
  await fillAddress(page)
  await page.reload()
  await page.getByRole('heading', { name: 'How would you like to pay?' }).waitFor()
  expect(await page.getByLabel('Email for the receipt').inputValue()).toBe('guest@example.com')
  expect(await page.getByLabel('Town or city').inputValue()).toBe('Hamburg')
  expect(await page.getByLabel('Country').inputValue()).toBe('DE')
  expect(await page.getByLabel('Password').inputValue()).toBe('')
  expect(JSON.stringify(await page.evaluate('({ ...sessionStorage, ...localStorage })'))).not.toContain('tidal-basalt')
})

test('the address has the fields of its country, and errors at their fields', async () => {
  const { page, complaints } = await newVisitor(browser, { locale: 'de-DE' })
  await addToCart(page, shop.url, 'beeswax-pillar')
  expect(await page.getByLabel('Country').inputValue()).toBe('DE')
  await page.getByLabel('Street and number').fill('Front 1')
  await page.getByLabel('Country').selectOption('US')
  await page.getByLabel('State').selectOption('CA')
  expect(await page.getByLabel('Street and number').inputValue()).toBe('Front 1')
  await page.getByLabel('ZIP code').fill('12')
  await page.getByLabel('Town or city').fill('Oakland')
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Last name').fill('Quill')
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByText('Please enter the ZIP code, for example').waitFor()
  expect(await page.evaluate('document.activeElement.id')).toBe('postcode')
  await look(page, 'cart-address-error')
  await page.getByLabel('ZIP code').fill('94607')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  const order = shop.app.db.sqlite.prepare('SELECT shipping_address AS a FROM orders ORDER BY id DESC').get()
  expect(JSON.stringify(order)).toMatch(/CA.*94607|94607.*CA/)
  expect(complaints).toEqual([])
})

test('what a buyer types while the fields of another country load stays, and so does the cursor', async () => {
  const { page, complaints } = await newVisitor(browser, { locale: 'de-DE' })
  await addToCart(page, shop.url, 'beeswax-pillar')
  const street = page.getByLabel('Street and number')
  await street.waitFor()
  const { promise: isTyped, resolve } = Promise.withResolvers<void>()
  await page.route('**/cart', async (route) => {
    await isTyped
    await route.continue()
  })
  await page.getByLabel('Country').selectOption('US')
  await street.pressSequentially('Front 12')
  await street.press('ArrowLeft')
  resolve()
  await page.getByLabel('State').waitFor()
  await page.keyboard.type('5')
  expect(await street.inputValue()).toBe('Front 152')
  expect(complaints).toEqual([])
})

test('a refused payment leaves a total that the shop has confirmed', async () => {
  const { page } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  const shown = await sum(page, 'total').innerText()
  await page.getByText('Here, with a test card').click()
  await page.getByLabel('Test card', { exact: true }).selectOption('pm_card_chargeDeclined')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByRole('alert').filter({ hasText: 'Your card was declined' }).waitFor()
  expect(await sum(page, 'total').innerText()).toBe(shown)
})

test('a cart that is changed in another tab is shown as it is', async () => {
  const { page } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  const other = await page.context().newPage()
  await addToCart(other, shop.url, 'stripe-blanket')
  await line(page, 'Harbour stripe wool blanket').waitFor()
})

test('a cart that a form without script changes in another tab is shown as it is', async () => {
  const { page } = await newVisitor(browser)
  await addToCart(page, shop.url, 'beeswax-pillar')
  const other = await page.context().newPage()
  await other.goto(`${shop.url}/assets/no-such-file`)
  await other.evaluate(`document.cookie = document.cookie.match(/shopstead_cart=\\d+/)[0] + 'x3; path=/'`)
  const quantity = page.getByLabel('Quantity of Beeswax pillar candle')
  await expect.poll(() => quantity.inputValue()).toBe('3')
})

test('a word of 156 letters stretches neither the cart nor its problem', async () => {
  const { page } = await newVisitor(browser, { viewport: { width: 390, height: 800 } })
  const rename = shop.app.db.sqlite.prepare('UPDATE products SET name = ?, stock = ? WHERE slug = ?')
  rename.run('L'.repeat(156), null, 'watch-cap')
  await addToCart(page, shop.url, 'watch-cap')
  rename.run('L'.repeat(156), 0, 'watch-cap')
  await page.reload()
  await page.getByText('is sold out').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  rename.run('Watch cap', null, 'watch-cap')
})
