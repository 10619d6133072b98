import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Browser } from '../support/browser.ts'
import { quay } from '../support/addresses.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    seed: {
      products: [
        { slug: 'mug', name: 'Mug', price: '10.00' },
        { slug: 'print', name: 'Print', price: '5.00', type: 'digital' }
      ],
      coupons: [
        { code: 'TEN', percent: 10 },
        { code: 'ALL', percent: 100 }
      ]
    }
  })
  setSetting(shop.app.db, 'checkout.heldOrdersPerAddress', '1000', 0)
})
afterAll(() => shop.stop())

type Placed = { checkoutUrl: string; url: string; order: () => OrderRow }

async function place(visitor: Browser, body: object = {}): Promise<Placed> {
  const { data } = await visitor.post<{ checkoutUrl: string; orderToken: string }>('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    ...body
  })
  const { checkoutUrl, orderToken } = data
  return {
    checkoutUrl,
    url: `${shop.url}/checkout/${orderToken}`,
    order: () => getOrderByPublicToken(shop.app.db, orderToken)
  }
}

const htmlOf = async (visitor: Browser, url: string): Promise<string> => (await visitor.fetch(url)).text()
const input = (name: string): string => `name="${name}"`
const card = { payment_method: 'card', email: 'gwen@example.com' }
const sessionsOf = ({ id }: OrderRow) =>
  shop.app.sandbox?.ledger().sessions.filter((session) => session.client_reference_id === String(id)) ?? []

describe('a redirect order with something to ship', () => {
  it('goes over our own page when it has no address, and from there to the gateway', async () => {
    const visitor = shop.visitor()
    const { checkoutUrl, url, order } = await place(visitor)
    expect(checkoutUrl).toContain('/checkout/')
    expect(checkoutUrl).not.toContain('/sandbox/')
    expect(sessionsOf(order())).toEqual([])
    const { html } = await visitor.submit(url, { ...card, country: 'DE' })
    expect(html).toContain(input('address1'))
    const sent = await visitor.form(url, { ...card, ...quay })
    expect(sent.headers.get('location')).toContain('/sandbox/checkout/')
    expect(order()).toMatchObject({ email: 'gwen@example.com', shippingAddress: quay })
  })

  it('goes to the gateway at once when it has an address, or nothing to ship', async () => {
    for (const body of [
      { shippingAddress: quay },
      { billingAddress: quay },
      { items: [{ productId: 2, quantity: 1 }] }
    ])
      expect((await place(shop.visitor(), body)).checkoutUrl).toContain('/sandbox/checkout/')
  })

  it('is not paid without an address, whatever a form leaves out and however little it costs', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    await visitor.form(url, card)
    await visitor.form(url, { coupon: 'ALL' })
    await visitor.form(url, { payment_method: 'free', email: 'gwen@example.com' })
    expect(order()).toMatchObject({ status: 'pending', totalMinor: 0, email: null })
    expect(sessionsOf(order())).toEqual([])
    const { html } = await visitor.submit(url, { country: 'DE' })
    expect(html).toContain('Order for €0.00')
    const sent = await visitor.form(url, { payment_method: 'free', email: 'gwen@example.com', ...quay })
    expect(sent.headers.get('location')).toBe(`/checkout/done/${order().publicToken}`)
    expect(order()).toMatchObject({ status: 'processing', shippingAddress: quay })
  })
})

