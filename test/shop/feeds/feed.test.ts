import { rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { setSetting, switchModule } from '../../../src/shop/settings/settings.ts'
import { runCheck } from '../../../src/operations/diagnosis/check.ts'
import { feedCheck } from '../../../src/operations/diagnosis/feed-check.ts'
import { feedReport } from '../../../src/shop/feeds/walk.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { testClock } from '../../support/shop-context.ts'
import { attributes } from './specification.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const clock = testClock(noon)
const [front, back] = ['a'.repeat(32), 'b'.repeat(32)]
const long = 'Long word '.repeat(700)

const catalog = {
  products: [
    {
      slug: 'tee',
      name: 'Tee <b> & "co"',
      description: 'Soft\ncotton &\tmore.',
      brand: 'Harbour Works',
      gtin: '4006381333931',
      price: 20,
      categories: ['Clothes > Shirts', 'New'],
      saleEnd: '2026-12-01T00:00:00Z',
      weightGrams: 1500,
      mpn: 'HW-1',
      unitMeasure: '0.75L',
      variations: [
        { sku: 'T-S', options: { Größe: 'S', Colour: 'Red' }, price: 20, stock: 0 },
        {
          sku: 'T-M',
          options: { Größe: 'M', Colour: 'Red' },
          price: 24,
          salePrice: 18,
          stock: 5,
          gtin: '0306406152',
          mpn: 'HW-1-M'
        }
      ]
    },
    { slug: 'long', name: long.slice(0, 250), description: long, price: 3, type: 'digital', gtin: '4006381333932' },
    { slug: 'own', name: 'Own page', description: 'Elsewhere.', price: 3, url: 'https://other.example/own?a=1&b=2' },
    {
      slug: 'soon',
      name: 'Soon',
      description: 'On sale soon.',
      price: 9,
      salePrice: 8,
      saleStart: '2026-11-25T00:00:00Z'
    },
    { slug: 'plain', name: 'No picture', description: 'None.', price: 3 },
    { slug: 'free', name: 'Free', description: 'Free.', price: 0 },
    { slug: 'mute', name: 'Mute', price: 2 },
    {
      slug: 'club',
      name: 'Club',
      description: 'Each month.',
      price: 5,
      type: 'digital',
      grants: [{ kind: 'subscription', interval: 'month' }]
    },
    { slug: 'draft', name: 'Draft', description: 'Hidden.', price: 4, published: false }
  ],
  shipping: [
    {
      zone: 'Home',
      countries: ['DE', 'AT'],
      methods: [
        { id: 'express', name: 'Express', amount: '9.00' },
        { id: 'parcel', name: 'Parcel: small, blue', amount: '4.00', perKg: '1.00', maxWeightGrams: 5000 }
      ]
    },
    { zone: 'World', countries: '*', methods: [{ id: 'world', name: 'World', amount: '20.00' }] }
  ]
}

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: catalog, overrides: { clock } })
  shop.app.db.sqlite.exec(`
    INSERT INTO media (hash, width, height, created_at) VALUES ('${front}', 800, 600, 0), ('${back}', 800, 600, 0);
    INSERT INTO product_images (product_id, src, alt, position, media_hash, created_at)
      SELECT id, 'x', '', 0, '${front}', 0 FROM products WHERE slug <> 'plain';
    INSERT INTO product_images (product_id, variation_id, src, alt, position, media_hash, created_at)
      SELECT product_id, id, 'y', '', 0, '${back}', 0 FROM variations WHERE sku = 'T-M'`)
})
beforeEach(() => clock.advance(61_000))
afterAll(() => shop.stop())

const get = (name: string, init: RequestInit = {}) => fetch(`${shop.url}/feeds/${name}`, init)
const tsv = async (): Promise<Record<string, string>[]> =>
  parse(await (await get('products.tsv')).text(), { columns: true, delimiter: '\t' })

/** The items of an XML feed: each attribute with its values. */
async function items(): Promise<Map<string, string[]>[]> {
  const xml = await (await get('google.xml')).text()
  expect(xml).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<rss version="2\.0" xmlns:g="[^"]+"><channel>/)
  return [...xml.matchAll(/<item>(.*?)<\/item>/gs)].map(([, item = '']) => {
    const found = [...item.matchAll(/<g:(\w+)>(.*?)<\/g:\1>/gs)]
    return new Map(
      [...Map.groupBy(found, ([, name = '']) => name)].map(([name, all]) => [name, all.map(([, , text = '']) => text)])
    )
  })
}

