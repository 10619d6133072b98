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
/** The description of a page for search engines. */
const jsonLd = (page: string) =>
  JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page)?.[1] ?? '')
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
    const url = `${shop.app.publicUrl()}/products/shirt`
    const group = jsonLd(page)['@graph'][0]
    expect(group).toMatchObject({
      '@type': 'ProductGroup',
      name: 'Shirt </script><b>',
      description: 'Soft </script> & "warm".',
      url
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
      `User-agent: *\nDisallow: /api/\n\nSitemap: ${shop.app.publicUrl()}/sitemap.xml\n`
    ])
    expect(await html('/sitemap.xml')).toContain(`<loc>${shop.app.publicUrl()}/sitemap-1.xml</loc>`)
    const urls = await html('/sitemap-1.xml')
    expect(urls.match(/<loc>[^<]*\/products\/[^<]+<\/loc>/g)).toHaveLength(123)
    expect(urls).toContain('/?category=beads</loc>')
    expect((await html('/sitemap-2.xml')).match(/<loc>/g)).toBeNull()
  })

  it('read in the sitemap when a product, and one of a category, last changed', async () => {
    const change = (slug: string, at: string) =>
      shop.app.db.sqlite.prepare('UPDATE products SET updated_at = ? WHERE slug = ?').run(Date.parse(at), slug)
    change('mug', '2026-03-01T10:00:00Z')
    change('bead-7', '2027-04-02T10:00:00Z')
    const base = shop.app.publicUrl()
    const urls = await html('/sitemap-1.xml')
    expect(urls).toContain(`<url><loc>${base}/</loc></url>`)
    expect(urls).toContain(`<url><loc>${base}/products/mug</loc><lastmod>2026-03-01T10:00:00.000Z</lastmod></url>`)
    expect(urls).toContain(`<url><loc>${base}/?category=beads</loc><lastmod>2027-04-02T10:00:00.000Z</lastmod></url>`)
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
    set('storefront.language', 'es')
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

describe('a device that keeps a link to the shop', () => {
  const tags = (page: string): Record<string, string> =>
    Object.fromEntries(
      [...page.matchAll(/<meta property="(og:[\w:]+)" content="([^"]*)">/g)].map(([, name, value]) => [name, value])
    )

  it('shows its logo, its language and its pictures on each page', async () => {
    const plain = await html('/cart')
    expect(plain).toMatch(/<link rel="icon" type="image\/svg\+xml" href="\/assets\/shop-/)
    expect([tags(plain)['og:locale'], tags(plain)['og:image']]).toEqual(['en_US', undefined])
    set('storefront.logoUrl', 'https://cdn.example/logo.png')
    set('storefront.language', 'de')
    for (const path of ['/', '/cart', '/login', '/products/mug', '/products/none']) {
      const page = await html(path)
      expect([path, tags(page)]).toEqual([
        path,
        expect.objectContaining({
          'og:site_name': 'Shopstead Demo',
          'og:title': expect.stringMatching(/./),
          'og:locale': 'de_DE',
          'og:image': 'https://cdn.example/logo.png',
          'og:image:alt': 'Shopstead Demo'
        })
      ])
      expect(page).toContain('<link rel="icon" href="https://cdn.example/logo.png">')
      expect(page).toContain('<link rel="apple-touch-icon" href="https://cdn.example/logo.png">')
    }
    shop.app.db.sqlite.exec(`
      INSERT INTO media (hash, width, height, created_at) VALUES ('${'c'.repeat(32)}', 800, 600, 0);
      INSERT INTO product_images (product_id, src, alt, position, media_hash, created_at)
        SELECT id, 'x', 'A <mug>', 0, '${'c'.repeat(32)}', 0 FROM products WHERE slug = 'mug'`)
    for (const path of ['/products/mug', '/'])
      expect(tags(await html(path))).toMatchObject({
        'og:image': `${shop.app.publicUrl()}/media/${'c'.repeat(32)}-800.webp`,
        'og:image:alt': 'A &lt;mug&gt;',
        'og:image:width': '800',
        'og:image:height': '600'
      })
    shop.app.db.sqlite.exec('DELETE FROM product_images; DELETE FROM media')
    for (const key of ['logoUrl', 'language'] as const) unsetSetting(shop.app.db, `storefront.${key}`)
  })

  it('reads a manifest with the name, colour and logo of the shop', async () => {
    set('storefront.logoUrl', 'https://cdn.example/logo.png')
    set('storefront.accentColor', '#2f6f8f')
    expect(await html('/')).toContain('<link rel="manifest" href="/site.webmanifest">')
    const response = await get('/site.webmanifest')
    expect(response.headers.get('content-type')).toBe('application/manifest+json; charset=utf-8')
    expect(await response.json()).toEqual({
      name: 'Shopstead Demo',
      short_name: 'Shopstead Demo',
      lang: 'en',
      start_url: '/',
      scope: '/',
      display: 'browser',
      theme_color: '#2f6f8f',
      icons: [{ src: 'https://cdn.example/logo.png', sizes: 'any' }]
    })
    for (const key of ['logoUrl', 'accentColor'] as const) unsetSetting(shop.app.db, `storefront.${key}`)
  })
})

describe('the well-known addresses', () => {
  it('lead a password manager to the account', async () => {
    const answer = await get('/.well-known/change-password')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account'])
    // A password manager first makes sure that unknown addresses are refused.
    const unknown = '/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200'
    expect((await get(unknown)).status).toBe(404)
  })

  it.each([
    ['security@bags.example', 'mailto:security@bags.example'],
    ['https://bags.example/security', 'https://bags.example/security']
  ])('say that security problems go to %s', async (contact, shown) => {
    set('shop.securityContact', contact)
    const file = await get('/.well-known/security.txt')
    const text = await file.text()
    expect(file.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const url = `${shop.app.publicUrl()}/.well-known/security.txt`
    const expires = /^Expires: (.*)$/m.exec(text)?.[1] ?? ''
    expect(text).toBe(`Contact: ${shown}\nExpires: ${expires}\nCanonical: ${url}\n`)
    const days = (Date.parse(expires) - Date.now()) / (24 * 60 * 60_000)
    expect([days > 30, days < 365]).toEqual([true, true])
    unsetSetting(shop.app.db, 'shop.securityContact')
    expect((await get('/.well-known/security.txt')).status).toBe(404)
  })

  it('refuse a contact that is neither an email nor an https address', () => {
    for (const contact of ['me', 'http://bags.example', 'javascript:alert(1)'])
      expect(() => set('shop.securityContact', contact)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
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
