import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Db } from '../../../src/platform/db/database.ts'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import { exportCatalog } from '../../../src/shop/catalog/export-catalog.ts'
import type { Offer } from '../../../src/shop/catalog/public/shapes.ts'
import type { OfferQuery } from '../../../src/shop/catalog/offers.ts'
import { listOffers } from '../../../src/shop/catalog/offers.ts'
import { setPublished } from '../../../src/shop/catalog/products.ts'
import { takeStock } from '../../../src/shop/catalog/stock.ts'
import { setSetting, switchModule } from '../../../src/shop/settings/settings.ts'
import { apply, shopWith } from './support.ts'
import { noon } from '../../support/temporary-shop.ts'

type Page = { data: { offers: Offer[]; pagination: object }; meta: object }

const demo: unknown = JSON.parse(readFileSync('seeds/demo/catalog.json', 'utf8'))
const mug = { slug: 'mug', name: 'Mug', price: '12.00' }

function responseFor(db: Db, query: Partial<OfferQuery> = {}, now = noon) {
  return listOffers({ db, publicUrl: () => 'https://shop.example' }, { page: 1, perPage: 20, ...query }, now)
}

function page(db: Db, query: Partial<OfferQuery> = {}, now = noon): Page {
  return JSON.parse(responseFor(db, query, now).body.toString())
}

function slugs(db: Db, query: Partial<OfferQuery> = {}): string[] {
  return page(db, query).data.offers.map((offer) => offer.productSlug)
}

test('an offer has every field of the interface', () => {
  const db = shopWith([{ ...mug, description: 'Blue.', salePrice: 9.5, categories: ['For the Home'], tags: ['gift'] }])
  expect(page(db)).toEqual({
    data: {
      offers: [
        {
          offerId: 'offer-1',
          productId: 1,
          productSlug: 'mug',
          name: 'Mug',
          description: 'Blue.',
          url: 'https://shop.example/products/mug',
          price: { currency: 'EUR', amount: 9.5, originalAmount: 12, isOnSale: true },
          categories: ['For the Home'],
          tags: ['gift'],
          image: null,
          available: true,
          variationCount: 0,
          variations: []
        }
      ],
      pagination: { page: 1, perPage: 20, total: 1, totalPages: 1 }
    },
    meta: {}
  })
})

test('the demo shop lists its published products in its order and in pages, the sold-out one last', () => {
  const db = shopWith(demo)
  const first = page(db)
  expect(first.data.pagination).toEqual({ page: 1, perPage: 20, total: 37, totalPages: 2 })
  expect(first.data.offers.slice(0, 3).map((offer) => offer.productSlug)).toEqual([
    'storm-lantern',
    'tealight-lantern',
    'beeswax-pillar'
  ])
  const second = slugs(db, { page: 2 })
  expect(second).toHaveLength(17)
  expect(second.at(-1)).toBe('fog-lamp')
  expect(second).not.toContain('keel-lantern')
  expect(page(db, { page: 3 }).data).toEqual({
    offers: [],
    pagination: { page: 3, perPage: 20, total: 37, totalPages: 2 }
  })
})

test('offers with equal positions are ordered by id', () => {
  const db = shopWith(['b', 'a', 'c'].map((slug) => ({ ...mug, slug, position: slug === 'c' ? 1 : 2 })))
  expect(slugs(db)).toEqual(['c', 'b', 'a'])
})

test('an offer whose default variation is sold out shows the first variation in stock', () => {
  const variations = [
    { sku: 'S', name: 'Small', price: 10 },
    { sku: 'L', name: 'Large', price: 14, salePrice: 12, stock: 1, default: true }
  ]
  const db = shopWith([{ ...mug, variations }])
  expect(page(db).data.offers[0]?.price).toMatchObject({ amount: 12, originalAmount: 14 })
  write(db, (tx) => takeStock(tx, { productId: 1, variationId: 2 }, 1))
  expect(page(db).data.offers[0]?.price).toMatchObject({ amount: 10, originalAmount: null })
})

test('a category is found by its slug and by its name', () => {
  const db = shopWith(demo)
  expect(slugs(db, { category: 'wool' })).toEqual(['stripe-blanket', 'watch-cap', 'boot-socks', 'harbour-gansey'])
  expect(slugs(db, { category: 'prints-paper' })).toEqual(slugs(db, { category: 'Prints & Paper' }))
  expect(page(db, { category: 'nothing' }).data.pagination).toMatchObject({ total: 0, totalPages: 0 })
})

