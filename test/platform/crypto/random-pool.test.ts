import { expect, test } from 'vitest'
import { fillRandom } from '../../../src/platform/crypto/random-pool.ts'

test('fillRandom fills every target with bytes that no other target has, over many refills', () => {
  const seen = new Set<string>()
  for (let count = 0; count < 10_000; count += 1) {
    const target = Buffer.alloc(16)
    fillRandom(target)
    seen.add(target.toString('hex'))
  }
  expect(seen.size).toBe(10_000)
})

test('fillRandom fills the target to its end, whatever is left in the pool', () => {
  for (const length of [4096, 1, 4096, 4095, 2, 0]) {
    const targets = Array.from({ length: 20 }, () => {
      const target = Buffer.alloc(length)
      fillRandom(target)
      return target
    })
    const unfilled = Array.from({ length }, (_, index) => index).filter((index) =>
      targets.every((target) => target[index] === 0)
    )
    expect(unfilled).toEqual([])
  }
})

test('fillRandom refuses a target larger than the pool', () => {
  expect(() => fillRandom(Buffer.alloc(4097))).toThrow(RangeError)
})
