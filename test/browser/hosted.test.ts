import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { endHold } from '../../src/shop/payments/end-hold.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { fillHostedAddress, look, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
setSetting(shop.app.db, 'payments.manualInstructions', 'Please transfer to DE00 1234 5678.', Date.now())

/** The shop's own page for a new order of a guest, of whom nothing is known yet. */
async function open(page: Page, slug = 'beeswax-pillar'): Promise<() => OrderRow> {
  const visitor = shop.visitor()
  const { data } = await visitor.get<{ offers: { productId: number; productSlug: string }[] }>(
    '/store/offers?perPage=100'
  )
  const productId = data.offers.find((offer) => offer.productSlug === slug)?.productId
  const created = await visitor.post<{ checkoutUrl: string }>('/store/checkout-session', {
    items: [{ productId, quantity: 1 }],
    returnUrl: `${shop.url}/thanks`,
    cancelUrl: `${shop.url}/cart`
  })
  const { checkoutUrl } = created.data
  await page.goto(checkoutUrl)
  return () => {
    return getOrderByPublicToken(shop.app.db, checkoutUrl.slice(checkoutUrl.lastIndexOf('/') + 1))
  }
}

const move = (order: OrderRow, to: 'failed' | 'cancelled') =>
  write(shop.app.db, (tx) => moveOrder(tx, order.id, to, { by: 'test', reason: 'test' }, Date.now()))

/** The methods of the requests that a step sends to the pages of this shop. */
async function methodsOf(page: Page, step: () => Promise<unknown>): Promise<string[]> {
  const methods: string[] = []
  const note = (request: Request): void => {
    if (request.isNavigationRequest()) methods.push(request.method())
  }
  page.on('request', note)
  await step()
  page.off('request', note)
  return methods
}