const searched = [
  { ...mug, slug: 'creme', name: 'Crème brûlée dish', description: 'White, 100% stoneware.' },
  {
    ...mug,
    slug: 'lamp',
    name: 'Storm-lantern',
    description: 'Burns oil.',
    tags: ['made to order'],
    categories: ['Light']
  },
  { ...mug, slug: 'oil', name: 'Lamp oil', description: 'For every lantern AND lamp.', categories: ['Light'] },
  { ...mug, slug: 'hidden', name: 'Hidden lantern', published: false },
  { ...mug, slug: 'can', name: 'Kanne öl_2' },
  { ...mug, slug: 'hook', name: 'Hook_long', description: '1000 nails.' },
  { ...mug, slug: 'ladle', name: 'Ladle', description: 'Für Grüße an ΑΘΗΝΑ.' }
]

test.each([
  ['lantern', ['lamp', 'oil']],
  ['LANT', ['lamp', 'oil']],
  ['la', ['oil', 'ladle', 'lamp']],
  ['creme BRULEE', ['creme']],
  ['cre\u0300me', ['creme']],
  ['grusse', ['ladle']],
  ['gruß', ['ladle']],
  ['αθηνα', ['ladle']],
  ['lantern oil', ['lamp', 'oil']],
  ['oil storm', ['lamp']],
  ['order', ['lamp']],
  ['lantern brass', []],
  ['antern', []],
  ['lantern AND lamp', ['oil']],
  ['lantern OR dish', []],
  ['lantern NOT oil', []],
  ['NEAR(lamp oil)', []],
  ['name:lantern', []],
  ['"', []],
  ["'", []],
  ['"lamp', ['oil']],
  ['%', ['creme']],
  ['_', ['can', 'hook']],
  ['l%n', []],
  ['l_n', []],
  ['100%', ['creme']],
  ['white 100% DISH', ['creme']],
  ['10%', []],
  ['k_l', ['hook']],
  ['K_l 100%', []],
  ['GRÜSSE_', []],
  ['für_grüße', []],
  ['ÖL_2', ['can']],
  ['*', []],
  ['lan*', ['lamp', 'oil']],
  ['storm-lantern', ['lamp']],
  ['-', []],
  ['\u0301', []],
  ['\u0000', []],
  ['🏮', []]
])('a search for %j finds %j', (search, expected) => {
  expect(slugs(shopWith(searched), { search }).toSorted()).toEqual(expected.toSorted())
})

test('a search for a long product name finds the product', () => {
  const name = 'A set of six hand-thrown stoneware bowls & plates in sea blue, with a 100% linen cloth'
  const db = shopWith([...searched, { ...mug, slug: 'set', name }])
  expect(slugs(db, { search: name })).toEqual(['set'])
})

test('search results are in the order of the shop', () => {
  const db = shopWith([
    { ...mug, slug: 'a', name: 'Plain', description: 'brass', position: 9 },
    { ...mug, slug: 'b', name: 'Brass', position: 9 },
    { ...mug, slug: 'c', name: 'Brass', position: 8 },
    { ...mug, slug: 'd', name: 'Plain', tags: ['brass'], position: 7 }
  ])
  expect(slugs(db, { search: 'brass' })).toEqual(['d', 'c', 'a', 'b'])
})

test('a search and a category filter apply together', () => {
  const db = shopWith(searched)
  expect(slugs(db, { search: 'la', category: 'light' }).toSorted()).toEqual(['lamp', 'oil'])
})

test('a search finds what an import has changed', () => {
  const db = shopWith([{ ...mug, tags: ['blue'] }])
  expect(slugs(db, { search: 'blue' })).toEqual(['mug'])
  apply(db, [{ ...mug, tags: ['red'] }])
  expect([slugs(db, { search: 'blue' }), slugs(db, { search: 'red' })]).toEqual([[], ['mug']])
})

