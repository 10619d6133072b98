import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hmac } from '../../../src/platform/crypto/secrets.ts'

test('the HMAC is the one that Node makes, with any key and of any text', () => {
  const key = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(key, fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 3 }), (bytes, texts) => {
      for (const text of texts) expect(hmac(bytes, text)).toEqual(createHmac('sha256', bytes).update(text).digest())
    }),
    { numRuns: 500 }
  )
})
