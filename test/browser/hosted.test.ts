import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/rows.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { endHold } from '../../src/shop/payments/end-hold.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { fillAddress, look, newVisitor } from './support/chromium.ts'
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

test('everything is asked for, a coupon counts, and a card pays, all without script', async () => {
  const { page } = await newVisitor(browser, { javaScriptEnabled: false })
  const order = await open(page)
  await page.getByLabel('Coupon').fill('NOSUCH')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('This code is not valid.').waitFor()
  await page.getByLabel('Coupon').fill('WELCOME10')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Coupon WELCOME10').waitFor()
  expect(order().totalMinor).toBe(1440)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await page.getByLabel('First name').fill('Gwen')
  await fillAddress(page)
  await page.getByRole('button', { name: 'Order for €14.40' }).click()
  await page.waitForURL('**/sandbox/checkout/**')
  await page.goBack()
  await page.getByRole('button', { name: 'Order for €14.40' }).dblclick()
  await page.waitForURL('**/sandbox/checkout/**')
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.waitForURL('**/thanks?**')
  expect(page.url()).toMatch(/result=success$/)
  expect(order()).toMatchObject({
    status: 'processing',
    email: 'guest@example.com',
    shippingAddress: { firstName: 'Gwen', address1: 'Quay 7', postcode: '20457', city: 'Hamburg', country: 'DE' }
  })
})

test('the page says at each field what is wrong', async () => {
  const { page, complaints } = await newVisitor(browser)
  await open(page)
  await look(page, 'checkout')
  await page.evaluate('for (const form of document.forms) form.noValidate = true')
  await page.getByLabel('Email for the receipt').fill('nobody')
  await page.getByRole('button', { name: /^Order for/ }).click()
  await page.getByText('Please choose a country.').waitFor()
  await look(page, 'checkout-errors')
  await page.getByLabel('Coupon').fill('EXPIRED')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('This code has expired.').waitFor()
  await look(page, 'checkout-coupon-refused')
  expect(complaints).toEqual([])
})

test('an order by hand waits for its money, whatever is reloaded', async () => {
  const { page, complaints } = await newVisitor(browser)
  const order = await open(page)
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillAddress(page)
  await page.getByText('Bank transfer or cash').click()
  await page.getByRole('button', { name: /^Order for/ }).click()
  await page.waitForURL('**/thanks?**')
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
