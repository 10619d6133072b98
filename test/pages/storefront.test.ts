import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/platform/config/config.ts'
import { decideAffiliate } from '../../src/shop/affiliates/decide.ts'
import { giveBonus } from '../../src/shop/payouts/by-hand.ts'
import { failPayout } from '../../src/shop/payouts/fail.ts'
import { payPayouts } from '../../src/shop/payouts/pay.ts'
import { setSetting, switchModule } from '../../src/shop/settings/settings.ts'
import { rawRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    seed: {
      products: [
        {
          slug: 'mug',
          name: 'Mug <blue>',
          price: '12.50',
          salePrice: '9.50',
          categories: ['Kitchen'],
          tags: ['tea & more']
        },
        { slug: 'lamp', name: 'Lamp', price: '40.00', categories: ['Light'], description: 'Warm.\n\nBright.' },
        {
          slug: 'cap',
          name: 'Cap',
          price: '20.00',
          stock: 3,
          variations: [
            { sku: 'C-S', name: 'Small', price: '20.00', stock: 0, default: true },
            { sku: 'C-L', name: 'Large', price: '22.00' }
          ]
        },
        { slug: 'gone', name: 'Gone', price: '5.00', stock: 0 },
        { slug: 'hidden', name: 'Hidden', price: '1.00', published: false },
        {
          slug: 'club',
          name: 'Club',
          price: '60.00',
          type: 'digital',
          grants: [{ kind: 'subscription', interval: 'year' }]
        }
      ]
    }
  })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
})
afterAll(() => shop.stop())

const get = (path: string, headers: Record<string, string> = {}) => shop.visitor(headers).fetch(`${shop.url}${path}`)
const html = async (path: string): Promise<string> => (await get(path)).text()

