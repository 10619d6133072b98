import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { hmac } from '../../../src/platform/crypto/secrets.ts'

test('hmac computes HMAC-SHA256 (RFC 4231, test case 2)', () => {
  expect(hmac(createSecretKey(Buffer.from('Jefe')), 'what do ya want for nothing?').toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  )
})