describe('the address', () => {
  it.each([
    ['US', { address1: '1 Main St', city: 'Springfield', postcode: '62701' }, ['state'], 'Please choose the state.'],
    [
      'CA',
      { address1: '1 Main St', city: 'Ottawa', state: 'ON', postcode: '12345' },
      ['postcode'],
      'for example H3Z 2Y7'
    ],
    ['DE', { address1: 'Quay 7', city: 'Hamburg', postcode: '2045' }, ['postcode'], 'for example 26133'],
    ['IN', { address1: '1 MG Road', city: 'Pune', state: 'Maharashtra', postcode: '4110' }, ['postcode'], 'PIN code'],
    ['AE', { address1: 'Marina 1' }, ['state'], 'Please choose the emirate.'],
    ['GB', { address1: '1 High Street' }, ['city', 'postcode'], 'Please enter the postcode']
  ])('of %s is checked by the rules of its country', async (country, typed, wrong, words) => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    const { html } = await visitor.submit(url, { ...card, lastName: 'Quill', country, ...typed })
    expect(html).toContain(words)
    const named = [...html.matchAll(/aria-invalid="true" aria-describedby="(\w+)-error"/g)].map(([, name]) => name)
    expect(new Set(named)).toEqual(new Set(wrong))
    expect(html.match(/autofocus/g)).toHaveLength(1)
    expect(order().shippingAddress).toBeNull()
  })

  it.each([
    [
      'US',
      { state: 'california', postcode: '94110-1234', city: 'San Francisco' },
      { state: 'CA', postcode: '94110-1234' }
    ],
    ['CA', { state: 'ON', postcode: 'k1a0b1', city: 'Ottawa' }, { state: 'ON', postcode: 'K1A0B1' }],
    ['AU', { state: 'NSW', postcode: '2000', city: 'Sydney' }, { state: 'NSW', postcode: '2000' }],
    ['JP', { state: 'Tokyo', postcode: '154-0023', city: '' }, { state: 'Tokyo', postcode: '154-0023' }],
    ['CH', { state: 'ignored', postcode: 'CH-8001', city: 'Zürich' }, { postcode: '8001' }],
    ['DE', { state: '', postcode: ' 20 457 ', city: 'Hamburg' }, { postcode: '20457' }],
    ['IE', { state: '', postcode: '', city: 'Dublin' }, {}]
  ])('of %s is stored as the country writes it', async (country, typed, stored) => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    await visitor.form(url, { ...card, lastName: 'Quill', country, address1: 'Quay 7', address2: '', ...typed })
    const city = typed.city === '' ? {} : { city: typed.city }
    expect(order().shippingAddress).toEqual({ lastName: 'Quill', country, address1: 'Quay 7', ...city, ...stored })
  })

  it('has its fields in the order and with the words of the country', async () => {
    const visitor = shop.visitor()
    const { url } = await place(visitor)
    const fieldsIn = async (country: string) => {
      const { html } = await visitor.submit(url, { country })
      return [...html.matchAll(/<label for="(address1|city|state|postcode)">([^<]+)/g)].map(([, name, label]) => [
        name,
        label
      ])
    }
    expect(await fieldsIn('DE')).toEqual([
      ['address1', 'Street and number'],
      ['postcode', 'Postcode'],
      ['city', 'Town or city']
    ])
    expect((await fieldsIn('US')).slice(1)).toEqual([
      ['city', 'Town or city'],
      ['state', 'State'],
      ['postcode', 'ZIP code']
    ])
    expect((await fieldsIn('SG')).slice(1)).toEqual([['postcode', 'Postcode']])
  })

  it('offers only the countries that the shop ships to, and begins with the likely one', async () => {
    const { db } = shop.app
    setSetting(db, 'checkout.shipTo', 'DE,AT', 0)
    onTestFinished(() => setSetting(db, 'checkout.shipTo', '', 0))
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    const html = await htmlOf(visitor, url)
    expect([...html.matchAll(/<option value="(\w\w)"/g)].map(([, code]) => code)).toEqual(['AT', 'DE'])
    expect(html).not.toContain(input('address1'))
    const austrian = await (await visitor.fetch(url, { headers: { 'accept-language': 'de-AT,en;q=0.5' } })).text()
    expect(austrian).toContain('<option value="AT" selected>')
    const refused = await visitor.submit(url, { ...card, ...quay, country: 'FR' })
    expect(refused.html).toContain('We do not ship to France.')
    expect(order().shippingAddress).toBeNull()
    setSetting(db, 'checkout.shipTo', 'DE', 0)
    const only = await htmlOf(shop.visitor(), url)
    expect(only).toContain('We ship to Germany.')
    expect(only).toContain(input('address1'))
  })

  it('is asked again when the site sent one in a country that the shop does not ship to', async () => {
    const { db } = shop.app
    setSetting(db, 'checkout.shipTo', 'DE', 0)
    onTestFinished(() => setSetting(db, 'checkout.shipTo', '', 0))
    const visitor = shop.visitor()
    const { url, order } = await place(visitor, { shippingAddress: { ...quay, country: 'FR' } })
    expect(await htmlOf(visitor, url)).toContain(input('address1'))
    await visitor.form(url, { ...card, ...quay })
    expect(order().shippingAddress).toEqual(quay)
  })

  it('of a payment token is refused in such a country, unless there is nothing to ship', async () => {
    const { db } = shop.app
    setSetting(db, 'checkout.shipTo', 'DE', 0)
    onTestFinished(() => setSetting(db, 'checkout.shipTo', '', 0))
    const token = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/done' }
    const buy = (productId: number, country: string) =>
      shop.visitor().post('/store/checkout-session', {
        ...token,
        items: [{ productId, quantity: 1 }],
        shippingAddress: { ...quay, country }
      })
    const refused = await buy(1, 'FR')
    const message = 'We do not ship to France.'
    expect([refused.status, refused.error.details['problems']]).toEqual([
      422,
      [{ path: 'shippingAddress', code: 'no_shipping_there', message }]
    ])
    expect([(await buy(1, 'DE')).status, (await buy(2, 'FR')).status]).toEqual([200, 200])
  })
})

