import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setSetting, unsetSetting } from '../../src/shop/settings/settings.ts'
import type { SettingKey } from '../../src/shop/settings/definitions.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const sizes = ['S', 'M', 'L', 'XL', 'XXL', '3XL', '4XL']
const variations = sizes.flatMap((Size) =>
  ['Red', 'Blue'].map((Colour) => ({
    sku: `${Size}-${Colour}`,
    options: { Size, Colour },
    price: Size === 'XL' ? 24 : 20,
    stock: Size === 'S' ? 0 : 9
  }))
)
const numbered = Array.from({ length: 30 }, (_, index) => ({ sku: `N${index}`, name: `Number ${index}`, price: 5 }))
const many = Array.from({ length: 120 }, (_, index) => ({
  slug: `bead-${index}`,
  name: `Bead ${index}`,
  price: 1,
  categories: ['Beads']
}))

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    seed: {
      products: [
        { slug: 'shirt', name: 'Shirt </script><b>', price: 20, description: 'Soft </script> & "warm".', variations },
        { slug: 'badge', name: 'Badge', price: 5, variations: numbered },
        { slug: 'mug', name: 'mug', price: 12 },
        ...many
      ]
    }
  })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
})
afterAll(() => shop.stop())

const get = (path: string) => fetch(`${shop.url}${path}`, { redirect: 'manual' })
const html = async (path: string): Promise<string> => (await get(path)).text()
const set = (key: SettingKey, value: string) => setSetting(shop.app.db, key, value, Date.now())

describe('a product page', () => {
  it('offers a choice for each option, and a select for many values', async () => {
    const shirt = await html('/products/shirt')
    expect(shirt).toMatch(
      /<select id="option-0"[\s\S]*<option value="S" disabled>S \(sold out\)[\s\S]*<option value="M" selected>/
    )
    expect(shirt).toMatch(/<legend>Colour<\/legend>[\s\S]*type="radio" name="option-1" value="Red"[^>]* checked/)
    const badge = await html('/products/badge')
    expect(badge).toContain('<select id="variation"')
    expect(badge.match(/<option /g)).toHaveLength(30)
  })

  it('shows the initial of a product without a picture', async () => {
    expect(await html('/products/mug')).toMatch(/class="art blank" aria-hidden="true"><span>M<\/span>/)
  })

  it('describes itself to search engines, and a name cannot end its JSON', async () => {
    const page = await html('/products/shirt')
    const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page) ?? []
    const url = `${shop.app.publicUrl()}/products/shirt`
    expect(JSON.parse(json)).toEqual({
      '@context': 'https://schema.org',
      '@type': 'Product',
      name: 'Shirt </script><b>',
      description: 'Soft </script> & "warm".',
      url,
      offers: {
        '@type': 'AggregateOffer',
        lowPrice: 20,
        highPrice: 24,
        offerCount: 14,
        priceCurrency: 'EUR',
        availability: 'https://schema.org/InStock',
        url
      }
    })
    expect(page).toContain(`<link rel="canonical" href="${url}">`)
    expect(page).toContain('<meta name="description" content="Soft &lt;/script&gt; &amp; &quot;warm&quot;.">')
    expect(page).toContain('<meta property="og:title" content="Shirt &lt;/script&gt;&lt;b&gt;">')
  })
})

describe('search engines', () => {
  it('may list the pages of the catalog, and no others', async () => {
    const robots = async (path: string) => (await get(path)).headers.get('x-robots-tag')
    for (const path of ['/', '/?category=beads', '/?category=beads&page=2', '/products/mug'])
      expect([path, await robots(path)]).toEqual([path, null])
    for (const path of [
      '/?search=bead',
      '/?category=unknown',
      '/?category=beads&page=6',
      '/cart',
      '/login',
      '/products/none'
    ])
      expect([path, await robots(path)]).toEqual([path, 'noindex'])
    expect(await html('/?category=beads&page=2')).toContain(`href="${shop.app.publicUrl()}/?category=beads&amp;page=2"`)
  })

  it('read robots.txt and a sitemap of all products', async () => {
    const robots = await get('/robots.txt')
    expect([robots.headers.get('content-type'), await robots.text()]).toEqual([
      'text/plain; charset=utf-8',
      expect.stringMatching(/Disallow: \/cart[\s\S]*Sitemap: http:.*\/sitemap\.xml/)
    ])
    expect(await html('/sitemap.xml')).toContain(`<loc>${shop.app.publicUrl()}/sitemap-1.xml</loc>`)
    const urls = await html('/sitemap-1.xml')
    expect(urls.match(/<loc>[^<]*\/products\/[^<]+<\/loc>/g)).toHaveLength(123)
    expect(urls).toContain('/?category=beads</loc>')
    expect((await html('/sitemap-2.xml')).match(/<loc>/g)).toBeNull()
  })
})

