import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freshBytes, hmac } from '../../../src/platform/crypto/secrets.ts'

test('the HMAC is the one that Node makes, with any key and of any text', () => {
  const key = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(key, fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 3 }), (bytes, texts) => {
      for (const text of texts) expect(hmac(bytes, text)).toEqual(createHmac('sha256', bytes).update(text).digest())
    }),
    { numRuns: 500 }
  )
})

test('bytes drawn from the store are nobody else’s, and stay what they were', () => {
  const drawn = Array.from({ length: 1000 }, () => freshBytes(16))
  const told = drawn.map((bytes) => bytes.toString('hex'))
  for (let more = 0; more < 1000; more += 1) freshBytes(16)
  expect(drawn.map((bytes) => bytes.toString('hex'))).toEqual(told)
  expect(new Set(told).size).toBe(1000)
  expect(freshBytes(4096)).toHaveLength(4096)
  expect(() => freshBytes(4097)).toThrow(RangeError)
})
