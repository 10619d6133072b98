import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Role } from '../../src/shop/desk/roles.ts'
import { listDeskLog } from '../../src/shop/desk/act.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { quay } from '../support/addresses.ts'
import { enableDesk, paidOrder } from '../support/desk-visitor.ts'
import { look } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'
import { personOnPhone } from './support/desk-phone.ts'

const { shop, browser } = await openDemoShop()
enableDesk(shop.app)

const onPhone = (role: Role, email: string, locale?: string): ReturnType<typeof personOnPhone> =>
  personOnPhone(shop, browser, role, email, locale)

const photo = (): Promise<Buffer> =>
  sharp({ create: { width: 1200, height: 900, channels: 3, background: '#a04020' } })
    .jpeg()
    .toBuffer()

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()
const follow = (page: Page, name: string): Promise<void> =>
  page.getByRole('link', { name, exact: true }).first().click()
const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name, level: 1, exact: true }).waitFor()

test('an owner makes a passkey, logs in again with it, and sees the day', async () => {
  const { page, complaints } = await onPhone('owner', 'anna@shop.example')
  await heading(page, 'Today')
  await look(page, 'desk-today')
  await page.context().clearCookies()
  await page.goto(`${shop.url}/desk/orders`)
  await heading(page, 'Log in to the desk')
  await look(page, 'desk-login')
  await press(page, 'Use my passkey')
  await heading(page, 'Orders')
  await look(page, 'desk-orders')
  expect(complaints).toEqual([])
})

test('an order is packed, shipped and partly refunded, and the command that does the same is shown', async () => {
  const { page, complaints } = await onPhone('orders', 'berta@shop.example')
  await follow(page, 'Order 86')
  await heading(page, 'Order 86')
  await look(page, 'desk-order')
  await follow(page, 'Ship')
  await page.getByLabel('Carrier').fill('DHL')
  await page.getByLabel('Tracking number').fill('JJD 0001')
  await page.getByText('shopstead orders ship 86').waitFor()
  await look(page, 'desk-ship')
  await press(page, 'Ship')
  await page.getByText('Done.').waitFor()
  await page.getByText('DHL JJD 0001').waitFor()
  await follow(page, 'Refund')
  await page.getByLabel('1. ').first().fill('1')
  await press(page, 'Refund')
  await page.getByText('--item 1:1').waitFor()
  await press(page, 'Use my passkey')
  await page.getByText('Done.').waitFor()
  await look(page, 'desk-refunded')
  expect(complaints).toEqual([])
})

/** Opens a form of an order, types one unit of its first line, and sends it. */
async function sendOneUnit(page: Page, action: string, picture: string): Promise<void> {
  await follow(page, action)
  await page.getByLabel('1. ').first().fill('1')
  await look(page, picture)
  await press(page, action)
}

test('goods of an order are changed, sent back, exchanged and labelled, and the buyer is corrected', async () => {
  const { page, complaints } = await onPhone('orders', 'berta@shop.example')
  const id = paidOrder(shop.app, { items: ['enamel-kettle'], shippingAddress: quay })
  await page.goto(`${shop.url}/desk/orders/${id}`)
  await follow(page, 'Edit the buyer')
  await page.getByLabel('Town or city').fill('Kiel')
  await look(page, 'desk-order-edit')
  await press(page, 'Edit the buyer')
  await page.getByText('Done.').waitFor()
  await sendOneUnit(page, 'Change items or shipping', 'desk-order-goods')
  await page.getByText('--line 1:1').waitFor()
  await look(page, 'desk-order-goods-sure')
  await press(page, 'Use my passkey')
  await page.getByText('Done.').waitFor()
  const label = await page.context().newPage()
  await label.goto(`${shop.url}/desk/orders/${id}/label`)
  await label.getByText('Kiel').waitFor()
  await label.close()
  await follow(page, 'Ship')
  await press(page, 'Ship')
  await page.getByText('Done.').waitFor()
  await sendOneUnit(page, 'Expect a return', 'desk-return')
  await page.getByText('Return 1', { exact: true }).waitFor()
  await look(page, 'desk-order-returned')
  await follow(page, 'Goods are back')
  await page.getByLabel('Put the goods back into the stock').check()
  await look(page, 'desk-receive')
  await press(page, 'Goods are back')
  await page.getByText('--item 1:1 --received --restock').waitFor()
  await press(page, 'Use my passkey')
  await page.getByText('Done.').waitFor()
  await page.getByText('Refunded').first().waitFor()
  expect(complaints).toEqual([])
})

