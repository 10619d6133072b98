import { expect, test } from 'vitest'
import { checkNonceHeader, csrfFailed, sentNonce } from '../../../src/platform/http/cross-site.ts'
import { refusal } from '../../support/accounts.ts'

test('a nonce is the value of the header, and two headers do not form a valid nonce', () => {
  expect(sentNonce(['abc'])).toBe('abc')
  expect(sentNonce(['abc', 'def'])).toBe('abc, def')
  expect(sentNonce(['abc', ''])).toBe('abc, ')
})

test('a missing or empty nonce is reported as missing', () => {
  for (const values of [[], [''], ['', 'abc']])
    expect(() => sentNonce(values)).toThrow(refusal('CSRF_FAILED', { reason: 'missing_nonce' }))
})

test('the error has a reason, and the proxy’s header keeps its name', () => {
  expect(csrfFailed('cross_site', 'From another site.')).toMatchObject({
    code: 'CSRF_FAILED',
    message: 'From another site.',
    details: { reason: 'cross_site' }
  })
  expect(checkNonceHeader).toBe('x-shopstead-proxy')
})
