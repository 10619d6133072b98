import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import { applyCatalogFile } from '../../../src/shop/catalog/apply-catalog.ts'
import { dryRun } from '../../../src/platform/db/dry-run.ts'
import { couponScope, findCoupon } from '../../../src/shop/catalog/coupons.ts'
import { readCatalogFile } from '../../../src/shop/catalog/import/read-file.ts'
import { findSellable, publicPrices } from '../../../src/shop/catalog/sellable.ts'
import { takeStock } from '../../../src/shop/catalog/stock.ts'
import {
  categoriesOfProduct,
  grantsOfProduct,
  productBySlug,
  tagsOfProduct,
  variationsOfProduct
} from '../../../src/shop/catalog/stored-product.ts'
import { revisions } from '../../../src/shop/settings/settings.ts'
import { apply, shopWith } from './support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

const demo: unknown = JSON.parse(readFileSync('seeds/demo/catalog.json', 'utf8'))
const mug = { slug: 'mug', name: 'Mug', price: '12.00', description: 'Blue.', categories: ['Home'], tags: ['gift'] }

function product(db: Parameters<typeof productBySlug>[0], slug: string) {
  const row = productBySlug(db, slug)
  if (row === undefined) throw new Error(`no ${slug}`)
  return row
}

test('the demo shop is created once, and importing it again changes nothing, not even the revision', () => {
  const db = emptyShop()
  const first = apply(db, demo)
  expect(first.products).toEqual({ created: 38, updated: 0, unchanged: 0 })
  expect(first.coupons).toEqual({ created: 5, updated: 0, unchanged: 0 })
  const before = revisions(db).catalog
  const changed = db.sqlite.prepare('SELECT total_changes()').pluck().get()
  const second = apply(db, demo, { now: noon + 1000 })
  expect(second.products).toEqual({ created: 0, updated: 0, unchanged: 38 })
  expect(second.coupons).toEqual({ created: 0, updated: 0, unchanged: 5 })
  expect(revisions(db).catalog).toBe(before)
  expect(db.sqlite.prepare('SELECT total_changes()').pluck().get()).toBe(changed)
})

test('a changed field is reported and missing fields stay unchanged', () => {
  const db = shopWith([mug])
  const { changes } = apply(db, [{ slug: 'mug', name: 'Mug', price: '13.00', tags: ['blue'] }])
  const fields = [
    { field: 'price', from: 12, to: 13 },
    { field: 'tags', from: ['gift'], to: ['blue'] }
  ]
  expect(changes).toEqual([{ kind: 'product', key: 'mug', outcome: 'updated', fields }])
  const row = product(db, 'mug')
  expect(row).toMatchObject({ priceMinor: 1300, description: 'Blue.' })
  expect(tagsOfProduct(db, row.id)).toEqual(['blue'])
  expect(categoriesOfProduct(db, row.id).map(({ slug }) => slug)).toEqual(['home'])
})

test('changes of variations name the SKU, and the list of SKUs when it differs', () => {
  const shirt = { slug: 'shirt', name: 'Shirt', price: 20 }
  const of = (sku: string, fields: object = {}) => ({ sku, name: sku, price: 20, options: { Size: sku }, ...fields })
  const db = shopWith([{ ...shirt, variations: [of('S', { images: [{ src: 'https://a.example/s.jpg' }] }), of('M')] }])
  const change = (variations: object[]) => apply(db, [{ ...shirt, variations }]).changes[0]?.fields
  expect(change([of('S', { price: 21 }), of('M', { stock: 3 })])).toEqual([
    { field: 'price', sku: 'S', from: 20, to: 21 },
    { field: 'stock', sku: 'M', from: null, to: 3 }
  ])
  expect(change([of('M', { stock: 3 }), of('S', { price: 21, images: [] })])).toEqual([
    { field: 'variations', from: ['S', 'M'], to: ['M', 'S'] },
    { field: 'images', sku: 'S', from: [{ src: 'https://a.example/s.jpg', alt: '' }], to: null }
  ])
  expect(change([of('M', { stock: 3 })])).toEqual([{ field: 'variations', from: ['M', 'S'], to: ['M'] }])
})

