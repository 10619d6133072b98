import { describe, expect, test } from 'vitest'
import { parseApiBase } from '../../src/platform/stripe-client.ts'

describe("Stripe's address", () => {
  test.each([
    ['https://api.stripe.com', { host: 'api.stripe.com', port: 443, protocol: 'https' }],
    ['http://127.0.0.1:12111', { host: '127.0.0.1', port: 12111, protocol: 'http' }],
    ['http://[::1]:80', { host: '::1', port: 80, protocol: 'http' }],
    ['http://localhost', { host: 'localhost', port: 80, protocol: 'http' }],
    ['http://stripe.localhost:12111', { host: 'stripe.localhost', port: 12111, protocol: 'http' }]
  ])('%s is read as an origin', (base, parts) => {
    expect(parseApiBase(base)).toEqual(parts)
  })

  test.each([
    'http://api.stripe.com',
    'https://api.stripe.com/v1',
    'https://me:pw@api.stripe.com',
    'ftp://127.0.0.1',
    'stripe',
    ''
  ])('%j is refused, so that no key leaves in the clear or for nowhere', (base) => {
    expect(() => parseApiBase(base)).toThrow('SHOPSTEAD_STRIPE_API_BASE')
  })
})
