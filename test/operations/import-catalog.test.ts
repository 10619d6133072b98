import { expect, it, onTestFinished } from 'vitest'
import { importBatch, importCatalog } from '../../src/operations/catalog.ts'
import type { ImportOptions } from '../../src/operations/catalog.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import type { ReadOptions } from '../../src/shop/catalog/import/read-file.ts'
import { findProducts } from '../../src/shop/catalog/search/find-products.ts'
import { productBySlug, variationsOfProduct } from '../../src/shop/catalog/stored-product.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'

function openShop(): TestShop {
  const shop = openTestShop()
  onTestFinished(() => shop[Symbol.dispose]())
  return shop
}

/** A connection of another process. */
function other({ db }: TestShop): Db {
  const connection = openDatabase(db.sqlite.name)
  onTestFinished(() => void connection.sqlite.close())
  return connection
}

function run(shop: TestShop, content: object | string, options: ImportOptions & Partial<ReadOptions> = {}) {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const { file } = readCatalogFile(text, { currency: 'EUR', timeZone: 'UTC', ...options })
  return importCatalog(shop, file, options, shop.clock.now())
}

const countProducts = ({ sqlite }: Db): unknown => sqlite.prepare('SELECT count(*) FROM products').pluck().get()
const products = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ slug: `p${index}`, name: `Product ${index}`, price: 1 }))

it('an import stores at most 5 products in one transaction, and a dry run none', async () => {
  const shop = openShop()
  const reader = other(shop)
  const seen: unknown[] = []
  const onProgress = (): void => void seen.push(countProducts(reader))
  await run(shop, products(12), { dryRun: true, onProgress })
  expect([seen, countProducts(reader)]).toEqual([[], 0])
  await run(shop, products(12), { onProgress })
  expect(importBatch).toBe(5)
  expect(seen).toEqual([0, 5, 10, 12])
})

it('an import leaves the connection with commits that wait for the disk', async () => {
  const shop = openShop()
  await run(shop, products(3))
  expect(shop.db.sqlite.pragma('synchronous', { simple: true })).toBe(2)
})

it('a dry run needs no lock', async () => {
  const shop = openShop()
  other(shop).sqlite.exec('BEGIN IMMEDIATE')
  expect((await run(shop, products(3), { dryRun: true })).counts['products']).toMatchObject({ created: 3 })
})

it('a dry run answers what the import then does, for every kind of entry', async () => {
  const shop = openShop()
  await run(shop, { products: products(2), coupons: [{ code: 'TEN', percent: 10 }] })
  const file = {
    categories: [{ slug: 'cups', name: 'Cups' }],
    products: [
      { slug: 'p0', name: 'Renamed', price: 1, categories: ['Kitchen > Cups'], images: [{ src: 'cup.png' }] },
      { slug: 'p1', name: 'Product 1', price: 1 },
      { slug: 'new', name: 'New', tags: ['gift'], variations: [{ sku: 'S', name: 'Small', price: 2 }] }
    ],
    coupons: [
      { code: 'TEN', percent: 12 },
      { code: 'CUPS', amount: 1, categories: ['Cups'], products: ['new'] }
    ],
    plans: [{ slug: 'friend', name: 'Friend', module: 'A' }],
    campaigns: [{ slug: 'roof', name: 'Roof' }],
    tax: [{ country: 'DE', class: 'reduced', ratePercent: 7, name: 'MwSt' }],
    shipping: [{ zone: 'Home', countries: ['DE'], methods: [{ id: 'post', name: 'Post', amount: 4 }] }]
  }
  const plan = await run(shop, file, { dryRun: true })
  const changed = shop.db.sqlite.prepare('SELECT total_changes()').pluck()
  const before = changed.get()
  expect(await run(shop, file, { dryRun: true })).toEqual(plan)
  expect(changed.get()).toBe(before)
  expect(await run(shop, file)).toEqual(plan)
  expect(plan.counts).toMatchObject({ products: { created: 1, updated: 1, unchanged: 1 } })
  expect((await run(shop, file)).changes.every(({ outcome }) => outcome === 'unchanged')).toBe(true)
})

it('a file whose last entry is refused changes nothing', async () => {
  const shop = openShop()
  const coupons = [{ code: 'TEN', percent: 10, products: ['missing'] }]
  await expect(run(shop, { products: products(30), coupons })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  expect(countProducts(shop.db)).toBe(0)
})

it('an import that is interrupted says where it stopped, and continues there', async () => {
  const shop = openShop()
  const controller = new AbortController()
  const interruption = () => ({ signal: controller.signal, [Symbol.dispose]: () => undefined })
  const onProgress = (done: number): void => void (done === 50 && controller.abort())
  await expect(run(shop, products(60), { onProgress, interruption })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'The import stopped after 50 of 60 products. Run it again: it continues there.',
    details: { imported: 50, products: 60 }
  })
  expect(countProducts(shop.db)).toBe(50)
  expect((await run(shop, products(60))).counts['products']).toEqual({ created: 10, updated: 0, unchanged: 50 })
})

