import { expect, test } from 'vitest'
import { productBySlug } from '../../src/shop/catalog/stored-product.ts'
import { createGroup } from '../../src/shop/groups/groups.ts'
import { addMembers } from '../../src/shop/groups/members.ts'
import { addToCart, logIn, newVisitor } from './support/chromium.ts'
import { demoPassword, openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()

test('a buyer of a group sees its prices in the list, at a product with variations and in the cart; a guest does not', async () => {
  const { db, clock } = shop.app
  createGroup(db, { slug: 'trade', name: 'Trade', percent: 50, tax: 'without' }, clock.now())
  addMembers(db, 'trade', ['lena@shop.example'], clock.now())
  const regular = (productBySlug(db, 'storm-lantern')?.priceMinor ?? 0) / 100
  const { page, complaints } = await newVisitor(browser)
  const lantern = page.getByRole('link', { name: 'Harbour storm lantern' }).first()
  await page.goto(shop.url)
  expect(await lantern.textContent()).toContain(`€${regular.toFixed(2)}`)
  await logIn(page, shop.url, 'lena@shop.example', demoPassword)
  await page.goto(shop.url, { waitUntil: 'networkidle' })
  const net = (regular / 2 / 1.19).toFixed(2)
  await expect.poll(() => lantern.textContent()).toContain(`€${net}`)
  expect(await lantern.textContent()).toContain('Trade')
  await page.goto(`${shop.url}/products/harbour-gansey`, { waitUntil: 'networkidle' })
  await expect.poll(() => page.locator('[data-price]').textContent()).toContain('plus VAT')
  await page.locator('[data-choice]:not([disabled])').nth(1).check({ force: true })
  expect(await page.locator('[data-price]').textContent()).toContain('Trade')
  await addToCart(page, shop.url, 'storm-lantern')
  await page.goto(`${shop.url}/cart`)
  expect(await page.locator('main').textContent()).toContain(`€${(regular / 2).toFixed(2)}`)
  expect(complaints).toEqual([])
})