describe('the storefront', () => {
  it('is where dev wants it, and elsewhere as the setting says', async () => {
    setSetting(shop.app.db, 'storefront.enabled', 'false', Date.now())
    for (const path of ['/', '/cart', '/login', '/products/mug']) expect((await get(path)).status).toBe(404)
    setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
    expect((await get('/')).status).toBe(200)
    expect(parseConfig({}).storefront).toBeNull()
    expect(parseConfig({}, { storefront: false }).storefront).toBe(false)
  })

  it('lets nothing run or load that is not its own', async () => {
    const policy = (await get('/')).headers.get('content-security-policy')
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'/
    )
    expect(policy).not.toContain('unsafe')
    expect(await html('/')).not.toMatch(/<script(?![^>]* (src=|type="application\/ld\+json"))|<style|\son\w+=|\sstyle=/)
    expect(await html('/products/mug')).not.toMatch(/<script(?![^>]* (src=|type="application\/ld\+json"))|<style/)
  })

  it('shows offers with their prices, escaped, and links its products by path', async () => {
    const page = await html('/')
    expect(page).toContain('Mug &lt;blue&gt;')
    expect(page).toMatch(/href="\/products\/mug"/)
    expect(page).toMatch(/€9\.50<\/strong>\s*<s><span class="unseen">instead of <\/span>€12\.50/)
    expect(page).toMatch(/Gone[\s\S]*Sold out/)
    expect(page).not.toContain('Hidden')
  })

  it('finds by category and search, and leaves out of a query what does not fit', async () => {
    expect(await html('/?category=light')).toMatch(/<h1[^>]*>Light<\/h1>[\s\S]*1 product[\s\S]*Lamp/)
    expect(await html('/?search=mug')).not.toContain('href="/products/lamp"')
    expect(await html('/?search=%3Cscript%3E')).toMatch(/Found for “&lt;script&gt;”[\s\S]*No products match/)
    for (const query of ['page=0', 'page=x&page=2', `search=${'x'.repeat(300)}`, '%ff']) {
      expect([query, (await get(`/?${query}`)).status]).toEqual([query, 200])
    }
    const unknown = await get('/?category=%3Cb%3E')
    expect([unknown.status, await unknown.text()]).toEqual([
      404,
      expect.stringMatching(/href="\/\?category=light"[\s\S]*<h1[^>]*>This category does not exist<\/h1>/)
    ])
    const beyond = await get('/?category=light&page=99')
    expect([beyond.status, await beyond.text()]).toEqual([
      404,
      expect.stringMatching(/There is no page 99[\s\S]*has one page[\s\S]*href="\/\?category=light">Last page/)
    ])
  })

  it('shows a product with what can be chosen of it', async () => {
    const cap = await html('/products/cap')
    expect(cap).toMatch(/value="1"[^>]* disabled>/)
    expect(cap).toMatch(/value="2"[^>]* checked>/)
    expect(cap).toContain('Only 3 left')
    expect(cap).toContain('max="3"')
    expect(await html('/products/lamp')).toMatch(/<p dir="auto">Warm\.<\/p>\s*<p dir="auto">Bright\.<\/p>/)
    expect(await html('/products/mug')).toContain('href="/?search=tea%20%26%20more"')
    expect(await html('/products/club')).toContain('Renews every year until you cancel')
    expect(await html('/products/gone')).toMatch(/Sold out\.(?![\s\S]*data-add)/)
    for (const slug of ['hidden', 'nothing', 'Mug']) expect((await get(`/products/${slug}`)).status).toBe(404)
    expect(await (await get('/products/nothing')).text()).toMatch(/Page not found[\s\S]*href="\/">Back to the shop/)
  })

  it('sorts the list as the buyer asks, also within a category or a search, and keeps it over pages', async () => {
    const namesOf = async (query: string): Promise<string[]> =>
      [...(await html(`/?${query}`)).matchAll(/<span class="name"[^>]*>([^<]+)/g)].map(([, name = '']) => name)
    const byName = await namesOf('sort=name')
    expect(byName).toEqual(byName.toSorted((a, b) => a.localeCompare(b)))
    expect((await namesOf('sort=-price')).toReversed()).not.toEqual(await namesOf('sort=-price'))
    expect(await namesOf('sort=nonsense')).toEqual(await namesOf(''))
    const page = await html('/?search=c&sort=price')
    expect(page).toMatch(/name="search" value="c"[\s\S]*Best match[\s\S]*value="price" selected/)
  })

  it('has one main part and headings in order on every page', async () => {
    const paths = ['/', '/?category=light', '/?category=no', '/products/mug', '/products/no', '/cart']
    const others = ['/thanks', '/login', '/register', '/forgot-password']
    const own = ['/account', '/orders', '/orders/1', '/referrals']
    const customer = shop.visitor()
    await customer.register({ email: 'reader@example.com' })
    for (const path of [...paths, ...others, ...own]) {
      // The pages to log in and to register lead a logged-in visitor on.
      const reader = ['/login', '/register'].includes(path) ? shop.visitor() : customer
      const page = await (await reader.fetch(`${shop.url}${path}`)).text()
      const levels = [...page.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level))
      const isInOrder = levels.every((level, index) => level <= (levels[index - 1] ?? 0) + 1)
      expect([path, page.match(/<main[ >]/g)?.length, levels.filter((level) => level === 1).length, isInOrder]).toEqual(
        [path, 1, 1, true]
      )
    }
  })

  it('draws a chart for an active affiliate only, and no cache keeps it', async () => {
    const path = `${shop.url}/referrals`
    const mira = shop.visitor()
    await mira.register()
    expect(await (await mira.fetch(path)).text()).not.toContain('<svg')
    await mira.form(path, { action: 'apply', website: 'lights.example' })
    expect((await mira.form(path, { action: 'apply', website: '', message: 'By <b> word' })).status).toBe(303)
    expect(await (await mira.fetch(path)).text()).not.toContain('<svg')
    const { code } = decideAffiliate(shop.app.db, '1', 'approve', Date.now())
    await shop.visitor().post('/affiliates/clicks', { ref: code })
    const chart = await mira.fetch(path)
    expect([chart.status, chart.headers.get('cache-control'), chart.headers.get('content-encoding')]).toEqual([
      200,
      'no-store',
      null
    ])
    const svg = await chart.text()
    expect(svg).toMatch(/<desc [^>]*>From .+ to .+: 1 click and 0 orders\. Most clicks: 1 on .+\.<\/desc>/)
    expect(svg).not.toMatch(/NaN|undefined|Infinity/)
    for (const name of ['cursor', 'payouts']) {
      const broken = await mira.fetch(`${path}?${name}=%3Cb%3E`)
      expect([broken.status, broken.headers.get('location')]).toEqual([303, '/referrals'])
    }
  })

  it('makes links for an affiliate, and shows why a referral does not count and how each payout was paid', async () => {
    const path = `${shop.url}/referrals`
    const { db } = shop.app
    const jonas = shop.visitor()
    await jonas.register({ email: 'jonas@example.com' })
    await jonas.form(path, { action: 'apply', website: '' })
    const affiliate = decideAffiliate(db, '2', 'approve', Date.now())
    const made = await jonas.form(path, { action: 'link', to: '/products/mug', campaign: 'a&b' })
    const link = /id="made-link" value="([^"]+)"/.exec(await made.text())?.[1]
    expect(link).toBe(`${shop.app.publicUrl()}/products/mug?ref=${affiliate.code}&amp;campaign=a%26b`)
    const refused = await jonas.form(path, { action: 'link', to: 'https://evil.example/', campaign: '' })
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('Must be a page of the shop')])

    for (const amountMinor of Array.from({ length: 11 }, (_, index) => 100 + index)) {
      giveBonus(db, '2', { amountMinor, reason: 'thanks' }, Date.now())
      payPayouts(db, { by: 'lena', affiliateId: 2, reference: `run <${amountMinor}>` }, Date.now())
    }
    failPayout(db, 11, { reason: 'closed', by: 'lena' }, Date.now())
    const page = await (await jonas.fetch(path)).text()
    expect(page).toMatch(/Came back[\s\S]*run &lt;110&gt;[\s\S]*€1\.10[\s\S]*\/account\/payout\/11\.[\w.-]+">PDF/)
    const older = /href="(\/referrals\?payouts=[^"]+)"/.exec(page)?.[1] ?? ''
    expect(await (await jonas.fetch(`${shop.url}${older.replaceAll('&amp;', '&').split('#')[0]}`)).text()).toContain(
      'run &lt;100&gt;'
    )
    decideAffiliate(db, '2', 'deactivate', Date.now())
    expect(await (await jonas.fetch(path)).text()).toContain('run &lt;110&gt;')
  })

  it('says so while nothing can be bought', async () => {
    switchModule(shop.app.db, 'commerce', false, Date.now())
    const page = await get('/')
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('The shop is closed')])
    switchModule(shop.app.db, 'commerce', true, Date.now())
  })
})