it('the products of a renamed and moved category are updated 5 at a time, also after an interruption', async () => {
  const shop = openShop()
  const light = (name: string, parent?: string) => ({
    slug: 'light',
    name,
    ...(parent === undefined ? {} : { parent })
  })
  const lit = products(22).map((product) => ({ ...product, categories: ['light'] }))
  await run(shop, { categories: [light('Light')], products: lit })
  const found = (query: object): number => findProducts(shop.db, { ...query, page: 1, perPage: 100 }, 0).total
  const counts = () => [found({ text: 'lantern' }), found({ text: 'light' }), found({ category: 'home' })]
  expect(counts()).toEqual([0, 22, 0])

  const { signal } = new AbortController()
  let asked = 0
  // It is asked before the categories, and then before each transaction with products of the category.
  signal.throwIfAborted = () => {
    asked += 1
    if (asked === 4) throw new DOMException('Stopped.', 'AbortError')
  }
  const renamed = { categories: [{ slug: 'home', name: 'Home' }, light('Lanterns', 'home')], products: [] }
  const interruption = () => ({ signal, [Symbol.dispose]: () => undefined })
  await expect(run(shop, renamed, { interruption })).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(counts()).toEqual([10, 12, 10])
  await run(shop, renamed)
  expect(counts()).toEqual([22, 0, 22])
  expect((await run(shop, lit)).counts['products']).toMatchObject({ unchanged: 22 })
})

it('an import keeps the stock of existing products, and sets it if asked to', async () => {
  const shop = openShop()
  const file = (stock: number) => [
    { slug: 'mug', name: 'Mug', price: 1, stock },
    { slug: 'shirt', name: 'Shirt', variations: [{ sku: 'S', name: 'S', price: 2, stock }] }
  ]
  const stocks = () => {
    const [mug, shirt] = [productBySlug(shop.db, 'mug'), productBySlug(shop.db, 'shirt')]
    return [mug?.stock, variationsOfProduct(shop.db, shirt?.id ?? 0)[0]?.stock]
  }
  await run(shop, file(5))
  expect(stocks()).toEqual([5, 5])
  expect((await run(shop, file(9))).counts['products']).toMatchObject({ unchanged: 2 })
  expect(stocks()).toEqual([5, 5])
  await run(shop, file(9), { withStock: true })
  expect(stocks()).toEqual([9, 9])
})

const header = 'Type,SKU,Name,Regular price,Published\n'

it('a product of an export keeps its address when the slugs come from names later', async () => {
  const shop = openShop()
  await run(shop, [{ slug: 'cup-1', name: 'Old cup', price: 1 }])
  const rows = `${header}simple,CUP-1,Blue cup,3,1\nsimple,BOWL-1,Blue bowl,4,1\n`
  await run(shop, rows, { slugsFrom: 'name' })
  expect(productBySlug(shop.db, 'cup-1')).toMatchObject({ name: 'Blue cup', sku: 'CUP-1' })
  expect(productBySlug(shop.db, 'blue-bowl')).toMatchObject({ sku: 'BOWL-1' })
  const again = await run(shop, rows.replaceAll('Blue', 'Green'), { slugsFrom: 'name' })
  expect(again.changes.map(({ key, outcome }) => [key, outcome])).toEqual([
    ['cup-1', 'updated'],
    ['blue-bowl', 'updated']
  ])
})

it('products with the same SKU stay different products', async () => {
  const shop = openShop()
  const rows = `${header}simple,SAME,One,3,1\nsimple,SAME,Two,4,1\n`
  await run(shop, rows)
  expect((await run(shop, rows)).counts['products']).toEqual({ created: 0, updated: 0, unchanged: 2 })
  expect(countProducts(shop.db)).toBe(2)
})

it('a product without a price is created unpublished, and an existing one keeps its price', async () => {
  const shop = openShop()
  const rows = `${header}simple,CUP,Cup,,1\n`
  await run(shop, rows)
  expect(productBySlug(shop.db, 'cup')).toMatchObject({ published: false, priceMinor: 0 })
  await run(shop, [{ slug: 'cup', name: 'Cup', price: 3, published: true }])
  await run(shop, rows.replace('Cup', 'Blue cup'))
  expect(productBySlug(shop.db, 'cup')).toMatchObject({ name: 'Blue cup', published: true, priceMinor: 300 })
})

it('a new description without markup replaces the markup of the old one', async () => {
  const shop = openShop()
  const html = '<ul><li>blue</li></ul>'
  await run(shop, [{ slug: 'cup', name: 'Cup', price: 1, descriptionHtml: html }])
  expect(productBySlug(shop.db, 'cup')).toMatchObject({ description: '- blue', descriptionHtml: html })
  await run(shop, [{ slug: 'cup', name: 'Cup', price: 1, description: '- blue' }])
  expect(productBySlug(shop.db, 'cup')).toMatchObject({ descriptionHtml: html })
  await run(shop, [{ slug: 'cup', name: 'Cup', price: 1, description: 'Red.' }])
  expect(productBySlug(shop.db, 'cup')).toMatchObject({ description: 'Red.', descriptionHtml: null })
})
