import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  const numbered = Array.from({ length: 31 }, (_, index) => ({ slug: `p${index}`, name: `Part ${index}`, price: 2 }))
  const variations = [
    { sku: 'S', options: { Size: 'S', Colour: 'Red' }, price: 5 },
    { sku: 'M', options: { Size: 'M', Colour: 'Blue' }, price: 7, stock: 2 }
  ]
  shop = await startShop({ seed: { products: [{ slug: 'cap', name: 'Cap', price: 5, variations }, ...numbered] } })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
})
afterAll(() => shop.stop())

/** A browser without script: it follows nothing by itself and keeps cookies. */
function browser() {
  const cookies = new Map<string, string>()
  const send = async (path: string, fields?: Record<string, string>, headers: Record<string, string> = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(`${shop.url}${path}`, {
      method: fields === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie, ...headers },
      ...(fields === undefined ? {} : { body: new URLSearchParams(fields) })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return { status: response.status, location: response.headers.get('location'), text: await response.text() }
  }
  return { send, cookies }
}

describe('without script', () => {
  it('a product goes into the cart, the cart changes, and leads to the payment page', async () => {
    const { send, cookies } = browser()
    const added = await send('/cart', { slug: 'cap', 'option-0': 'M', 'option-1': 'Blue', quantity: '2' })
    expect([added.status, added.location, cookies.get('shopstead_cart')]).toEqual([303, '/cart', '1-2x2'])
    await send('/cart', { slug: 'p0', quantity: '1' })
    expect((await send('/cart')).text).toContain('http-equiv="refresh" content="0; url=/cart/plain"')
    expect((await send('/cart/plain')).text).toMatch(
      /Cap - M \/ Blue[\s\S]*€14\.00[\s\S]*Part 0[\s\S]*Total <strong>€16\.00/
    )
    expect((await send('/cart/plain', { 'quantity-0': '3', 'quantity-1': '4', update: '1' })).location).toBe(
      '/cart/plain'
    )
    const changed = (await send('/cart/plain')).text
    expect(changed).toContain('only 1 can be ordered at a time')
    expect(changed).not.toContain('name="pay"')
    await send('/cart/plain', { remove: '0' })
    const paid = await send('/cart/plain', { 'quantity-0': '4', pay: '1' })
    expect([paid.status, paid.location]).toEqual([303, expect.stringContaining('/checkout/')])
  })

  it('a combination that does not exist and a cart that is full are told', async () => {
    const { send, cookies } = browser()
    const wrong = await send('/cart', { slug: 'cap', 'option-0': 'S', 'option-1': 'Blue' })
    expect(wrong.location).toBe('/products/cap?notice=no-choice')
    expect((await send('/products/cap?notice=no-choice')).text).toContain('This combination does not exist.')
    for (let index = 0; index < 30; index += 1) await send('/cart', { slug: `p${index}`, quantity: '1' })
    const before = cookies.get('shopstead_cart')
    const full = await send('/cart', { slug: 'p30', quantity: '1' })
    expect(full.location).toBe('/products/p30?notice=full')
    expect((await send('/products/p30?notice=full')).text).toContain(
      'Your cart is full: it can hold 30 different products.'
    )
    expect((await send('/products/p30?notice=constructor')).text).toContain('data-added></p>')
    expect(cookies.get('shopstead_cart')).toBe(before)
    await send('/cart', { slug: 'p29', quantity: '99' })
    expect(cookies.get('shopstead_cart')).toMatch(/x50$/)
  })

  it('an address has the fields of its country, and its errors beside them', async () => {
    const { send } = browser()
    const german = await send('/cart/address', undefined, { 'accept-language': 'de-DE,de' })
    expect(german.text).toMatch(/value="DE" selected[\s\S]*name="postcode"[\s\S]*name="city"/)
    expect(german.text).not.toContain('name="state"')
    expect((await send('/cart/address?country=US')).text).toMatch(/<option value="CA">[\s\S]*ZIP code/)
    const typed = { country: 'US', address1: 'Front <b>', city: 'Oakland', state: 'CA', postcode: '12' }
    const wrong = await send('/cart/address', typed)
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringMatching(/value="Front &lt;b&gt;"[\s\S]*id="postcode-error">Please enter the ZIP code/)
    ])
    expect(await send('/cart/address', { ...typed, postcode: ' 94607' })).toMatchObject({ status: 200 })
    expect(await send('/cart/address', { __proto__x: '1', country: '<i>' })).toMatchObject({ status: 422 })
  })

  it('a buyer logs in, and only a path of this site follows', async () => {
    const buyer = shop.visitor()
    await buyer.register({ email: 'ada@example.com', password: 'tidal-basalt-93' })
    const { send, cookies } = browser()
    const wrong = await send('/login', { email: 'ada@example.com', password: 'wrong <b>' })
    expect([wrong.status, wrong.text]).toEqual([
      401,
      expect.stringMatching(/role="alert"[\s\S]*value="ada@example\.com"/)
    ])
    expect(wrong.text).not.toContain('wrong')
    const right = { email: 'ada@example.com', password: 'tidal-basalt-93' }
    expect(await send('/login?next=/orders', right)).toMatchObject({ status: 303, location: '/orders' })
    expect(cookies.has('shopstead_session')).toBe(true)
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/%09/x\n', '/\t/evil.example'])
      expect((await send(`/login?next=${encodeURIComponent(next)}`, right)).location).toMatch(/^\/$|^\/%09/)
  })

  it('a form of another site changes nothing', async () => {
    const { send, cookies } = browser()
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    for (const path of ['/cart', '/cart/plain', '/cart/address', '/login'])
      expect([path, (await send(path, { slug: 'p0' }, foreign)).status]).toEqual([path, 403])
    expect(cookies.size).toBe(0)
  })

  it.each(['', 'x', '1x0', '0x1', '1x1.'.repeat(40), '%00', '1-2-3x1', '1-0x1', '999999999999999x1'])(
    'a cart cookie of %j shows a page',
    async (value) => {
      const { send, cookies } = browser()
      cookies.set('shopstead_cart', value)
      expect((await send('/cart/plain')).status).toBe(200)
    }
  )
})
