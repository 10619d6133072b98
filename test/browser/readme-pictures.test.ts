import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { fetchImages } from '../../src/shop/catalog/images/fetch-images.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { logIn, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

// The README shows these pictures. To renew one, delete it and run this file: it writes the picture, and its text beside it.
const folder = 'test/browser/pictures'
/** Pictures are compared at this width in grey, so that the fonts of a machine make little difference. */
const comparedWidth = 60
/** How many of the 256 shades the average point may differ. The pictures of older pages differ by 10 and more. */
const mostShades = 5

const { shop, browser } = await openDemoShop()
await fetchImages(shop.app, {})

test('the picture of the storefront in the README is that of today', async () => {
  const { page } = await newVisitor(browser, { viewport: { width: 900, height: 640 } })
  await page.goto(shop.url, { waitUntil: 'networkidle' })
  await expectPicture(page, 'storefront')
})

test('the picture of an order in the README is that of today', async () => {
  const buyer = shop.visitor()
  const [email, password] = ['ada@example.com', 'tidal-basalt-93']
  await buyer.register({ email, password })
  const { data } = await buyer.post<{ orderId: string }>('/store/checkout-session', {
    items: [{ productId: idOf('beeswax-pillar'), quantity: 2 }],
    couponCode: 'WELCOME10',
    shippingAddress: {
      firstName: 'Ada',
      lastName: 'Quill',
      address1: 'Quay 7',
      postcode: '20457',
      city: 'Hamburg',
      country: 'DE'
    },
    shippingMethod: 'standard'
  })
  const id = Number(data.orderId)
  write(shop.app.db, (tx) => moveOrder(tx, id, 'processing', { by: 'test', reason: 'paid' }, Date.now()))
  const { page } = await newVisitor(browser, { viewport: { width: 900, height: 640 }, colorScheme: 'dark' })
  await logIn(page, shop.url, email, password)
  await page.goto(`${shop.url}/orders/${id}`, { waitUntil: 'networkidle' })
  await expectPicture(page, 'order')
})

function idOf(slug: string): unknown {
  return shop.app.db.sqlite.prepare('SELECT id FROM products WHERE slug = ?').pluck().get(slug)
}

/** Compares the page with its picture by what can be read on it and by what it looks like. */
async function expectPicture(page: Page, name: string): Promise<void> {
  const [file, textFile] = [`${folder}/${name}.png`, `${folder}/${name}.txt`]
  const shown = await page.screenshot()
  const text = await textOf(page)
  if (!existsSync(file)) {
    writeFileSync(file, await sharp(shown).png({ palette: true, colours: 64, compressionLevel: 9 }).toBuffer())
    writeFileSync(textFile, text)
    throw new Error(`${file} was not there and has been written. Look at it and commit it.`)
  }
  // If one of these fails, delete the picture and run this test again.
  expect([file, text]).toEqual([file, readFileSync(textFile, 'utf8')])
  expect(await differenceOf(shown, readFileSync(file))).toBeLessThan(mostShades)
}

/** What can be read on the page, without the day and the number of an order. */
async function textOf(page: Page): Promise<string> {
  const text = await page.locator('body').innerText()
  const lasting = text
    .replaceAll(/\b\d{1,2} [A-Z][a-z]+ \d{4}/g, '[day]')
    .replaceAll(/\b(order|invoice)( number)? [\w-]*\d+/gi, '$1 [number]')
  return `${lasting
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')}\n`
}

async function differenceOf(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map(shadesOf))
  expect(a?.length).toBe(b?.length)
  return (a ?? []).reduce((sum, shade, index) => sum + Math.abs(shade - (b?.[index] ?? 0)), 0) / (a?.length ?? 1)
}

async function shadesOf(picture: Buffer): Promise<number[]> {
  return [...(await sharp(picture).resize({ width: comparedWidth }).removeAlpha().greyscale().raw().toBuffer())]
}
