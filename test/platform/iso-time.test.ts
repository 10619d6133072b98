import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toIso } from '../../src/platform/iso-time.ts'

const farthest = 8_640_000_000_000_000

test('toIso writes every time as Date does', () => {
  const time = fc.oneof(
    fc.integer({ min: -farthest, max: farthest - 1 }),
    fc.integer({ min: Date.UTC(2020), max: Date.UTC(2040) }),
    // The edges of days, hours, and years with more digits.
    fc.integer({ min: -3000, max: 3_000_000 }).map((day) => day * 86_400_000 - 1),
    fc.integer({ min: -300_000, max: 600_000 }).map((hour) => hour * 3_600_000)
  )
  fc.assert(
    fc.property(fc.array(time, { maxLength: 5 }), (times) => {
      for (const at of times) expect(toIso(at)).toBe(new Date(at).toISOString())
    }),
    { numRuns: 2000 }
  )
})

test('toIso throws for the values that Date rejects', () => {
  for (const at of [Number.NaN, Number.POSITIVE_INFINITY, farthest * 2]) expect(() => toIso(at)).toThrow(RangeError)
})