const decoded = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
/** A shipping element as text: `DE::Parcel:4.00 EUR`. */
const shippingText = (xml: string): string => {
  const part = (name: string) => new RegExp(`<g:${name}>(.*?)</g:${name}>`).exec(xml)?.[1] ?? ''
  return `${part('country')}::${part('service').replaceAll(/[:,] ?/g, ' ')}:${part('price')}`
}

describe('the feed for Google', () => {
  it('has the attributes of the specification, in their forms and limits', async () => {
    const found = await items()
    expect(found.length).toBe(5)
    for (const item of found) {
      for (const [name, { required }] of Object.entries(attributes))
        if (required === 'always') expect([item.get('id'), name, item.has(name)]).toEqual([item.get('id'), name, true])
      for (const [name, values] of item) {
        const attribute = attributes[name]
        expect([name, attribute === undefined, values.length <= (attribute?.times ?? 1)]).toEqual([name, false, true])
        for (const value of values.map((text) => (name === 'shipping' ? shippingText(text) : decoded(text)))) {
          const fits = Array.from(value).length <= (attribute?.maxLength ?? 0)
          expect([name, value, fits, attribute?.form.test(value)]).toEqual([name, value, true, true])
        }
      }
    }
    const ids = found.map((item) => item.get('id')?.[0])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('describes each variation with its price, sale, picture, options, stock and shipping', async () => {
    const [small, medium] = await items()
    const media = `${shop.app.publicUrl()}/media`
    expect(Object.fromEntries(medium ?? [])).toMatchObject({
      id: ['1-2'],
      item_group_id: ['1'],
      title: ['Tee &lt;b&gt; &amp; "co", M / Red'],
      description: ['Soft cotton &amp; more.'],
      link: [`${shop.app.publicUrl()}/products/tee?variation=2`],
      image_link: [`${media}/${back}-800.webp`],
      additional_image_link: [`${media}/${front}-800.webp`],
      availability: ['in_stock'],
      price: ['24.00 EUR'],
      sale_price: ['18.00 EUR'],
      sale_price_effective_date: [expect.stringMatching(/^2026-11-20T12:00:00.*\/2026-12-01T00:00:00/)],
      brand: ['Harbour Works'],
      gtin: ['9780306406157'],
      mpn: ['HW-1-M'],
      identifier_exists: ['yes'],
      unit_pricing_measure: ['0.75 l'],
      unit_pricing_base_measure: ['1 l'],
      product_type: ['Clothes &gt; Shirts'],
      size: ['M'],
      color: ['Red'],
      shipping_weight: ['1500 g']
    })
    expect(medium?.get('shipping')?.map(shippingText)).toEqual([
      'AT::Parcel small blue:5.50 EUR',
      'DE::Parcel small blue:5.50 EUR'
    ])
    expect([small?.get('availability'), small?.get('gtin')]).toEqual([['out_of_stock'], ['4006381333931']])
  })

  it('leads to a page that shows the variation', async () => {
    setSetting(shop.app.db, 'storefront.enabled', 'true', clock.now())
    const link = (await items())[1]?.get('link')?.[0] ?? ''
    const page = await (await fetch(`${shop.url}${link.slice(shop.app.publicUrl().length)}`)).text()
    expect(page).toMatch(/value="M"[^>]* checked/)
  })

  it('keeps the address that a product has elsewhere, and leaves a wrong GTIN out', async () => {
    const found = await items()
    expect(found.find((item) => item.get('title')?.[0] === 'Own page')?.get('link')).toEqual([
      'https://other.example/own?a=1&amp;b=2'
    ])
    const digital = found.find((item) => item.get('price')?.[0] === '3.00 EUR')
    expect([digital?.get('gtin'), digital?.get('identifier_exists'), digital?.get('shipping')]).toEqual([
      undefined,
      ['no'],
      undefined
    ])
  })

  it('shows a sale without an end from its start on', async () => {
    const sale = async () => (await items()).find((item) => item.get('title')?.[0] === 'Soon')?.get('sale_price')
    expect(await sale()).toBeUndefined()
    const before = clock.now()
    clock.set(Date.UTC(2026, 10, 25))
    expect(await sale()).toEqual(['8.00 EUR'])
    clock.set(Date.UTC(2026, 11, 1))
    expect((await items())[1]?.get('sale_price')).toBeUndefined()
    clock.set(before)
  })
})

describe('the feed as text', () => {
  it('says the same as the feed for Google, one line for each item', async () => {
    const rows = await tsv()
    const expected = (await items()).map((item) => [
      item.get('id')?.[0],
      decoded(item.get('title')?.[0] ?? ''),
      decoded(item.get('link')?.[0] ?? ''),
      item.get('shipping')?.map(shippingText).join(',') ?? ''
    ])
    expect(rows.map(({ id, title, link, shipping }) => [id, title, link, shipping])).toEqual(expected)
    expect(Object.keys(rows[0] ?? {}).every((name) => Object.hasOwn(attributes, name))).toBe(true)
  })
})

/** The body as it is sent: fetch unpacks it. */
function raw(path: string, headers: Record<string, string>): Promise<{ status: number; etag: string; bytes: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${shop.url}${path}`, { headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => void (bytes += chunk.length))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, etag: response.headers.etag ?? '', bytes }))
    })
    sent.on('error', reject).end()
  })
}

describe('a feed', () => {
  it('keeps its tag until the catalog changes, and is written at most once a minute', async () => {
    shop.app.db.sqlite.exec("UPDATE products SET name = 'First' WHERE slug = 'own'")
    const first = await get('google.xml')
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    await first.text()
    const again = await get('google.xml', { headers: { 'if-none-match': etag } })
    expect([again.status, again.headers.get('etag')]).toEqual([304, etag])
    shop.app.db.sqlite.exec("UPDATE products SET name = 'Renamed' WHERE slug = 'own'")
    clock.advance(30_000)
    expect((await get('google.xml', { headers: { 'if-none-match': etag } })).status).toBe(304)
    clock.advance(31_000)
    const changed = await get('google.xml', { headers: { 'if-none-match': etag } })
    expect([changed.status, await changed.text()]).toEqual([200, expect.stringContaining('Renamed')])
  })

  it('is packed for clients that take gzip, with a tag of its own, and answers HEAD', async () => {
    const plain = await raw('/feeds/products.tsv', {})
    const packed = await raw('/feeds/products.tsv', { 'accept-encoding': 'gzip' })
    expect(packed.bytes).toBeLessThan(plain.bytes)
    expect(packed.etag).toBe(plain.etag.replace(/"$/, '-gzip"'))
    const head = await get('products.tsv', { method: 'HEAD' })
    expect([head.status, head.headers.get('etag')]).toEqual([200, packed.etag])
    expect((await get('products.tsv', { method: 'POST' })).status).toBe(405)
    expect((await get('other.csv')).status).toBe(404)
  })

  it('is refused while the commerce module is off', async () => {
    switchModule(shop.app.db, 'commerce', false, clock.now())
    expect((await get('google.xml')).status).toBe(503)
    switchModule(shop.app.db, 'commerce', true, clock.now())
    expect((await get('google.xml')).status).toBe(200)
  })
})

describe('the report about the feeds', () => {
  it('counts the products that market places refuse, by reason, without drafts', () => {
    expect(feedReport(shop.app, clock.now())).toEqual({
      products: 8,
      refused: 4,
      refusals: { picture: 1, description: 1, price: 1, subscription: 1, link: 0 },
      doubts: { identifiers: 6, gtin: 0, checkDigit: 1 }
    })
  })
})

describe('shopstead health', () => {
  it('says what market places refuse, as a warning only to a shop whose feeds are requested', async () => {
    const { message } = await runCheck(shop.app, feedCheck)
    expect(message).toBe(
      '4 of 8 products are complete in the feeds. Left out: 1 have no picture, 1 have no description, 1 have the price 0, ' +
        '1 are subscriptions. Shown less or refused by some market places: 6 have neither a brand nor a GTIN, ' +
        '1 have a GTIN with a wrong check digit.'
    )
    await get('google.xml')
    const requested = await runCheck(shop.app, feedCheck)
    expect(requested).toMatchObject({ status: 'warning', advice: expect.stringContaining('shopstead offers set') })
    rmSync(join(shop.dataDir, 'feeds'), { recursive: true })
    expect(await runCheck(shop.app, feedCheck)).toMatchObject({ status: 'ok', advice: '' })
    expect((await get('google.xml')).status).toBe(200)
  })
})
