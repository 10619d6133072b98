import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pageUrls, withResult } from '../../../src/shop/payments/page-urls.ts'
import { draft, line, makeProduct, place } from '../orders/support.ts'
import { emptyShop } from '../../support/temporary-shop.ts'

test("sends the buyer to the site's URLs, or to the order's page if the site sent none", () => {
  const db = emptyShop()
  const shop = { publicUrl: () => 'https://shop.example' }
  const addresses = { returnUrl: 'https://site.example/thanks?a=1', cancelUrl: 'https://site.example/cart' }
  const order = place(db, draft([line(makeProduct(db))], addresses))
  expect(pageUrls(shop, order)).toEqual({
    successUrl: `https://site.example/thanks?a=1&orderId=${order.id}&result=success`,
    cancelUrl: `https://site.example/cart?orderId=${order.id}&result=cancelled`
  })
  const own = `https://shop.example/checkout/done/${order.publicToken}`
  expect(pageUrls(shop, { ...order, returnUrl: null, cancelUrl: null })).toEqual({ successUrl: own, cancelUrl: own })
})

describe('the return URL', () => {
  test.each([
    ['https://shop.example', 'https://shop.example/?orderId=7&result=success'],
    ['https://shop.example/t?a=1', 'https://shop.example/t?a=1&orderId=7&result=success'],
    ['https://shop.example/t?a=b%20c&flag#frag', 'https://shop.example/t?a=b%20c&flag&orderId=7&result=success#frag'],
    ['https://shop.example/t?orderId=3&a=1&result=cancelled', 'https://shop.example/t?a=1&orderId=7&result=success'],
    ['https://shop.example/t?%6frderId=3', 'https://shop.example/t?orderId=7&result=success'],
    ['https://shop.example/t?', 'https://shop.example/t?orderId=7&result=success'],
    [
      'https://shop.example/t?s={CHECKOUT_SESSION_ID}',
      'https://shop.example/t?s={CHECKOUT_SESSION_ID}&orderId=7&result=success'
    ]
  ])('%s becomes %s', (url, expected) => {
    expect(withResult(url, 7, 'success')).toBe(expected)
  })

  test('keeps its origin, path and the rest of its query', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (sent) => {
        const before = new URL(sent)
        const after = new URL(withResult(sent, 12, 'pending'))
        expect([after.origin, after.pathname, after.hash]).toEqual([before.origin, before.pathname, before.hash])
        expect(after.searchParams.getAll('orderId')).toEqual(['12'])
        expect(after.searchParams.getAll('result')).toEqual(['pending'])
      })
    )
  })
})
