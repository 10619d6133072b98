import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operations } from '../../src/client/api-types.ts'
import { openDatabase, write } from '../../src/platform/db/database.ts'
import { applyPlans } from '../../src/shop/benefits/plans.ts'
import { setPublished } from '../../src/shop/catalog/products.ts'
import { returnStock, takeStock } from '../../src/shop/catalog/stock.ts'
import { setSetting, switchModule, unsetSetting } from '../../src/shop/settings/settings.ts'
import { apply } from '../shop/catalog/support.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

type Product = Operations['GET /store/products/x']['answer']['data']['product']
type Listed = Operations['GET /store/products']['answer']['data']
type Categories = Operations['GET /store/categories']['answer']['data']

const sizes = ['S', 'M', 'L']
const colours = ['Red', 'Blue']
const shirts = sizes.flatMap((Size) =>
  colours.map((Colour) => ({
    sku: `SHIRT-${Size}-${Colour}`,
    options: { Size, Colour },
    price: Size === 'L' ? 24 : 20,
    stock: Size === 'S' ? 0 : 3,
    default: Size === 'M' && Colour === 'Blue'
  }))
)
const long = `${'Word '.repeat(60)}end.`
const catalog = {
  categories: [
    { slug: 'clothing', name: 'Clothing', description: 'Warm things.' },
    { slug: 'shirts', name: 'Shirts', parent: 'clothing' }
  ],
  products: [
    { slug: 'gone', name: 'Gone', price: 3, stock: 0 },
    {
      slug: 'mug',
      name: 'Mug',
      price: 12,
      salePrice: 9.5,
      description: long,
      tags: ['gift'],
      weightGrams: 350,
      stock: 9
    },
    { slug: 'shirt', name: 'Shirt', price: 20, categories: ['Shirts'], variations: shirts },
    {
      slug: 'year',
      name: 'A year',
      price: 25,
      type: 'digital',
      grants: [
        { kind: 'membership', module: 'A', plan: 'friends', period: 'P1Y' },
        { kind: 'download', file: 'secret/sheet.pdf', days: 30 }
      ]
    },
    { slug: 'hidden', name: 'Hidden', price: 1, published: false, categories: ['Secret'] }
  ]
}

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: null })
  apply(shop.app.db, catalog, { now: shop.app.clock.now() })
  const plans = [{ slug: 'friends', name: 'Friends', module: 'A' as const, rank: 0, pro: false }]
  write(shop.app.db, (tx) => applyPlans(tx, plans))
})
afterAll(() => shop.stop())

async function product(slug: string): Promise<Product> {
  return (await shop.visitor().get<{ product: Product }>(`/store/products/${slug}`)).data.product
}

async function list(query = ''): Promise<Listed> {
  return (await shop.visitor().get<Listed>(`/store/products${query}`)).data
}

const slugs = async (query = ''): Promise<string[]> => (await list(query)).products.map(({ slug }) => slug)