test('a buyer without script is asked for everything, uses a coupon, goes back, corrects the address and pays', async () => {
  const { page } = await newVisitor(browser, { javaScriptEnabled: false })
  const order = await open(page)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await page.getByLabel('First name').fill('Gwen')
  await fillHostedAddress(page)
  await page.getByLabel('Coupon').fill('NOSUCH')
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('This code is not valid.').waitFor()
  await page.getByLabel('Coupon').fill('WELCOME10')
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('Coupon WELCOME10').waitFor()
  expect(order().totalMinor).toBe(1440)
  expect(await page.getByLabel('Email for the receipt').inputValue()).toBe('guest@example.com')
  expect(await page.getByLabel('Street and number').inputValue()).toBe('Quay 7')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  await page.goBack()
  for (const words of ['guest@example.com', 'Gwen Quill', 'Quay 7', '20457 Hamburg', 'Germany'])
    await page.getByText(words, { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Change email or address' }).click()
  await page.getByLabel('Street and number').fill('Quay 8')
  await page.getByRole('button', { name: 'Order and pay' }).dblclick()
  await page.waitForURL('**/sandbox/checkout/**')
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.waitForURL('**/thanks')
  expect(order()).toMatchObject({
    status: 'processing',
    totalMinor: 1930,
    shippingMinor: 490,
    email: 'guest@example.com',
    shippingAddress: { firstName: 'Gwen', address1: 'Quay 8', postcode: '20457', city: 'Hamburg', country: 'DE' }
  })
})

test('the page says beside each field what is wrong, and the first of them has the focus', async () => {
  const { page, complaints } = await newVisitor(browser)
  await open(page)
  await look(page, 'checkout')
  await fillHostedAddress(page, 'US')
  await look(page, 'checkout-address')
  await page.evaluate('for (const form of document.forms) form.noValidate = true')
  await page.getByLabel('Email for the receipt').fill('nobody')
  await page.getByLabel('ZIP code').fill('941')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByText('Please choose the state.').waitFor()
  await page.getByText('Please enter the ZIP code, for example 95014.').waitFor()
  expect(await page.evaluate('document.activeElement.name')).toBe('email')
  expect(await page.getByLabel('State').getAttribute('aria-describedby')).toBe('state-error')
  await look(page, 'checkout-errors')
  await page.getByLabel('Coupon').fill('EXPIRED')
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('This code has expired.').waitFor()
  expect(await page.evaluate('document.activeElement.name')).toBe('coupon')
  expect(await page.getByLabel('ZIP code').inputValue()).toBe('941')
  await look(page, 'checkout-coupon-refused')
  expect(complaints).toEqual([])
})

test('a buyer with a keyboard only orders by Enter, and Back, Forward and a reload send nothing again', async () => {
  const { page } = await newVisitor(browser)
  await open(page)
  await fillHostedAddress(page)
  await page.getByLabel('Email for the receipt').focus()
  await page.keyboard.type('not an email')
  await page.evaluate('for (const form of document.forms) form.noValidate = true')
  expect(
    await methodsOf(page, () => page.keyboard.press('Enter').then(() => page.getByText('such as name@').waitFor()))
  ).toEqual(['POST', 'GET'])
  expect(await methodsOf(page, () => page.reload())).toEqual(['GET'])
  expect(await page.getByText('such as name@').count()).toBe(0)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await page.getByLabel('Email for the receipt').press('Enter')
  await page.waitForURL('**/sandbox/checkout/**')
  await look(page, 'sandbox-page')
  await page
    .getByLabel(/pm_card_visa_chargeDeclined$|declined/i)
    .first()
    .check()
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.getByRole('alert').waitFor()
  expect(page.url()).toContain('?declined')
  expect(await methodsOf(page, () => page.reload())).toEqual(['GET'])
  expect(await methodsOf(page, () => page.goBack())).toEqual(['GET'])
  expect(await methodsOf(page, () => page.goForward())).toEqual(['GET'])
  await page.getByRole('alert').waitFor()
})

test('a word of 156 letters and a name from right to left fit into the page', async () => {
  const { page, complaints } = await newVisitor(browser)
  const order = await open(page)
  const name = 'Donaudampfschifffahrtsgesellschaft'.repeat(5).slice(0, 156)
  shop.app.db.sqlite.prepare('UPDATE order_items SET name = ? WHERE order_id = ?').run(name, order().id)
  await page.getByLabel('Email for the receipt').fill(`${'long'.repeat(15)}@example.com`)
  await page.getByLabel('First name').fill('גוון')
  await fillHostedAddress(page)
  await page.getByLabel('Street and number').fill(name)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  await look(page, 'sandbox-long-word')
  await page.goBack()
  await page.getByText(name.slice(0, 40)).first().waitFor()
  await look(page, 'checkout-known')
  await page.goto(`${shop.url}/checkout/done/${order().publicToken}`)
  await look(page, 'order-long-word')
  expect(complaints).toEqual([])
})

test('dead ends lead on to the shop', async () => {
  const { page, complaints } = await newVisitor(browser)
  for (const path of ['/checkout/none', '/checkout/done/none', '/nothing/here', '/products/none']) {
    await page.goto(`${shop.url}${path}`)
    await page
      .getByRole('link', { name: /shop|products/i })
      .first()
      .click()
    await page.waitForURL(`${shop.url}/`)
  }
  await page.goto(`${shop.url}/checkout/none`)
  await look(page, 'page-not-found')
  await page.goto(`${shop.url}/account/reset?token=none`)
  await look(page, 'link-expired')
  await page.getByRole('link', { name: 'Request a new link' }).click()
  await page.waitForURL('**/forgot-password')
  expect(complaints).toEqual([])
})

test('the page of an order prints on one sheet without its buttons', async () => {
  const { page } = await newVisitor(browser)
  const order = await open(page)
  await page.goto(`${shop.url}/checkout/done/${order().publicToken}`)
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  expect(await page.getByRole('link').count()).toBe(0)
  expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).color')).toBe('rgb(0, 0, 0)')
  const pdf = await page.pdf({ path: 'test/browser/output/order-print.pdf', format: 'A4' })
  expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
})

test('an order by hand waits for its money, whatever is reloaded', async () => {
  const { page, complaints } = await newVisitor(browser)
  const order = await open(page)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillHostedAddress(page)
  await page.getByText('Bank transfer or cash').click()
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL('**/thanks')
  await page.getByRole('heading', { name: 'Your order is waiting' }).waitFor()
  await look(page, 'thanks-waiting')
  await page.goto(`${shop.url}/checkout/${order().publicToken}`)
  await page.getByText('DE00 1234 5678').waitFor()
  await page.reload()
  await look(page, 'order-awaiting-money')
  expect(order().status).toBe('on-hold')
  expect(complaints).toEqual([])
})

test('each state of an order has a page that says so', async () => {
  const { page, complaints } = await newVisitor(browser)
  const unpaid = await open(page)
  await page.goto(`${shop.url}/checkout/done/${unpaid().publicToken}`)
  await page.getByRole('heading', { name: 'Your order is not paid yet' }).waitFor()
  await look(page, 'order-unpaid')

  move(unpaid(), 'failed')
  await page.reload()
  await page.getByRole('heading', { name: 'The payment did not go through' }).waitFor()
  await look(page, 'order-declined')

  const cancelled = await open(page)
  move(cancelled(), 'cancelled')
  await page.reload()
  await page.getByRole('heading', { name: 'This order was cancelled' }).waitFor()
  await look(page, 'order-cancelled')

  const expired = await open(page)
  await endHold(shop.app, expired().id)
  await page.reload()
  await page.getByRole('heading', { name: 'This order has expired' }).waitFor()
  await look(page, 'order-expired')

  const paid = await open(page, 'lantern-care-sheet')
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
  await look(page, 'order-paid')
  expect(paid().status).toBe('completed')
  expect(complaints).toEqual([])
})
