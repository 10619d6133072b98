import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { messageFor, toFieldErrors } from '../../../src/platform/http/validation.ts'
import { checkoutBody, checkoutQuery } from '../../../src/shop/checkout/input.ts'

const items = [{ productId: 1, quantity: 1 }]
const handoff = { strategy: 'token_handoff', returnUrl: 'https://shop.example/', paymentToken: 'pm_card_visa' }

function read(fields: object = {}) {
  const result = checkoutBody.safeParse({ items, ...fields }, { error: messageFor })
  if (!result.success) throw new Error(JSON.stringify(toFieldErrors(result.error)))
  return result.data
}

/** Paths of what is wrong, in their order. */
function wrong(fields: object): string[] {
  const result = checkoutBody.safeParse({ items, ...fields }, { error: messageFor })
  return result.success ? [] : Object.keys(toFieldErrors(result.error))
}

describe('items', () => {
  test.each([
    ['missing', undefined, 'items'],
    ['null', null, 'items'],
    ['an object', {}, 'items'],
    ['empty', [], 'items'],
    ['a list of 31', Array.from({ length: 31 }, () => items[0]), 'items'],
    ['a number', [1], 'items.0'],
    ['without a product', [{ quantity: 1 }], 'items.0.productId'],
    ['of product 0', [{ productId: 0, quantity: 1 }], 'items.0.productId'],
    ['of product -1', [{ productId: -1, quantity: 1 }], 'items.0.productId'],
    ['of product 1.5', [{ productId: 1.5, quantity: 1 }], 'items.0.productId'],
    ['of product "1"', [{ productId: '1', quantity: 1 }], 'items.0.productId'],
    ['of product null', [{ productId: null, quantity: 1 }], 'items.0.productId'],
    ['without a quantity', [{ productId: 1 }], 'items.0.quantity'],
    ['with quantity 0', [{ productId: 1, quantity: 0 }], 'items.0.quantity'],
    ['with quantity 51', [{ productId: 1, quantity: 51 }], 'items.0.quantity'],
    ['with quantity 0.5', [{ productId: 1, quantity: 0.5 }], 'items.0.quantity'],
    ['with quantity true', [{ productId: 1, quantity: true }], 'items.0.quantity'],
    ['of variation 0', [{ productId: 1, quantity: 1, variationId: 0 }], 'items.0.variationId'],
    ['with a price', [...items, { productId: 1, quantity: 1, price: 1 }], 'items.1.price']
  ])('are rejected: %s', (_what, input, path) => {
    expect(wrong({ items: input })).toEqual([path])
  })

  test('accepts 30 items with a quantity of 50, and reads a null variation as absent', () => {
    const many = Array.from({ length: 30 }, () => ({ productId: 1, quantity: 50, variationId: null }))
    expect(read({ items: many }).items[29]).toEqual({ productId: 1, quantity: 50, variationId: undefined })
  })
})

