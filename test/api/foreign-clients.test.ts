import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goodPassword } from '../support/people.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, fieldErrors, loggedIn, mug, orderOf, shopFor } from './checkout-support.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
})
afterAll(() => shop.stop())

const statusOf = (answer: string) => answer.split(' ')[1]

describe('a field that the interface does not name', () => {
  it.each([
    [{ items: [mug], gift: true }, ['gift']],
    [
      { items: [mug], shippingAddress: { street: 'Quay 7' }, customer: { mail: 'a@b.example' } },
      ['customer.mail', 'shippingAddress.street']
    ],
    [{ items: [{ ...mug, size: 'M' }] }, ['items.0.size']]
  ])('is refused by its name in a checkout and in a quote: %j', async (body, names) => {
    const visitor = shop.visitor()
    expect(fieldErrors(await visitor.post('/store/checkout-session', body)).toSorted()).toEqual(names)
    expect(fieldErrors(await visitor.post('/store/quote', body)).toSorted()).toEqual(names)
  })

  it.each([
    ['/auth/login', { email: 'a@b.example', password: goodPassword, remember: true }, 'remember'],
    ['/auth/forgot-password', { email: 'a@b.example', locale: 'de' }, 'locale'],
    ['/affiliates/clicks', { ref: 'mira', page: '/' }, 'page']
  ])('is refused at %s', async (path, body, name) => {
    expect(fieldErrors(await shop.visitor().post(path, body))).toEqual([name])
  })
})

describe('a payment token', () => {
  it('needs its strategy', async () => {
    const answer = await shop.visitor().post('/store/checkout-session', { items: [mug], paymentToken: 'pm_card_visa' })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['paymentToken']])
    expect(answer.text).toContain('token_handoff')
  })
})

describe("Stripe's name of an address", () => {
  it.each([
    ['Ada de la Cruz', { firstName: 'Ada de la', lastName: 'Cruz' }],
    ['Ada', { firstName: 'Ada' }]
  ])('is the first and the last name: %s', async (name, parts) => {
    const visitor = await loggedIn(shop, `${name.replaceAll(' ', '')}@shop.example`)
    const address = { name, line1: 'Quay 7', postal_code: '20457', city: 'Hamburg', country: 'DE' }
    const { data } = await checkOut(visitor, { items: [mug], shippingAddress: address })
    const { data: own } = await visitor.get<{ order: { shippingAddress: unknown } }>(`/orders/${data.orderId}`)
    expect(own.order.shippingAddress).toEqual({
      ...parts,
      address1: 'Quay 7',
      postcode: '20457',
      city: 'Hamburg',
      country: 'DE'
    })
  })
})

describe('a product with variations', () => {
  const variation = (sku: string, more: object = {}) => ({ sku, name: sku, price: '10.00', ...more })
  const seed = {
    products: [
      { slug: 'shirt', name: 'Shirt', variations: [variation('S'), variation('M', { stock: 2 })] },
      { slug: 'sock', name: 'Sock', variations: [variation('36'), variation('40', { default: true })] },
      { slug: 'cap', name: 'Cap', variations: [variation('One size')] }
    ]
  }

  it('is bought by the ids that the offers name, and only the default that the shop has set needs none', async () => {
    const shop = await shopFor({ seed })
    const visitor = shop.visitor()
    type Offers = { offers: { productId: number; variations: { variationId: number; name: string }[] }[] }
    const { offers } = (await visitor.get<Offers>('/store/offers')).data
    const [small] = offers[0]?.variations ?? []
    expect(offers.map(({ variations }) => variations.map(({ name }) => name))).toEqual([
      ['S', 'M'],
      ['36', '40'],
      ['One size']
    ])
    const asked = await checkOut(visitor, { items: [{ productId: 1, quantity: 1 }] })
    expect([asked.status, asked.error.details]).toMatchObject([
      422,
      {
        fieldErrors: { 'items.0.variationId': ['Is required: this product has variations.'] },
        problems: [{ code: 'choose_variation', choices: [{ variationId: small?.variationId }, { stockLeft: 2 }] }]
      }
    ])
    const bought = [{ productId: 1, quantity: 1, variationId: small?.variationId }].concat(
      [2, 3].map((productId) => ({ productId, quantity: 1, variationId: undefined }))
    )
    const { items: lines } = orderOf(shop, await checkOut(visitor, { items: bought }))
    expect(lines.map(({ name }) => name)).toEqual(['Shirt - S', 'Sock - 40', 'Cap - One size'])
  })
})