describe('scripts and pictures', () => {
  it('are all there under the names that pages and scripts call them by', async () => {
    const seen = new Set<string>()
    const queue = [...(await html('/cart')).matchAll(/"(\/assets\/[^"#]+)/g)].map(([, path]) => path ?? '')
    for (const path of queue) {
      if (seen.has(path)) continue
      seen.add(path)
      const asset = await get(path)
      expect([path, asset.status, asset.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable'
      ])
      if (!path.endsWith('.js')) continue
      const script = await asset.text()
      expect(script).not.toMatch(/from '\.|import type|: string\b/)
      queue.push(...[...script.matchAll(/(?:from|import) '([^']+)'/g)].map(([, name]) => name ?? ''))
    }
    expect([...seen].filter((path) => path.endsWith('.js')).length).toBeGreaterThan(5)
    expect([...seen].some((path) => path.startsWith('/assets/create-client-'))).toBe(true)
  })

  it('come compressed as the browser likes it', async () => {
    const [, path = ''] = /"(\/assets\/storefront-[^"]+)"/.exec(await html('/')) ?? []
    const raw = async (encoding: string) => {
      const response = await fetch(`${shop.url}${path}`, { headers: { 'accept-encoding': encoding } })
      return { name: response.headers.get('content-encoding'), text: await response.text() }
    }
    const plain = await raw('identity')
    expect(plain.name).toBeNull()
    expect(await raw('gzip')).toEqual({ name: 'gzip', text: plain.text })
    expect(await raw('gzip, br')).toEqual({ name: 'br', text: plain.text })
    expect(await raw('br;q=0, gzip')).toEqual({ name: 'gzip', text: plain.text })
    const page = await rawRequest(shop.url, 'HEAD', '/', ['Accept-Encoding: br'])
    expect([page.status, page.headers.get('content-encoding'), page.headers.get('vary')]).toEqual([
      200,
      'br',
      'accept-encoding'
    ])
  })

  it('leave pages that hold something of a person uncompressed', async () => {
    const page = await get('/account/verify?token=abc', { 'accept-encoding': 'br' })
    expect([page.headers.get('content-encoding'), page.headers.get('cache-control')]).toEqual([null, 'no-store'])
  })
})