describe('the other fields', () => {
  test.each(['ref', 'campaign', 'utm_source', 'total', 'price', 'currency', 'affiliateRef', 'attribution', 'Items'])(
    'rejects the unknown field %s, also with null',
    (name) => {
      expect(wrong({ [name]: 'x' })).toEqual([name])
      expect(wrong({ [name]: null })).toEqual([name])
    }
  )

  test('reads null as absent', () => {
    const names = ['couponCode', 'couponCodes', 'returnUrl', 'cancelUrl', 'notes', 'paymentToken', 'customer']
    const nothing = Object.fromEntries(
      [...names, 'billingAddress', 'shippingAddress', 'strategy'].map((name) => [name, null])
    )
    expect(read(nothing)).toEqual(read())
  })

  test.each([
    ['couponCode', 'x'.repeat(64)],
    ['notes', 'x'.repeat(2000)],
    ['paymentToken', 'x'.repeat(255)],
    ['returnUrl', `https://shop.example/${'x'.repeat(2048 - 21)}`],
    ['cancelUrl', `https://shop.example/${'x'.repeat(2048 - 21)}`],
    ['customer.firstName', 'x'.repeat(100)],
    ['customer.lastName', 'x'.repeat(100)],
    ['customer.companyName', 'x'.repeat(100)],
    ['customer.phone', 'x'.repeat(40)],
    ['billingAddress.company', 'x'.repeat(100)],
    ['billingAddress.address1', 'x'.repeat(200)],
    ['shippingAddress.city', 'x'.repeat(200)],
    ['shippingAddress.phone', 'x'.repeat(40)]
  ])('limits %s by code points', (path, longest) => {
    const [outer = '', inner] = path.split('.')
    const holding = (value: string) => ({ ...handoff, [outer]: inner === undefined ? value : { [inner]: value } })
    // A lantern is one code point and two UTF-16 units.
    const lanterns = outer.endsWith('Url') ? longest : '🏮'.repeat(longest.length)
    expect(wrong(holding(lanterns))).toEqual([])
    expect(wrong(holding(`${longest}x`))).toEqual([path])
  })

  test.each([
    ['couponCode', 5],
    ['couponCodes', 'TEN'],
    ['couponCodes', ['TEN', null], 'couponCodes.1'],
    ['couponCodes', ['x'.repeat(65)], 'couponCodes.0'],
    ['couponCodes', Array.from({ length: 11 }, (_, index) => `C${index}`)],
    ['notes', {}],
    ['notes', 'Ring \u001b[2Jtwice'],
    ['notes', 'Ring\u0085twice'],
    ['paymentToken', 1],
    ['customer', 'Ada'],
    ['customer', []],
    ['customer', { email: 'nobody' }, 'customer.email'],
    ['customer', { email: `${'a'.repeat(60)}@${`${'b'.repeat(60)}.`.repeat(4)}example` }, 'customer.email'],
    ['customer', { createAccount: 'yes' }, 'customer.createAccount'],
    ['customer', { password: 5 }, 'customer.password'],
    ['customer', { firstName: 'A\r\nBcc: x' }, 'customer.firstName'],
    ['billingAddress', 7],
    ['billingAddress', { country: 'Germany' }, 'billingAddress.country'],
    ['billingAddress', { country: 'XX' }, 'billingAddress.country'],
    ['billingAddress', { country: 'UK' }, 'billingAddress.country'],
    ['shippingAddress', { country: 49 }, 'shippingAddress.country'],
    ['shippingAddress', { line1: 5 }, 'shippingAddress.line1'],
    ['shippingAddress', { email: 'a@b' }, 'shippingAddress.email'],
    ['strategy', 'bank'],
    ['returnUrl', ''],
    ['returnUrl', 'https://a@b.example'],
    ['cancelUrl', 'https://shop.example\\']
  ])('rejects %s: %j', (name, value, path: string = name) => {
    expect(wrong({ [name]: value })).toEqual([path])
  })

  test('accepts at most ten different codes in couponCode and couponCodes, without empty and repeated ones', () => {
    const ten = Array.from({ length: 10 }, (_, index) => `C${index}`)
    expect(wrong({ couponCode: 'c0', couponCodes: ten })).toEqual([])
    expect(wrong({ couponCode: ' ', couponCodes: ten })).toEqual([])
    expect(wrong({ couponCode: 'C10', couponCodes: ten })).toEqual(['couponCodes'])
  })

  test('trims a code', () => {
    expect(read({ couponCode: ' TEN ', couponCodes: [' FIVER'] })).toMatchObject({
      couponCode: 'TEN',
      couponCodes: ['FIVER']
    })
  })

  test('leaves a URL as it was sent, for the gateway', () => {
    expect(read({ returnUrl: 'HTTPS://SHOP.example:443/a/../b' }).returnUrl).toBe('HTTPS://SHOP.example:443/a/../b')
  })
})