describe('a category of 120 products', () => {
  it('shows all of them by pages', async () => {
    const seen = new Set<string>()
    let path: string | undefined = '/?category=beads'
    while (path !== undefined) {
      const page: string = await html(path)
      for (const [, slug = ''] of page.matchAll(/href="\/products\/(bead-\d+)"/g)) seen.add(slug)
      path = /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(seen.size).toBe(120)
  })
})

describe('the settings of the storefront', () => {
  it('give its tagline, logo, colour, contact, links and language', async () => {
    expect(await html('/')).not.toMatch(/lantern|<p dir="auto">|theme-/i)
    set('storefront.tagline', 'Bags for <life>')
    set('storefront.logoUrl', 'https://cdn.example/logo.png')
    set('storefront.accentColor', '#FFEE00')
    set('storefront.contact', 'hello@bags.example')
    set('storefront.imprintUrl', 'https://bags.example/imprint')
    set('storefront.language', 'de')
    const response = await get('/')
    const page = await response.text()
    expect(page).toContain('<html lang="de">')
    expect(page).toMatch(
      /Bags for &lt;life&gt;[\s\S]*12,00\u00a0€[\s\S]*hello@bags\.example[\s\S]*href="https:\/\/bags\.example\/imprint">Impressum/
    )
    expect(page).toContain('>Alle Produkte<')
    const cart = await fetch(`${shop.url}/cart`, { headers: { cookie: 'shopstead_cart=1x1' } })
    expect(await cart.text()).toMatch(/data-locale="de"[\s\S]*Wie möchten Sie bezahlen\?/)
    const address = await (await get('/cart/address?country=US')).text()
    expect(address).toMatch(/Lieferadresse[\s\S]*Vereinigte Staaten[\s\S]*Bundesstaat[\s\S]*ZIP-Code/)
    set('storefront.language', 'fr')
    expect(await (await get('/')).text()).toMatch(/<html lang="en">[\s\S]*All products/)
    expect(page).toContain('<img src="https://cdn.example/logo.png"')
    expect(response.headers.get('content-security-policy')).toContain("img-src 'self' data: https://cdn.example;")
    expect(page).toContain('href="/theme-ffee00.css"')
    const theme = await get('/theme-ffee00.css')
    expect([theme.headers.get('content-type'), await theme.text()]).toEqual([
      'text/css; charset=utf-8',
      expect.stringMatching(/^:root \{ --ember: rgb\(\d+ \d+ 0\);[\s\S]*prefers-color-scheme: dark/)
    ])
    for (const key of ['tagline', 'logoUrl', 'accentColor', 'contact', 'imprintUrl', 'language'] as const)
      unsetSetting(shop.app.db, `storefront.${key}`)
  })

  it.each([
    ['storefront.accentColor', 'red'],
    ['storefront.accentColor', '#fff;}'],
    ['storefront.logoUrl', 'javascript:alert(1)'],
    ['storefront.termsUrl', 'https://good@evil.example'],
    ['storefront.language', 'x y']
  ] as const)('refuse %s %s', (key, value) => {
    expect(() => set(key, value)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  })
})

describe('an empty shop', () => {
  it('says what to do', async () => {
    const empty = await startShop({ seed: null })
    setSetting(empty.app.db, 'storefront.enabled', 'true', Date.now())
    expect(await (await fetch(empty.url)).text()).toContain('shopstead offers import')
    await empty.stop()
  })
})
