import { assert, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, addInterval, addPeriod } from '../../../src/shop/benefits/period.ts'

const iso = (at: number) => new Date(at).toISOString()
const after = (start: string, period: string, times = 1) => iso(addPeriod(Date.parse(start), period, times))

describe('periods', () => {
  it('take a month from the 31st to the last day of a shorter month', () => {
    expect(after('2026-01-31T08:30:00.000Z', 'P1M')).toBe('2026-02-28T08:30:00.000Z')
    expect(after('2028-01-31T08:30:00.000Z', 'P1M')).toBe('2028-02-29T08:30:00.000Z')
    expect(after('2026-03-31T00:00:00.000Z', 'P1M')).toBe('2026-04-30T00:00:00.000Z')
  })

  it('count several months from the start, not from one short month to the next', () => {
    expect(after('2026-01-31T00:00:00.000Z', 'P1M', 2)).toBe('2026-03-31T00:00:00.000Z')
  })

  it('take a year from the 29th of February to the 28th, and cross the turn of the year', () => {
    expect(after('2028-02-29T12:00:00.000Z', 'P1Y')).toBe('2029-02-28T12:00:00.000Z')
    expect(after('2026-12-15T12:00:00.000Z', 'P1M')).toBe('2027-01-15T12:00:00.000Z')
  })

  it('count days as 24 hours, and years, months and days together', () => {
    expect(after('2026-03-28T12:00:00.000Z', 'P14D')).toBe('2026-04-11T12:00:00.000Z')
    expect(after('2026-01-31T00:00:00.000Z', 'P1Y1M2D')).toBe('2027-03-02T00:00:00.000Z')
    expect(iso(addDays(Date.parse('2026-01-01T00:00:00Z'), 30, 2))).toBe('2026-03-02T00:00:00.000Z')
    expect(iso(addInterval(Date.parse('2026-08-31T00:00:00Z'), 'month'))).toBe('2026-09-30T00:00:00.000Z')
    expect(iso(addInterval(Date.parse('2026-08-31T00:00:00Z'), 'year', 2))).toBe('2028-08-31T00:00:00.000Z')
  })

  it('end with the year 9999, however long they are', () => {
    expect(after('2026-01-01T00:00:00.000Z', 'P9999Y', 50)).toBe('9999-12-31T23:59:59.999Z')
    expect(after('2026-01-01T00:00:00.000Z', 'P9999D', 9999)).toBe('9999-12-31T23:59:59.999Z')
  })

  it('refuse text that is none', () => {
    for (const text of ['', 'P', '1Y', 'P1', 'PT1H', 'P-1M']) expect(() => addPeriod(0, text)).toThrow(RangeError)
  })

  it('always lie ahead, in the month that the calendar counts, at the same time of day', () => {
    const day = 86_400_000
    assert(
      property(integer({ min: 0, max: 4e12 }), integer({ min: 1, max: 120 }), (start, months) => {
        const end = addPeriod(start, `P${months}M`)
        const monthOf = (at: number) => new Date(at).getUTCFullYear() * 12 + new Date(at).getUTCMonth()
        expect(end).toBeGreaterThan(start)
        expect(end % day).toBe(start % day)
        expect(monthOf(end)).toBe(monthOf(start) + months)
      })
    )
  })
})