describe('what was typed', () => {
  const typed = { ...card, ...quay, firstName: 'Gwen', lastName: 'Stone' }

  it('is kept when a coupon is applied or refused', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    const refused = await visitor.submit(url, { ...typed, city: '', coupon: 'NOSUCH', action: 'coupon' })
    expect(refused.html).toContain('This code is not valid.')
    const applied = await visitor.submit(url, { ...typed, city: '', coupon: 'TEN', action: 'coupon' })
    expect(applied.html).toContain('Coupon TEN')
    for (const { html } of [refused, applied])
      for (const value of ['gwen@example.com', 'Gwen', 'Stone', 'Quay 7', '20457'])
        expect(html).toContain(`value="${value}"`)
    expect(applied.html).not.toContain('Please enter')
    expect(order()).toMatchObject({ totalMinor: 900, email: null, shippingAddress: null })
  })

  it('is shown after Back with a link to change it, to this browser only', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    await visitor.form(url, typed)
    const html = await htmlOf(visitor, url)
    for (const words of ['gwen@example.com', 'Gwen Stone', 'Quay 7', '20457 Hamburg', 'Germany'])
      expect(html).toContain(words)
    expect(html).not.toContain(input('email'))
    expect(html).toContain(`href="/checkout/${order().publicToken}?change"`)
    for (const path of ['', '?change']) {
      const others = await htmlOf(shop.visitor(), `${url}${path}`)
      for (const words of ['gwen@', 'Gwen', 'Quay 7', '20457']) expect(others).not.toContain(words)
    }
    expect(await htmlOf(shop.visitor(), url)).toContain('g…@example.com')
  })

  it('on the site is shown in full to the browser that placed the order, and masked to others', async () => {
    const visitor = shop.visitor()
    const { url } = await place(visitor, { customer: { email: 'gwen@example.com' }, shippingAddress: quay })
    const own = await htmlOf(visitor, url)
    for (const words of ['gwen@example.com', 'Quay 7', '20457 Hamburg']) expect(own).toContain(words)
    const form = await htmlOf(visitor, `${url}?change`)
    for (const value of ['gwen@example.com', 'Quay 7', '20457']) expect(form).toContain(`value="${value}"`)
    const others = await htmlOf(shop.visitor(), url)
    expect(others).toContain('Hamburg, Germany')
    for (const words of ['gwen@', 'Quay 7', '20457']) expect(others).not.toContain(words)
  })

  it('can be corrected, and the page of the gateway that knew the old email is closed', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    const first = await visitor.form(url, typed)
    const form = await htmlOf(visitor, `${url}?change`)
    expect(form).toContain('value="gwen@example.com"')
    expect(form).toContain('value="Quay 7"')
    const corrected = { ...typed, email: 'gwendolyn@example.com', address1: 'Quay 8', change: '1' }
    const second = await visitor.form(url, corrected)
    expect(second.headers.get('location')).toContain('/sandbox/checkout/')
    expect(second.headers.get('location')).not.toBe(first.headers.get('location'))
    expect(order()).toMatchObject({
      status: 'pending',
      email: 'gwendolyn@example.com',
      shippingAddress: { ...quay, lastName: 'Stone', address1: 'Quay 8' }
    })
    expect(new Set(sessionsOf(order()).map(({ status }) => status))).toEqual(new Set(['expired', 'open']))
    const again = await visitor.form(url, corrected)
    expect(again.headers.get('location')).toBe(second.headers.get('location'))
  })

  it('is read only from a cookie that this shop made for this order', async () => {
    const visitor = shop.visitor()
    const { url } = await place(visitor)
    await visitor.form(url, { ...typed, action: 'coupon', coupon: 'NOSUCH' })
    const other = await place(shop.visitor())
    expect(await htmlOf(visitor, other.url)).not.toContain('Quay 7')
    const [name = '', value = ''] = [...visitor.cookies].find(([cookie]) => cookie.endsWith('_form')) ?? []
    const [payload = ''] = value.split('.')
    const forged = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), message: 'Pay to DE00 6666.' }
    visitor.cookies.set(name, `${Buffer.from(JSON.stringify(forged)).toString('base64url')}.${value.split('.')[1]}`)
    const html = await htmlOf(visitor, url)
    expect(html).not.toContain('DE00 6666')
    expect(html).not.toContain('Quay 7')
  })

  it('fits into a cookie however long it is', async () => {
    const visitor = shop.visitor()
    const { url } = await place(visitor)
    const long = Object.fromEntries(
      ['address1', 'address2', 'city', 'firstName'].map((name) => [name, '字'.repeat(350)])
    )
    const sent = await visitor.form(url, { ...typed, ...long })
    expect((sent.headers.getSetCookie()[0] ?? '').length).toBeLessThan(4096)
    const html = await htmlOf(visitor, url)
    expect(html).toContain('Must have at most 200 characters.')
    expect(html).toContain('value="gwen@example.com"')
  })
})