describe('customer and addresses', () => {
  test('accepts the field names of Stripe and WooCommerce', () => {
    const own = {
      firstName: 'Ada',
      lastName: 'Quill',
      address1: 'Quay 1',
      address2: 'Loft',
      state: 'HH',
      postcode: '20457'
    }
    const stripe = {
      first_name: 'Ada',
      last_name: 'Quill',
      line1: 'Quay 1',
      line2: 'Loft',
      province: 'HH',
      postalCode: '20457'
    }
    const woo = {
      first_name: 'Ada',
      last_name: 'Quill',
      address_1: 'Quay 1',
      address_2: 'Loft',
      state: 'HH',
      postcode: '20457'
    }
    expect(read({ billingAddress: stripe, shippingAddress: woo })).toEqual(
      read({ billingAddress: own, shippingAddress: own })
    )
    expect(
      read({ customer: { first_name: 'Ada', last_name: 'Quill', company_name: 'Q', create_account: false } })
    ).toEqual(read({ customer: { firstName: 'Ada', lastName: 'Quill', companyName: 'Q', createAccount: false } }))
  })

  test("accepts both of Stripe's spellings of a postcode", () => {
    for (const name of ['postcode', 'postalCode', 'postal_code'])
      expect(read({ billingAddress: { [name]: '20457' } }).billingAddress?.postcode).toBe('20457')
  })

  test("prefers a field's own name to its aliases, unless it is null or blank", () => {
    expect(read({ billingAddress: { line1: 'B', address1: 'A' } }).billingAddress?.address1).toBe('A')
    expect(read({ billingAddress: { line1: 'B', address1: null } }).billingAddress?.address1).toBe('B')
    expect(read({ billingAddress: { line1: 'B', address1: ' ' } }).billingAddress?.address1).toBe('B')
  })

  test('refuses unknown fields by name, and reads blank values as absent', () => {
    expect(wrong({ customer: { isAdmin: true, id: 5 }, billingAddress: { roles: [] } })).toEqual([
      'customer.isAdmin',
      'customer.id',
      'billingAddress.roles'
    ])
    const input = { email: ' ', firstName: '', phone: ' ' }
    expect(read({ customer: input }).customer).toEqual({})
    expect(read({ billingAddress: { ...input, country: '' } }).billingAddress).toEqual({})
  })

  test('normalizes emails to trimmed NFC and countries to upper case', () => {
    expect(read({ customer: { email: ' Ada@Example.com ' } }).customer?.email).toBe('Ada@Example.com')
    expect(read({ billingAddress: { country: ' de ' } }).billingAddress?.country).toBe('DE')
  })
})

describe('token_handoff', () => {
  test('requires returnUrl and paymentToken, and reports them together with other errors', () => {
    expect(wrong(handoff)).toEqual([])
    expect(wrong({ strategy: 'token_handoff' })).toEqual(['returnUrl', 'paymentToken'])
    expect(wrong({ ...handoff, returnUrl: null, paymentToken: ' ' })).toEqual(['returnUrl', 'paymentToken'])
    expect(wrong({ strategy: 'token_handoff', returnUrl: 'nowhere', items: [] })).toEqual([
      'items',
      'returnUrl',
      'paymentToken'
    ])
  })
})

test('rejects invalid values of any kind without throwing, and does not repeat them in messages', () => {
  const names = ['customer', 'items', 'couponCodes', 'returnUrl', 'x']
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(...names), (value, name) => {
      const results = [value, { items, [name]: value }].map((body) =>
        checkoutBody.safeParse(body, { error: messageFor })
      )
      const messages = results.flatMap(({ error }) => Object.values(error === undefined ? {} : toFieldErrors(error)))
      expect(messages.flat().filter((message) => !/^(Must|Is) [\x20-\x7e]+\.$/.test(message))).toEqual([])
    })
  )
})

describe('the query', () => {
  const parse = (query: object) => checkoutQuery.parse(query)
  const none = { ref: null, campaign: null, utm_source: null, utm_medium: null, utm_campaign: null, utm_content: null }

  test('has six optional parameters', () => {
    expect(parse({})).toEqual(none)
    expect(parse({ utm_term: 'x', ref: 'mira' })).toEqual({ ...none, ref: 'mira' })
  })

  test('is trimmed, and drops blank values, long values and values with control characters', () => {
    expect(
      parse({ utm_source: ' mail ', utm_medium: ' \t ', utm_campaign: 'a\u0007b', utm_content: 'x'.repeat(201) })
    ).toEqual({
      ...none,
      utm_source: 'mail'
    })
    expect(parse({ utm_source: '🏮'.repeat(200), ref: 'x'.repeat(101), campaign: 'x'.repeat(101) })).toEqual({
      ...none,
      utm_source: '🏮'.repeat(200)
    })
  })
})
