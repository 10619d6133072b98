import { expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { createGroup, setGroup } from '../../src/shop/groups/groups.ts'
import { addMembers } from '../../src/shop/groups/members.ts'
import { setGroupPrice } from '../../src/shop/groups/price-lists.ts'
import { productById } from '../../src/shop/catalog/stored-product.ts'
import { applyTaxRates } from '../../src/shop/tax/rates.ts'
import type { Browser } from '../support/browser.ts'
import { checkOut, loggedIn, mug, orderOf, shopFor } from './checkout-support.ts'

type Price = { amount: number; from: boolean; group: string | null; shown: { amount: number } }
type Own = {
  groups: string[]
  taxShown: boolean
  prices: { productId: number; price: Price; variations: { variationId: number; price: Price }[] }[]
}

async function openShop() {
  const shop = await shopFor({ settings: { 'shop.country': 'DE' } })
  const { db, clock } = shop.app
  write(db, (tx) =>
    applyTaxRates(tx, [{ country: 'DE', region: '', class: 'standard', rateMillionths: 190_000, name: 'VAT' }])
  )
  const lena = await loggedIn(shop)
  const own = async (visitor: Browser, products = '1,2,999') =>
    (await visitor.get<Own>(`/me/prices?products=${products}`)).data
  return { shop, db, now: clock.now(), lena, own }
}

it("tells a buyer of a group what products cost, in the group's way, and a list of products stays the same for all", async () => {
  const { shop, db, now, lena, own } = await openShop()
  const regular = (productById(db, 1)?.priceMinor ?? 0) / 100
  expect(await own(lena)).toMatchObject({ groups: [], prices: [] })
  createGroup(db, { slug: 'wholesale', name: 'Wholesale', tax: 'without' }, now)
  setGroupPrice(db, 'wholesale', { slug: productById(db, 1)?.slug ?? '', sku: null, price: '1.19' })
  const stranger = shop.visitor()
  const before = await stranger.get('/store/products')
  addMembers(db, 'wholesale', ['lena@shop.example'], now)
  const answer = await lena.get<Own>('/me/prices?products=1,2,999')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.data).toMatchObject({ groups: ['Wholesale'], taxShown: false })
  expect(answer.data.prices.map(({ productId }) => productId)).toEqual([1, 2])
  expect(answer.data.prices[0]?.price).toMatchObject({ amount: 1.19, group: 'Wholesale', shown: { amount: 1 } })
  expect(answer.data.prices[1]?.price).toMatchObject({ group: null })
  setGroup(db, 'wholesale', { tax: 'with' })
  expect(await own(lena)).toMatchObject({ taxShown: true, prices: [{ price: { shown: { amount: 1.19 } } }, {}] })
  for (const path of ['/store/products', '/store/offers']) {
    const [hers, theirs] = [await lena.get(path), await stranger.get(path)]
    expect(hers.text).toBe(theirs.text)
    expect(hers.headers.get('etag')).toBe(theirs.headers.get('etag'))
    expect(hers.text).toContain(String(regular))
  }
  expect((await lena.get('/store/products')).text).toBe(before.text)
  const bought = await checkOut(lena, { items: [mug] })
  expect(orderOf(shop, bought).items[0]?.unitPriceMinor).toBe(119)
  const other = await loggedIn(shop, 'mira@shop.example')
  expect(await own(other)).toMatchObject({ groups: [], prices: [] })
})

it('refuses a guest, and a list of ids that is none', async () => {
  const { shop, lena } = await openShop()
  expect((await shop.visitor().get('/me/prices?products=1')).status).toBe(401)
  for (const products of ['', 'mug', '1,', Array.from({ length: 101 }, () => 1).join(',')]) {
    const refused = await lena.get(`/me/prices?products=${products}`)
    expect([refused.status, refused.error.details.fieldErrors]).toEqual([422, { products: [expect.any(String)] }])
  }
})