test('a change of a long text is reported in part', () => {
  const db = shopWith([mug])
  const [change] = apply(db, [{ ...mug, description: 'x'.repeat(2_000) }]).changes
  expect(change?.fields).toEqual([{ field: 'description', from: 'Blue.', to: `${'x'.repeat(300)}…` }])
})

test('an update of each product of the demo names at least one field, and the same file again none', () => {
  const { products } = JSON.parse(readFileSync('seeds/demo/catalog.json', 'utf8')) as { products: object[] }
  const db = shopWith({ products })
  const edits: object[] = [
    { name: 'Other' },
    { grants: [] },
    { images: [] },
    { categories: ['Else'] },
    { url: 'https://a.example/' }
  ]
  const file = products.map((product, index) => ({ ...product, ...edits[index % edits.length] }))
  const { changes } = apply(db, file)
  expect(changes.filter(({ outcome, fields }) => fields.length > 0 !== (outcome === 'updated'))).toEqual([])
  expect(apply(db, file).changes.flatMap(({ fields }) => fields)).toEqual([])
})

test('products without a position follow the others, in the order of the file', () => {
  const db = shopWith([
    { ...mug, position: 7 },
    { ...mug, slug: 'cup' },
    { ...mug, slug: 'jug' }
  ])
  expect(['mug', 'cup', 'jug'].map((slug) => product(db, slug).position)).toEqual([7, 8, 9])
})

test('category names with the same slug are one category, in products and coupons', () => {
  const db = shopWith({
    products: [mug, { ...mug, slug: 'cup', categories: ['home', 'Prints & Paper', 'HOME!'] }],
    coupons: [{ code: 'Paper', percent: 5, categories: ['prints paper'], products: ['mug'] }]
  })
  expect(categoriesOfProduct(db, product(db, 'cup').id).map(({ name }) => name)).toEqual(['Home', 'Prints & Paper'])
  const coupon = findCoupon(db, ' PAPER ')
  expect(coupon && couponScope(db, coupon.id)).toEqual({ productIds: [product(db, 'mug').id], categoryIds: [2] })
})

test('a variation missing from the file cannot be bought, and a later import restores it under its id', () => {
  const small = { sku: 'S', name: 'Small', price: '10.00', stock: 3 }
  const large = { sku: 'L', name: 'Large', price: '11.00' }
  const db = shopWith([{ ...mug, variations: [small, large] }])
  const { id } = product(db, 'mug')
  const [before] = variationsOfProduct(db, id)
  expect(apply(db, [{ ...mug, variations: [large] }]).changes[0]?.fields).toEqual([
    { field: 'variations', from: ['S', 'L'], to: ['L'] }
  ])
  expect(variationsOfProduct(db, id).map(({ sku, isDefault }) => [sku, isDefault])).toEqual([['L', false]])
  expect(findSellable(db, id, before?.id ?? 0, publicPrices(noon))).toBe('unknown_variation')
  apply(db, [{ ...mug, variations: [small, large] }])
  expect(variationsOfProduct(db, id)[0]).toEqual(before)
})

test('seeding keeps the stock of existing products, and an import sets it', () => {
  const catalog = [
    { ...mug, stock: 5 },
    { ...mug, slug: 'cup', variations: [{ sku: 'S', name: 'Small', price: '10.00', stock: 5 }] }
  ]
  const db = shopWith(catalog)
  const cup = product(db, 'cup')
  const variationId = variationsOfProduct(db, cup.id)[0]?.id ?? 0
  write(db, (tx) => takeStock(tx, { productId: product(tx, 'mug').id, variationId: null }, 2))
  write(db, (tx) => takeStock(tx, { productId: cup.id, variationId }, 3))
  expect(apply(db, catalog, { keepStock: true }).products.unchanged).toBe(2)
  expect([product(db, 'mug').stock, variationsOfProduct(db, cup.id)[0]?.stock]).toEqual([3, 2])
  expect(apply(db, catalog).changes.map(({ fields }) => fields)).toEqual([
    [{ field: 'stock', from: 3, to: 5 }],
    [{ field: 'stock', sku: 'S', from: 2, to: 5 }]
  ])
  expect([product(db, 'mug').stock, variationsOfProduct(db, cup.id)[0]?.stock]).toEqual([5, 5])
})

