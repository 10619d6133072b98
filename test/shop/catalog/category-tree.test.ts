import { describe, expect, it } from 'vitest'
import { exportCatalog } from '../../../src/shop/catalog/export-catalog.ts'
import { categoriesOfProduct, productBySlug } from '../../../src/shop/catalog/stored-product.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { apply, shopWith } from './support.ts'

const product = (slug: string, ...categories: string[]) => ({ slug, name: slug, price: 10, categories })

function slugsOf(db: Db, slug: string): string[] {
  return categoriesOfProduct(db, productBySlug(db, slug)?.id ?? 0).map((category) => category.slug)
}

describe('the categories of a product', () => {
  it('include the ones above them, in the order of the path', () => {
    const db = shopWith([product('shirt', 'Sale', 'Clothing > Men > Shirts', 'Clothing')])
    expect(slugsOf(db, 'shirt')).toEqual(['sale', 'clothing', 'men', 'shirts'])
  })

  it('with equal names below different parents are different categories', () => {
    const db = shopWith([product('brogue', 'Men > Shoes'), product('pump', 'Women > Shoes')])
    expect([slugsOf(db, 'brogue'), slugsOf(db, 'pump')]).toEqual([
      ['men', 'shoes'],
      ['women', 'shoes-women']
    ])
    const again = [product('pump', 'Women > Shoes'), product('brogue', 'Men > Shoes'), product('clog', 'Women > Shoes')]
    expect(apply(db, again).products).toEqual({ created: 1, updated: 0, unchanged: 2 })
    expect(slugsOf(db, 'clog')).toEqual(['women', 'shoes-women'])
  })

  it('change when a category without a parent gets one', () => {
    const db = shopWith([product('shirt', 'Shirts'), product('coat', 'Clothing')])
    apply(db, [product('polo', 'Clothing > Shirts')])
    expect([slugsOf(db, 'shirt'), slugsOf(db, 'polo')]).toEqual([
      ['clothing', 'shirts'],
      ['clothing', 'shirts']
    ])
  })

  it('never form a circle', () => {
    const db = shopWith([product('a', 'One > Two'), product('b', 'Two > One'), product('c', 'One > One')])
    expect([slugsOf(db, 'a'), slugsOf(db, 'b'), slugsOf(db, 'c')]).toEqual([
      ['one', 'two'],
      ['one', 'two', 'one-two'],
      ['one', 'one-one']
    ])
  })
})

describe('the categories of a file', () => {
  const tree = [
    { slug: 'wear', name: 'Clothing', description: 'Warm things.' },
    { slug: 'socks', name: 'Socks', parent: 'wear' }
  ]

  it('have a parent and a description, and products refer to them by slug', () => {
    const db = shopWith({ categories: tree, products: [product('sock', 'socks')] })
    expect(slugsOf(db, 'sock')).toEqual(['wear', 'socks'])
    expect(exportCatalog(db, 'EUR').categories).toEqual([
      { slug: 'socks', name: 'Socks', parent: 'wear', description: '' },
      { slug: 'wear', name: 'Clothing', parent: null, description: 'Warm things.' }
    ])
  })

  it('keep what the file does not have, and count changes', () => {
    const db = shopWith({ categories: tree })
    expect(apply(db, { categories: tree }).categories).toEqual({ created: 0, updated: 0, unchanged: 2 })
    const short = [
      { slug: 'wear', name: 'Wear' },
      { slug: 'socks', name: 'Socks' }
    ]
    expect(apply(db, { categories: short }).categories).toEqual({ created: 0, updated: 1, unchanged: 1 })
    expect(exportCatalog(db, 'EUR').categories).toMatchObject([{ parent: 'wear' }, { description: 'Warm things.' }])
    apply(db, { categories: [{ slug: 'socks', name: 'Socks', parent: null }] })
    expect(exportCatalog(db, 'EUR').categories).toMatchObject([{ slug: 'socks', parent: null }, { slug: 'wear' }])
  })

  it('are refused with an unknown parent, or one that is below the category', () => {
    const db = shopWith({ categories: tree })
    for (const parent of ['nowhere', 'socks', 'wear']) {
      expect(() => apply(db, { categories: [{ slug: 'wear', name: 'Wear', parent }] })).toThrow(
        expect.objectContaining({ code: 'VALIDATION_FAILED' })
      )
    }
  })

  it('are the same after an export and an import, also with equal names and odd names', () => {
    const products = [
      product('brogue', 'Men > Shoes'),
      product('pump', 'Women > Shoes', 'Sale > 50 % > Today'),
      product('sock', 'socks')
    ]
    const coupons = [{ code: 'SHOES', percent: 10, categories: ['Women > Shoes'] }]
    const db = shopWith({ categories: tree, products, coupons })
    const file = exportCatalog(db, 'EUR')
    expect(apply(db, file)).toMatchObject({
      products: { updated: 0 },
      coupons: { updated: 0 },
      changes: [{}, {}, {}, {}]
    })
    expect(exportCatalog(shopWith(file), 'EUR')).toEqual(file)
  })
})
