import { createHmac, createSecretKey } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { hmac } from '../../../src/platform/crypto/secrets.ts'

test('hmac computes HMAC-SHA256 (RFC 4231, test case 2)', () => {
  expect(hmac(createSecretKey(Buffer.from('Jefe')), 'what do ya want for nothing?').toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  )
})

test('hmac computes what createHmac computes, for every text and for keys up to and beyond one block', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.string({ unit: 'binary' }), (bytes, text) => {
      const key = createSecretKey(bytes)
      expect(hmac(key, text)).toEqual(createHmac('sha256', key).update(text).digest())
    })
  )
})

test('hmac computes what createHmac computes for keys of 63 to 65 bytes', () => {
  for (const length of [63, 64, 65]) {
    const key = createSecretKey(Buffer.alloc(length, 0xa5))
    expect(hmac(key, 'text')).toEqual(createHmac('sha256', key).update('text').digest())
  }
})

test('a result of hmac does not change when hmac computes another', () => {
  const key = createSecretKey(Buffer.alloc(32, 1))
  const first = hmac(key, 'first')
  const copy = Buffer.from(first)
  hmac(key, 'second')
  expect(first).toEqual(copy)
})
