import { parseTrustedProxies } from '../../src/platform/http/client-address.ts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { offerRoutes } from '../../src/api/products.ts'
import type { Call } from '../../src/api/route.ts'
import { messageFor } from '../../src/platform/http/validation.ts'
import { write } from '../../src/platform/db/database.ts'
import { applyCatalogFile } from '../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import { setPublished } from '../../src/shop/catalog/products.ts'
import type { ShopContext } from '../../src/shop/context.ts'
import { openTestShop } from '../support/shop-context.ts'

const route = offerRoutes[0]
if (route === undefined) throw new Error('There is no route for the offers.')

function stock(shop: ShopContext, slugs: readonly string[]): void {
  const products = slugs.map((slug) => ({ slug, name: slug, price: 10, categories: ['Home'] }))
  const { file } = readCatalogFile(JSON.stringify(products), { currency: 'EUR', timeZone: 'UTC' })
  write(shop.db, (tx) => applyCatalogFile(tx, file, { keepStock: false }, shop.clock.now()))
}

async function get(
  shop: ShopContext,
  query: Record<string, string> = {},
  headers: Record<string, string> = {}
): Promise<Response> {
  const call: Call = {
    shop,
    request: new Request('http://localhost/api/v1/store/offers', { headers }),
    ids: { requestId: 'r', correlationId: 'c' },
    now: shop.clock.now(),
    params: {},
    addressKey: '127.0.0.1',
    identity: null,
    nonce: null,
    cookies: null,
    trusted: parseTrustedProxies([])
  }
  const input = { params: undefined, query: route?.query?.parse(query), body: undefined, raw: new Uint8Array() }
  const reply = await route?.handler(call, input)
  if (!(reply instanceof Response)) throw new Error('The route answers with bytes of its own.')
  return reply
}

const pageSchema = z.object({
  data: z.object({
    offers: z.array(z.object({ productSlug: z.string() })),
    pagination: z.object({ perPage: z.number() })
  }),
  meta: z.strictObject({})
})

async function slugs(response: Response): Promise<string[]> {
  return pageSchema.parse(await response.json()).data.offers.map((offer) => offer.productSlug)
}

test('answers with an empty meta and a hundred offers a page', async () => {
  using shop = openTestShop()
  stock(
    shop,
    Array.from({ length: 101 }, (_, index) => `p${index}`)
  )
  const response = await get(shop)
  const page = pageSchema.parse(await response.clone().json())
  const listed = await slugs(response)
  expect([response.status, page.data.pagination.perPage, listed.length]).toEqual([200, 100, 100])
  expect(await slugs(await get(shop, { page: '2' }))).toEqual(['p100'])
})

test('reads an empty category or search as absent', async () => {
  using shop = openTestShop()
  stock(shop, ['mug'])
  expect(await slugs(await get(shop, { category: '', search: '' }))).toEqual(['mug'])
  expect(await slugs(await get(shop, { category: 'home', search: 'mu' }))).toEqual(['mug'])
})

test.each([
  ['page', '0'],
  ['page', '1000001'],
  ['page', '1e3'],
  ['page', ''],
  ['perPage', '0'],
  ['perPage', '101'],
  ['perPage', '-1'],
  ['perPage', '1.5'],
  ['search', 'é'.repeat(101)],
  ['category', 'x'.repeat(256)]
])('%s=%s is refused on its own field', (name, value) => {
  const parsed = route.query?.safeParse({ [name]: value }, { error: messageFor })
  expect(parsed?.error?.issues.map((issue) => issue.path)).toEqual([[name]])
})

test.each([{ page: '1000000' }, { perPage: '100' }, { search: '🏮'.repeat(100) }])('accepts %j', (query) => {
  expect(route.query?.safeParse(query).success).toBe(true)
})

test('answers 304 for a current page until a product changes', async () => {
  using shop = openTestShop()
  stock(shop, ['mug', 'cup'])
  const etag = (await get(shop)).headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[^"]+"$/)
  for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const response = await get(shop, {}, { 'if-none-match': held })
    const { headers } = response
    expect([response.status, await response.text(), headers.get('etag')]).toEqual([304, '', etag])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  setPublished(shop.db, 'cup', false, shop.clock.now())
  const response = await get(shop, {}, { 'if-none-match': etag })
  expect([response.status, await slugs(response)]).toEqual([200, ['mug']])
})