describe('GET /store/products', () => {
  it('lists published products as cards, sold-out ones last', async () => {
    const { products, pagination } = await list()
    expect(products.map(({ slug }) => slug)).toEqual(['mug', 'shirt', 'year', 'gone'])
    expect(pagination).toEqual({ page: 1, perPage: 24, total: 4, totalPages: 1 })
    const [mug, shirt] = products
    expect(mug).toEqual({
      productId: 2,
      slug: 'mug',
      name: 'Mug',
      summary: `${'Word '.repeat(39)}Word…`,
      url: `${shop.app.publicUrl()}/products/mug`,
      type: 'physical',
      categories: [],
      price: { amount: 9.5, originalAmount: 12, lowestAmount: null, unitPrice: null, currency: 'EUR', from: false },
      image: null,
      available: true,
      variationCount: 0,
      updatedAt: expect.stringMatching(/^\d{4}-/)
    })
    expect(shirt).toMatchObject({
      categories: [
        { slug: 'clothing', name: 'Clothing' },
        { slug: 'shirts', name: 'Shirts' }
      ],
      price: { amount: 20, originalAmount: null, from: true },
      variationCount: 6
    })
    expect(products.at(-1)?.available).toBe(false)
  })

  it('filters, searches, pages and sorts', async () => {
    expect(await slugs('?category=clothing')).toEqual(['shirt'])
    expect(await slugs('?search=mu')).toEqual(['mug'])
    expect(await slugs('?perPage=2&page=2')).toEqual(['year', 'gone'])
    expect(await slugs('?sort=price')).toEqual(['gone', 'mug', 'shirt', 'year'])
    expect(await slugs('?sort=-price')).toEqual(['year', 'shirt', 'mug', 'gone'])
    expect(await slugs('?sort=name')).toEqual(['year', 'gone', 'mug', 'shirt'])
    expect(await slugs('?sort=newest')).toEqual(['year', 'shirt', 'mug', 'gone'])
    expect(await slugs('?sort=position')).toEqual(['mug', 'shirt', 'year', 'gone'])
    expect(await slugs('?available=true&sort=price')).toEqual(['mug', 'shirt', 'year'])
    expect(await list('?available=true&page=9')).toEqual({
      products: [],
      pagination: { page: 9, perPage: 24, total: 3, totalPages: 1 }
    })
  })

  it.each([
    ['perPage=0', 'perPage'],
    ['perPage=101', 'perPage'],
    ['page=0', 'page'],
    ['sort=popular', 'sort'],
    ['available=maybe', 'available'],
    [`search=${'x'.repeat(101)}`, 'search']
  ])('refuses %s with 422 on its field', async (query, field) => {
    const { status, error } = await shop.visitor().get(`/store/products?${query}`)
    expect([status, error.code, Object.keys(error.details['fieldErrors'] ?? {})]).toEqual([
      422,
      'VALIDATION_FAILED',
      [field]
    ])
  })

  it('sends one response to every client, with its validators, and reads no session', async () => {
    const visitor = shop.visitor()
    await visitor.register()
    const asGuest = await shop.visitor().get('/store/products')
    const asUser = await visitor.get('/store/products')
    expect(asUser.text).toBe(asGuest.text)
    expect(asUser.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=60, stale-while-revalidate=600')
    expect(asUser.headers.get('set-cookie')).toBeNull()
    const etag = asUser.headers.get('etag') ?? ''
    for (const path of ['/store/products', '/store/products/mug', '/store/categories']) {
      const first = await visitor.get(path)
      const again = await visitor.get(path, { 'if-none-match': first.headers.get('etag') ?? '' })
      expect([path, again.status, again.text, again.headers.get('cache-control')]).toEqual([
        path,
        304,
        '',
        first.headers.get('cache-control')
      ])
    }
    expect(etag).toMatch(/^"[\w-]{27}"$/)
  })

  it('is open through the proxy with its query and without a nonce', async () => {
    const read = async (path: string) => (await fetch(`${shop.url}/api/secure${path}`)).json()
    const paged = await read('/store/products?perPage=1&page=2&sort=name')
    expect(paged).toMatchObject({ data: { products: [{ slug: 'gone' }], pagination: { page: 2, perPage: 1 } } })
    expect(await read('/store/products?available=true')).toMatchObject({ data: { pagination: { total: 3 } } })
    expect(await read('/store/products/mug')).toMatchObject({ data: { product: { slug: 'mug' } } })
    expect(await read('/store/categories')).toMatchObject({ data: { categories: [{}, {}] } })
  })

  it.each(['/store/products?sort=price', '/store/products/mug', '/store/categories'])(
    'answers GET and HEAD %s through the proxy with the validators of the service',
    async (path) => {
      const direct = await fetch(`${shop.url}/api/v1${path}`)
      const proxied = await fetch(`${shop.url}/api/secure${path}`)
      const validators = (response: Response) => ['etag', 'cache-control'].map((name) => response.headers.get(name))
      expect([validators(proxied), await proxied.text()]).toEqual([validators(direct), await direct.text()])
      const etag = proxied.headers.get('etag') ?? ''
      const again = await fetch(`${shop.url}/api/secure${path}`, { headers: { 'if-none-match': etag } })
      expect([again.status, validators(again), await again.text()]).toEqual([304, validators(direct), ''])
      const head = await fetch(`${shop.url}/api/secure${path}`, { method: 'HEAD' })
      expect([head.status, validators(head), await head.text()]).toEqual([200, validators(direct), ''])
    }
  )
})

describe('GET /store/products/{slug}', () => {
  it('shows a product with its variations and options', async () => {
    const shirt = await product('shirt')
    expect(shirt.options).toEqual([
      { name: 'Size', values: sizes },
      { name: 'Colour', values: colours }
    ])
    expect(shirt.variations).toHaveLength(6)
    expect(shirt.variations[3]).toEqual({
      variationId: 4,
      sku: 'SHIRT-M-Blue',
      name: 'M / Blue',
      options: { Size: 'M', Colour: 'Blue' },
      price: { amount: 20, originalAmount: null, lowestAmount: null, unitPrice: null, currency: 'EUR', from: false },
      available: true,
      stockLeft: 3,
      image: null,
      gtin: null,
      mpn: null,
      unitMeasure: null,
      weightGrams: null,
      isDefault: true
    })
    expect(shirt.variations[0]).toMatchObject({ available: false, stockLeft: 0 })
    expect(shirt).toMatchObject({
      available: true,
      stockLeft: null,
      requiresShipping: true,
      images: [],
      weightGrams: null
    })
  })

  it('shows what a product gives, without the file of a download', async () => {
    const { grants, requiresShipping } = await product('year')
    expect(requiresShipping).toBe(false)
    expect(grants).toEqual([
      { kind: 'membership', text: 'Membership: Friends, one year', module: 'A', plan: 'friends', period: 'P1Y' },
      { kind: 'download', text: 'A file to download within 30 days', days: 30 }
    ])
  })

  it.each(['hidden', 'nothing', 'MUG', '%6Dug', '2', '__proto__'])('answers 404 for %s', async (slug) => {
    const { status, error, headers } = await shop.visitor().get(`/store/products/${slug}`)
    expect([status, error.code, headers.get('cache-control')]).toEqual([404, 'NOT_FOUND', 'no-store'])
  })
})

describe('GET /store/categories', () => {
  it('lists the categories with published products, parents before children', async () => {
    const { data } = await shop.visitor().get<Categories>('/store/categories')
    const common = { productCount: 1, image: null, updatedAt: expect.stringMatching(/^\d{4}-/) }
    expect(data.categories).toEqual([
      { ...common, slug: 'clothing', name: 'Clothing', description: 'Warm things.', parent: null },
      { ...common, slug: 'shirts', name: 'Shirts', description: '', parent: 'clothing' }
    ])
  })
})

describe('a response from the cache', () => {
  const db = () => shop.app.db
  const now = () => shop.app.clock.now()
  const buy = (productId: number, variationId: number | null, quantity: number) =>
    write(db(), (tx) => takeStock(tx, { productId, variationId }, quantity))

  it('shows the units that are left as they are sold', async () => {
    expect((await product('mug')).stockLeft).toBeNull()
    buy(2, null, 5)
    expect((await product('mug')).stockLeft).toBe(4)
    setSetting(db(), 'store.lowStock', '3', now())
    expect((await product('mug')).stockLeft).toBeNull()
    unsetSetting(db(), 'store.lowStock')
    buy(2, null, 4)
    expect(await product('mug')).toMatchObject({ stockLeft: 0, available: false })
    expect(await slugs()).toEqual(['shirt', 'year', 'gone', 'mug'])
    write(db(), (tx) => returnStock(tx, { productId: 2, variationId: null }, 9))
    expect(await product('mug')).toMatchObject({ stockLeft: null, available: true })
    buy(3, 3, 1)
    expect((await product('shirt')).variations[2]?.stockLeft).toBe(2)
    write(db(), (tx) => returnStock(tx, { productId: 3, variationId: 3 }, 1))
  })

  it('shows the stock that another connection has changed, of products and of variations', async () => {
    const other = openDatabase(join(shop.app.config.dataDir, 'shopstead.db'), { mustExist: true })
    const setStock = (table: 'products' | 'variations', id: number, stock: number) =>
      other.sqlite.prepare(`UPDATE ${table} SET stock = ? WHERE id = ?`).run(stock, id)
    try {
      expect((await product('mug')).stockLeft).toBeNull()
      setStock('products', 2, 4)
      expect((await product('mug')).stockLeft).toBe(4)
      setStock('products', 2, 9)
      expect((await product('mug')).stockLeft).toBeNull()
      setStock('variations', 3, 1)
      expect((await product('shirt')).variations[2]?.stockLeft).toBe(1)
      setStock('variations', 3, 3)
      expect((await product('shirt')).variations[2]?.stockLeft).toBe(3)
    } finally {
      other.sqlite.close()
    }
  })

  it('does not show stock whose sale was rolled back', async () => {
    expect((await product('mug')).stockLeft).toBeNull()
    const sale = () =>
      write(db(), (tx) => {
        takeStock(tx, { productId: 2, variationId: null }, 5)
        throw new Error('The sale failed.')
      })
    expect(sale).toThrow('The sale failed.')
    expect((await product('mug')).stockLeft).toBeNull()
    buy(2, null, 5)
    expect((await product('mug')).stockLeft).toBe(4)
    write(db(), (tx) => returnStock(tx, { productId: 2, variationId: null }, 5))
  })

  const changes: [string, () => void, () => Promise<unknown>][] = [
    ['a price', () => apply(db(), [{ slug: 'mug', name: 'Mug', price: 14 }]), () => product('mug')],
    ['a name', () => apply(db(), [{ slug: 'mug', name: 'Big mug', price: 14 }]), () => list()],
    [
      'a description',
      () => apply(db(), [{ slug: 'mug', name: 'Mug', price: 14, description: 'New.' }]),
      () => product('mug')
    ],
    ['a tag', () => apply(db(), [{ slug: 'mug', name: 'Mug', price: 14, tags: ['new'] }]), () => product('mug')],
    ['a weight', () => apply(db(), [{ slug: 'mug', name: 'Mug', price: 14, weightGrams: 1 }]), () => product('mug')],
    ['a type', () => apply(db(), [{ slug: 'mug', name: 'Mug', price: 14, type: 'digital' }]), () => product('mug')],
    [
      'a category',
      () => apply(db(), [{ slug: 'mug', name: 'Mug', price: 14, categories: ['Cups'] }]),
      () =>
        shop
          .visitor()
          .get('/store/categories')
          .then(({ text }) => text)
    ],
    [
      'the description of a category',
      () => apply(db(), { categories: [{ slug: 'cups', name: 'Cups', description: 'All.' }] }),
      () =>
        shop
          .visitor()
          .get('/store/categories')
          .then(({ text }) => text)
    ],
    [
      'a grant',
      () => apply(db(), [{ slug: 'mug', name: 'Mug', price: 14, grants: [{ kind: 'course', course: 'pots' }] }]),
      () => product('mug')
    ],
    [
      'the name of a plan',
      () =>
        void write(db(), (tx) =>
          applyPlans(tx, [{ slug: 'friends', name: 'Best friends', module: 'A', rank: 0, pro: false }])
        ),
      () => product('year')
    ],
    [
      'an option',
      () =>
        apply(db(), [
          {
            slug: 'shirt',
            name: 'Shirt',
            price: 20,
            variations: shirts.map(({ options, ...rest }) => ({
              ...rest,
              name: rest.sku,
              options: { Cut: `${options.Size}${options.Colour}` }
            }))
          }
        ]),
      () => product('shirt')
    ],
    [
      'the address of pages',
      () => setSetting(db(), 'store.productUrl', 'https://site.example/p/{slug}', now()),
      () => list()
    ],
    ['a publication', () => void setPublished(db(), 'hidden', true, now()), () => list()]
  ]

  it.each(changes)('changes with %s', async (_name, change, read) => {
    const before = JSON.stringify(await read())
    expect(JSON.stringify(await read())).toBe(before)
    change()
    expect(JSON.stringify(await read())).not.toBe(before)
  })

  it('becomes 503 while the commerce module is off', async () => {
    switchModule(db(), 'commerce', false, now())
    for (const path of ['/store/products', '/store/products/mug', '/store/categories']) {
      const { status, error, headers } = await shop.visitor().get(path)
      expect([path, status, error.code, headers.get('cache-control')]).toEqual([
        path,
        503,
        'DEPENDENCY_UNAVAILABLE',
        'no-store'
      ])
    }
    switchModule(db(), 'commerce', true, now())
    expect((await shop.visitor().get('/store/products')).status).toBe(200)
  })
})