describe('a query', () => {
  it('may have unknown parameters, also twice, and the first value of a repeated tracking parameter counts', async () => {
    const visitor = await loggedIn(shop, 'query@shop.example')
    const affiliates = await visitor.get('/affiliates/referrals?_=123&_=4&page=1')
    expect([affiliates.status, affiliates.error.code]).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    expect((await visitor.get('/affiliates/referrals?affiliateId=7')).status).toBe(422)
    expect((await visitor.get('/affiliates/referrals?limit=1&limit=2')).status).toBe(422)
    const { data } = await checkOut(visitor, { items: [mug] }, { query: '?utm_source=first&utm_source=second' })
    const { data: own } = await visitor.get<{ order: { marketingUtmSource: string } }>(`/orders/${data.orderId}`)
    expect(own.order.marketingUtmSource).toBe('first')
  })
})

describe('a cookie that is sent twice', () => {
  it('counts once if its values are equal, and starts no session if they differ', async () => {
    const visitor = await loggedIn(shop, 'cookie@shop.example')
    const cookie = `shopstead_session=${visitor.cookies.get('shopstead_session')}`
    const get = (sent: string) => rawRequest(shop.url, 'GET', '/api/v1/me', [`Cookie: ${sent}`])
    expect((await get(`${cookie}; ${cookie}`)).status).toBe(200)
    expect((await get(`${cookie}; ${cookie.replace(/.$/, 'x')}`)).status).toBe(401)
  })
})

describe('a request on the wire', () => {
  it('may have a target in absolute form (RFC 9112 3.2.2)', async () => {
    const { status, body } = await rawRequest(shop.url, 'GET', `${shop.url}/api/v1/store/offers?perPage=1`)
    expect([status, JSON.parse(body).data.offers.length]).toEqual([200, 1])
    expect((await rawRequest(shop.url, 'GET', `${shop.url}/api/v1/../health`)).status).toBe(404)
  })

  it('gets 413 before it sends a body that is too long, and 100 for one that is not', async () => {
    const head = (length: number) =>
      [
        'POST /api/v1/auth/login HTTP/1.1',
        'Host: shop.example',
        'Connection: close',
        'Content-Type: application/json',
        `Content-Length: ${length}`,
        'Expect: 100-continue'
      ].join('\r\n')
    expect(statusOf(await exchange(shop.url, `${head(70_000)}\r\n\r\n`))).toBe('413')
    const answer = await exchange(shop.url, `${head(2)}\r\n\r\n{}`)
    expect([statusOf(answer), answer.split('\r\n\r\n')[1]?.split(' ')[1]]).toEqual(['100', '400'])
  })

  it('gets 400 for chunks that are broken', async () => {
    const head = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/json\r\n'
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`
    expect(statusOf(await exchange(shop.url, `${chunked}5\r\n{"a":\r\nzz\r\n`))).toBe('400')
  })
})

describe("a site's own proxy", () => {
  const login = (headers: Record<string, string>) =>
    shop.visitor(headers).post('/auth/login', { email: 'a@b.example', password: goodPassword })

  it('may relay the Origin of its browser, if it is trusted and says which host it is', async () => {
    const origin = 'https://site.example'
    expect((await login({ origin, 'x-forwarded-host': 'site.example' })).status).toBe(401)
    expect((await login({ origin, 'x-forwarded-host': 'other.example' })).error.code).toBe('CSRF_FAILED')
    expect((await login({ origin })).error.code).toBe('CSRF_FAILED')
  })
})

describe('the clock of a client', () => {
  it('may be fast by a day; the time counts as now', async () => {
    const ahead = (ms: number) => new Date(shop.app.clock.now() + ms).toISOString()
    const register = async (email: string, termsAcceptedAt: string) => {
      const visitor = shop.visitor()
      const { data } = await visitor.get<{ nonce: string }>('/nonce')
      const consent = { acceptTerms: true, termsAcceptedAt, privacyAcceptedAt: termsAcceptedAt }
      const body = { email, password: goodPassword, displayName: 'Ada', ...consent }
      return visitor.post('/auth/register', body, { 'x-nonce': data.nonce })
    }
    expect((await register('fast@shop.example', ahead(23 * 3_600_000))).status).toBe(201)
    const refused = await register('faster@shop.example', ahead(25 * 3_600_000))
    expect(fieldErrors(refused)).toEqual(['termsAcceptedAt', 'privacyAcceptedAt'])
    const local = await register('local@shop.example', '2026-05-01T12:30:00')
    expect(local.text).toContain('2026-05-01T12:30:00Z')
  })
})
