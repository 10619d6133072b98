import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pageUrls, withResult } from '../../../src/shop/payments/gateway-page.ts'

test('sends the buyer from the gateway to the shop, whatever addresses the site gave', () => {
  const shop = { publicUrl: () => 'https://shop.example' }
  expect(pageUrls(shop, { publicToken: 'abc' })).toEqual({
    successUrl: 'https://shop.example/checkout/return/abc',
    cancelUrl: 'https://shop.example/checkout/cancel/abc'
  })
})

describe('the return URL', () => {
  test.each([
    ['https://shop.example', 'https://shop.example/?orderId=7&orderToken=abc&result=success'],
    ['https://shop.example/t?a=1', 'https://shop.example/t?a=1&orderId=7&orderToken=abc&result=success'],
    [
      'https://shop.example/t?a=b%20c&flag#frag',
      'https://shop.example/t?a=b%20c&flag&orderId=7&orderToken=abc&result=success#frag'
    ],
    [
      'https://shop.example/t?orderId=3&a=1&orderToken=x&result=cancelled',
      'https://shop.example/t?a=1&orderId=7&orderToken=abc&result=success'
    ],
    ['https://shop.example/t?%6frderId=3', 'https://shop.example/t?orderId=7&orderToken=abc&result=success'],
    ['https://shop.example/t?', 'https://shop.example/t?orderId=7&orderToken=abc&result=success'],
    [
      'https://shop.example/t?s={CHECKOUT_SESSION_ID}',
      'https://shop.example/t?s={CHECKOUT_SESSION_ID}&orderId=7&orderToken=abc&result=success'
    ]
  ])('%s becomes %s', (url, expected) => {
    expect(withResult(url, { id: 7, publicToken: 'abc' }, 'success')).toBe(expected)
  })

  test('keeps its origin, path and the rest of its query', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (sent) => {
        const before = new URL(sent)
        const after = new URL(withResult(sent, { id: 12, publicToken: 'abc' }, 'pending'))
        expect([after.origin, after.pathname, after.hash]).toEqual([before.origin, before.pathname, before.hash])
        expect(after.searchParams.getAll('orderId')).toEqual(['12'])
        expect(after.searchParams.getAll('orderToken')).toEqual(['abc'])
        expect(after.searchParams.getAll('result')).toEqual(['pending'])
      })
    )
  })
})