test('a product is made in one page with a picture, edited, stocked and hidden', async () => {
  const { page, complaints } = await onPhone('catalogue', 'carla@shop.example')
  const file = join(shop.dataDir, 'phone.jpg')
  writeFileSync(file, await photo())
  await follow(page, 'Products')
  await look(page, 'desk-products')
  await follow(page, 'New product')
  await look(page, 'desk-new-product')
  await page.getByLabel('Name', { exact: true }).fill('Rope bracelet')
  await page.getByLabel('Price', { exact: true }).fill('18.50')
  await page.getByLabel('Options').fill('Size=S,M; Colour=Red,Blue')
  await page.getByLabel('Picture').setInputFiles(file)
  await press(page, 'Add the product')
  await heading(page, 'Rope bracelet')
  await page
    .getByRole('cell', { name: 'M, Blue' })
    .or(page.getByRole('cell', { name: /M.*Blue/ }))
    .waitFor()
  await look(page, 'desk-product')
  await follow(page, 'Variations')
  await page.getByLabel(/S.*Red: Stock/).fill('7')
  await page.getByLabel(/M.*Blue: Price/).fill('19.50')
  await look(page, 'desk-variations')
  await press(page, 'Save')
  await page.getByRole('row', { name: /S.*Red.*7/ }).waitFor()
  await page.getByRole('row', { name: /M.*Blue.*19\.50/ }).waitFor()
  await follow(page, 'Edit')
  await page.getByLabel('Name', { exact: true }).fill('')
  await press(page, 'Save')
  await page.locator('#name-error').waitFor()
  await look(page, 'desk-edit-refused')
  await page.getByLabel('Name', { exact: true }).fill('Rope bracelet, tarred')
  await press(page, 'Save')
  await heading(page, 'Rope bracelet, tarred')
  await follow(page, 'Hide it')
  await press(page, 'Hide it')
  await page.getByText('Hidden').first().waitFor()
  expect(complaints).toEqual([])
})

test('an owner finds a customer, exports and erases the data', async () => {
  const { page, complaints } = await onPhone('owner', 'anna@shop.example')
  await follow(page, 'More')
  await look(page, 'desk-more')
  await follow(page, 'Customers')
  await page.getByLabel('Email or name').fill('mira')
  await press(page, 'Search')
  await look(page, 'desk-customers')
  await page.getByRole('link', { name: /Mira/ }).click()
  await look(page, 'desk-customer')
  await follow(page, 'Erase the person')
  await press(page, 'Erase the person')
  await page.getByText('This cannot be undone').waitFor()
  await look(page, 'desk-erase')
  await press(page, 'Use my passkey')
  await heading(page, 'The person is erased')
  expect(complaints).toEqual([])
})

test('coupons, sales, affiliates, reports, documents, settings, shipping, tax and emails have their pages', async () => {
  const { page, complaints } = await onPhone('owner', 'anna@shop.example')
  await page.goto(`${shop.url}/desk/discounts`)
  await follow(page, 'New coupon')
  await page.getByLabel('Code').fill('HARBOUR')
  await page.getByLabel('Percent').fill('15')
  await look(page, 'desk-new-coupon')
  await press(page, 'New coupon')
  await page.getByRole('link', { name: 'HARBOUR', exact: true }).waitFor()
  await follow(page, 'New sale')
  await page.getByLabel('Name', { exact: true }).fill('Candle week')
  await page.getByLabel('Percent').fill('10')
  await page.getByLabel('Last day').fill('2099-12-31')
  await page.getByLabel('Only for these products').fill('enamel-kettle')
  await press(page, 'New sale')
  await page.getByRole('link', { name: 'Candle week' }).waitFor()
  await look(page, 'desk-discounts')
  await follow(page, 'HARBOUR')
  await press(page, 'End it')
  for (const path of [
    'affiliates',
    'reports',
    'reports/sales',
    'reports/tax',
    'documents',
    'settings',
    'settings/shop.name',
    'settings/holiday',
    'shipping',
    'shipping/set',
    'tax',
    'emails',
    'emails/order_receipt',
    'access',
    'orders/new'
  ]) {
    const answer = await page.goto(`${shop.url}/desk/${path}`)
    expect([path, answer?.status()]).toEqual([path, 200])
    await look(page, `desk-${path.replaceAll('/', '-')}`)
  }
  expect(complaints).toEqual([])
})

test('the desk is used by keyboard alone, in German, and below 45 KB a page', async () => {
  const { page, complaints } = await onPhone('owner', 'anna@shop.example', 'de-DE')
  setSetting(shop.app.db, 'shop.languages', 'de', Date.now())
  const network = await page.context().newCDPSession(page)
  let bytes = 0
  await network.send('Network.enable')
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  network.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await page.goto(`${shop.url}/desk`, { waitUntil: 'networkidle' })
  expect(bytes).toBeLessThan(45 * 1024)
  await heading(page, 'Heute')
  await page.goto(`${shop.url}/desk/settings/holiday`)
  const until = page.getByLabel('Letzter Tag')
  for (let step = 0; step < 30 && !(await until.evaluate('(field) => field === document.activeElement')); step += 1)
    await page.keyboard.press('Tab')
  await until.fill('2099-01-31')
  await page.keyboard.press('Enter')
  await heading(page, 'Bitte verwenden Sie Ihren Passkey')
  await page.locator('form[data-passkey] button').press('Enter')
  await page.getByText('Ferien beenden').first().waitFor()
  await look(page, 'desk-settings-german')
  const english = /\b(the|and|your|order|with|there)\b/i
  await page.goto(`${shop.url}/desk/orders`)
  expect(await page.locator('main').innerText()).not.toMatch(english)
  expect(listDeskLog(shop.app.db, { limit: 1 })).toMatchObject([{ who: 'anna@shop.example', outcome: 'done' }])
  expect(complaints).toEqual([])
})