test('grants are stored with their defaults and compared by value', () => {
  const grants = [
    { kind: 'membership', module: 'B', plan: 'guild', period: 'P1Y' },
    { kind: 'download', file: 'sheet.pdf', days: 30 },
    { kind: 'donation' }
  ]
  const db = shopWith([{ ...mug, grants }])
  expect(grantsOfProduct(db, product(db, 'mug').id)).toEqual([
    grants[0],
    grants[1],
    { kind: 'donation', campaign: null }
  ])
  expect(apply(db, [{ ...mug, grants }]).products.unchanged).toBe(1)
})

test('a partial sale in the file replaces the stored part that contradicts it', () => {
  const db = shopWith([{ ...mug, salePrice: '9.00', saleStart: '2026-05-01', saleEnd: '2026-07-01' }])
  apply(db, [{ slug: 'mug', name: 'Mug', price: '8.00' }])
  expect(product(db, 'mug')).toMatchObject({ priceMinor: 800, salePriceMinor: null })
  apply(db, [{ slug: 'mug', name: 'Mug', price: '8.00', saleEnd: '2026-04-01' }])
  expect(product(db, 'mug')).toMatchObject({ saleStartsAt: null, saleEndsAt: Date.UTC(2026, 3, 2) })
})

test('a dry run reports the changes and writes nothing', () => {
  const db = shopWith([mug])
  const before = {
    revision: revisions(db).catalog,
    rows: db.sqlite.prepare('SELECT count(*) FROM products').pluck().get()
  }
  const content = JSON.stringify({
    products: [
      { ...mug, price: 1 },
      { ...mug, slug: 'cup' }
    ],
    coupons: [{ code: 'A', percent: 5 }]
  })
  const { file } = readCatalogFile(content, { currency: 'EUR', timeZone: 'UTC' })
  const plan = dryRun(db, (tx) => applyCatalogFile(tx, file, { keepStock: false }, noon))
  expect(plan.changes.map(({ key, outcome }) => [key, outcome])).toEqual([
    ['mug', 'updated'],
    ['cup', 'created'],
    ['A', 'created']
  ])
  expect({
    revision: revisions(db).catalog,
    rows: db.sqlite.prepare('SELECT count(*) FROM products').pluck().get()
  }).toEqual(before)
})

test('a coupon for an unknown product rolls the whole file back', () => {
  const db = emptyShop()
  const file = { products: [mug], coupons: [{ code: 'A', percent: 5, products: ['mug', 'nothing'] }] }
  expect(() => apply(db, file)).toThrow(AppError)
  expect(db.sqlite.prepare('SELECT count(*) FROM products').pluck().get()).toBe(0)
})

test('a coupon keeps its uses and stays disabled, and a limit below its uses is refused', () => {
  const db = shopWith({ coupons: [{ code: 'A', percent: 5, maxUses: 3 }] })
  db.sqlite.exec('UPDATE coupons SET used = 2, enabled = 0')
  expect(apply(db, { coupons: [{ code: 'a', percent: 7, maxUses: 2, exclusive: true }] }).changes[0]?.fields).toEqual([
    { field: 'code', from: 'A', to: 'a' },
    { field: 'percent', from: 5, to: 7 },
    { field: 'maxUses', from: 3, to: 2 },
    { field: 'exclusive', from: false, to: true }
  ])
  expect(findCoupon(db, 'A')).toMatchObject({ code: 'a', percentBps: 700, used: 2, enabled: false })
  expect(() => apply(db, { coupons: [{ code: 'a', percent: 7, maxUses: 1 }] })).toThrow('used by 2 orders')
})