test('the response has the same bytes and ETag until something changes', () => {
  const db = shopWith([mug, { ...mug, slug: 'cup' }])
  const first = responseFor(db)
  expect(first.etag).toMatch(/^"[\w-]{27}"$/)
  expect(responseFor(db)).toBe(first)
  setPublished(db, 'cup', false, noon)
  const second = responseFor(db)
  expect(second.etag).not.toBe(first.etag)
  setPublished(db, 'cup', true, noon)
  expect(responseFor(db)).toMatchObject({ body: first.body, etag: first.etag })
})

test('many long searches evict older responses from the cache', () => {
  const db = shopWith([mug])
  const first = responseFor(db)
  const search = '\u0001'.repeat(95)
  for (let index = 0; index < 8_000; index += 1) responseFor(db, { search, category: '\u0001'.repeat(250) + index })
  expect(responseFor(db)).not.toBe(first)
  expect(responseFor(db)).toEqual(first)
})

test('a change by another process is visible immediately', () => {
  const db = shopWith([{ ...mug, stock: 1 }])
  const available = () => page(db).data.offers.map((offer) => offer.available)
  expect(available()).toEqual([true])
  const other = openDatabase(db.file)
  write(other, (tx) => takeStock(tx, { productId: 1, variationId: null }, 1))
  expect(available()).toEqual([false])
  apply(other, [{ ...mug, stock: null }])
  expect(available()).toEqual([true])
  setSetting(other, 'store.productUrl', 'https://site.example/p/{slug}', noon)
  expect(page(db).data.offers[0]?.url).toBe('https://site.example/p/mug')
  switchModule(other, 'commerce', false, noon)
  expect(() => responseFor(db)).toThrow(expect.objectContaining({ code: 'DEPENDENCY_UNAVAILABLE' }))
  other.sqlite.close()
})

test('the price and the ETag change when a sale starts and ends', () => {
  const db = shopWith([{ ...mug, salePrice: 9, saleStart: '2026-06-01T13:00Z', saleEnd: '2026-06-01T14:00Z' }])
  const hour = 3_600_000
  const times = [noon, noon + hour - 1, noon + hour, noon + 2 * hour - 1, noon + 2 * hour]
  expect(times.map((now) => page(db, {}, now).data.offers[0]?.price.amount)).toEqual([12, 12, 9, 9, 12])
  const [before, during, after] = [noon, noon + hour, noon + 2 * hour].map((now) => responseFor(db, {}, now).etag)
  expect(during).not.toBe(before)
  expect(after).toBe(before)
})

test('importing an export changes nothing in the same shop and copies the catalog to an empty shop', () => {
  const db = shopWith(demo)
  const file = exportCatalog(db, 'EUR')
  expect(apply(db, file)).toMatchObject({ products: { created: 0, updated: 0 }, coupons: { created: 0, updated: 0 } })
  const other = shopWith(file)
  expect(exportCatalog(other, 'EUR')).toEqual(file)
})

test('importing the offers response changes nothing, also with sales and variations', () => {
  const db = shopWith(demo)
  const urlOf = (slug: string) => `https://shop.example/products/${slug}`
  const shown = page(db, { perPage: 100 })
  expect(apply(db, shown, { urlOf }).products).toEqual({ created: 0, updated: 0, unchanged: 37 })
})

test('a price that was edited in the offers response is shown after its import', () => {
  const db = shopWith([
    { ...mug, salePrice: 9 },
    {
      ...mug,
      slug: 'cup',
      variations: [
        { sku: 'S', name: 'Small', price: 10 },
        { sku: 'L', name: 'Large', price: 14, default: true }
      ]
    }
  ])
  const shown = page(db)
  for (const { price } of shown.data.offers)
    Object.assign(price, { amount: 11.5, originalAmount: null, isOnSale: false })
  expect(apply(db, shown, { urlOf: () => '' }).products.updated).toBe(2)
  expect(page(db).data.offers.map(({ price }) => [price.amount, price.originalAmount])).toEqual([
    [11.5, null],
    [11.5, null]
  ])
})

test('importing the offers response of another shop creates the same offers', () => {
  const shown = page(shopWith(demo), { perPage: 100 })
  const db = shopWith(shown)
  const strip = (offer: Offer) => ({ ...offer, offerId: '', productId: 0, variationCount: 0, variations: [] })
  expect(page(db, { perPage: 100 }).data.offers.map(strip)).toEqual(shown.data.offers.map(strip))
})
