import { expect, test } from 'vitest'
import { checkNonceHeader, csrfFailed, sentNonce } from '../../../src/platform/http/csrf.ts'
import { refusal } from '../../support/accounts.ts'

test('a nonce is the one header that was sent, and two of them are one text that is none', () => {
  expect(sentNonce(['abc'])).toBe('abc')
  expect(sentNonce(['abc', 'def'])).toBe('abc, def')
  expect(sentNonce(['abc', ''])).toBe('abc, ')
})

test('a nonce that is missing or empty is said to be missing', () => {
  for (const values of [[], [''], ['', 'abc']])
    expect(() => sentNonce(values)).toThrow(refusal('CSRF_FAILED', { reason: 'missing_nonce' }))
})

test('a refusal says why, and the header of a proxy keeps its name', () => {
  expect(csrfFailed('cross_site', 'From another site.')).toMatchObject({
    code: 'CSRF_FAILED',
    message: 'From another site.',
    details: { reason: 'cross_site' }
  })
  expect(checkNonceHeader).toBe('x-shopstead-proxy')
})
