import { afterAll, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { createClient } from '../../../src/client/client.ts'
import { readTable } from '../../../src/shop/catalog/import/csv-table.ts'
import { importRedirects } from '../../../src/shop/redirects/import-redirects.ts'
import {
  findRedirect,
  listRedirects,
  redirectKey,
  removeRedirect,
  setRedirect
} from '../../../src/shop/redirects/redirects.ts'
import { renameProduct } from '../../../src/shop/redirects/rename-product.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { startShop } from '../../support/running-shop.ts'

const shop = await startShop()
const { app } = shop
setSetting(app.db, 'storefront.enabled', 'true', app.clock.now())
afterAll(() => shop.stop())

const now = app.clock.now()
const refusalOf = (work: () => unknown): unknown => {
  try {
    work()
    return undefined
  } catch (error) {
    return error instanceof AppError ? error.details : error
  }
}
const browse = (path: string) =>
  fetch(`${shop.url}${path}`, { redirect: 'manual', headers: { accept: 'text/html' } }).then((answer) => [
    answer.status,
    answer.headers.get('location')
  ])

describe('an old address', () => {
  it.each([
    ['/Product/Mug/', '/product/mug'],
    ['https://old.example/product/mug?utm_source=news#top', '/product/mug'],
    ['/?p=12', '/?p=12'],
    ['/?utm_source=x&p=12', '/?p=12'],
    ['/produkt/gr%C3%B6%C3%9Fe/', '/produkt/größe'],
    ['/produkt/größe', '/produkt/größe'],
    ['/100%/', '/100%'],
    ['/', '/'],
    ['javascript:alert(1)', undefined],
    [`/${'a'.repeat(3000)}`, undefined]
  ])('%s is kept as %s', (address, key) => {
    expect(redirectKey(address)).toBe(key)
  })

  it('leads to a product, a category, a path or another site, for good and in browsers', async () => {
    setRedirect(app, '/product/old-mug', { product: 'mug' }, now)
    setRedirect(app, '/product-category/lights/', { category: 'light' }, now)
    setRedirect(app, '/about-us', { to: '/imprint' }, now)
    setRedirect(app, '/blog', { to: 'https://blog.example/' }, now)
    setRedirect(app, '/?p=7', { product: 'lamp' }, now)
    expect(await browse('/product/old-mug/?utm_source=news')).toEqual([301, '/products/mug'])
    expect(await browse('/product-category/lights')).toEqual([301, '/?category=light'])
    expect(await browse('/about-us')).toEqual([301, '/imprint'])
    expect(await browse('/blog/')).toEqual([301, 'https://blog.example/'])
    expect(await browse('/?p=7')).toEqual([301, '/products/lamp'])
    expect(await browse('/?p=8')).toEqual([200, null])
    expect(await browse('/nothing')).toEqual([404, null])
    const program = await fetch(`${shop.url}/product/old-mug`, { redirect: 'manual' })
    expect(program.status).toBe(404)
  })

  it('is found by the API and the client, and no answer is an error', async () => {
    const client = createClient({ baseUrl: shop.apiRoot })
    expect(await client.redirects.find('/product/old-mug/')).toBe('/products/mug')
    expect(await client.redirects.find('/nothing')).toBeNull()
    const { status } = await fetch(`${shop.apiRoot}/store/redirects`)
    expect(status).toBe(422)
  })

  it('follows a product whose slug changes, back and forth', async () => {
    setRedirect(app, '/shop/print', { product: 'print' }, now)
    renameProduct(app, 'print', 'chart', now)
    expect(await browse('/shop/print')).toEqual([301, '/products/chart'])
    expect(await browse('/products/print')).toEqual([301, '/products/chart'])
    renameProduct(app, 'chart', 'print', now)
    expect(await browse('/products/chart')).toEqual([301, '/products/print'])
    expect((await browse('/products/print'))[0]).toBe(200)
    expect(refusalOf(() => renameProduct(app, 'print', 'mug', now))).toEqual({
      fieldErrors: { slug: ['Another product has this slug.'] }
    })
  })

  it('never leads in a circle, to another scheme, or from the front page', () => {
    setRedirect(app, '/a', { to: '/b' }, now)
    setRedirect(app, '/b', { to: '/c' }, now)
    for (const to of ['/a', '/A/', '/b/']) {
      expect(refusalOf(() => setRedirect(app, '/c', { to: to === '/b/' ? '/c' : to }, now))).toMatchObject({
        fieldErrors: { to: [expect.stringContaining('lead back')] }
      })
    }
    for (const to of ['javascript:alert(1)', '//evil.example', '/\\evil.example', 'about', ''])
      expect(refusalOf(() => setRedirect(app, '/d', { to }, now))).toHaveProperty('fieldErrors.to')
    expect(refusalOf(() => setRedirect(app, '/', { to: '/a' }, now))).toHaveProperty('fieldErrors.from')
    expect(findRedirect(app, '/c')).toBeUndefined()
  })

  it('is removed once', () => {
    setRedirect(app, '/gone', { to: '/a' }, now)
    removeRedirect(app.db, '/gone/')
    expect(() => removeRedirect(app.db, '/gone')).toThrow('no redirect')
  })
})

describe('a file of redirects', () => {
  const read = (csv: string, isDryRun = false) => importRedirects(app, readTable(csv), { isDryRun, now })

  it('is read from our own export and from that of Shopify, and again without a change', () => {
    const csv = 'Redirect from,Redirect to\n/pages/story,/about\n/collections/all,/\n'
    expect(read(csv, true)).toEqual({ read: 2, changed: 2 })
    expect(findRedirect(app, '/pages/story')).toBeUndefined()
    expect(read(csv)).toEqual({ read: 2, changed: 2 })
    expect(read(csv)).toEqual({ read: 2, changed: 0 })
    const own = [...listRedirects(app)].map(({ from, to }) => `${from},${to}`)
    expect(read(`from,to\n${own.join('\n')}`).changed).toBe(0)
  })

  it('is refused with every wrong line, and changes nothing', () => {
    expect(refusalOf(() => read('from,to\n/x,/y\n/z,ftp://a\n/,/y\n'))).toEqual({
      errors: [
        { line: 3, column: 'to', cause: expect.stringContaining('path') },
        { line: 4, column: 'from', cause: expect.stringContaining('path') }
      ],
      total: 2
    })
    expect(findRedirect(app, '/x')).toBeUndefined()
    expect(refusalOf(() => read('old,to\n/x,/y\n'))).toMatchObject({ errors: [{ column: 'from' }] })
  })
})
