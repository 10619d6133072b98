import { describe, expect, it } from 'vitest'
import { parsePeriod } from '../../../../src/shop/catalog/import/fields.ts'

describe('the parser of periods', () => {
  it.each([
    ['P1Y', 'P1Y'],
    ['P1M', 'P1M'],
    ['P14D', 'P14D'],
    ['P2W', 'P14D'],
    ['P1Y6M', 'P1Y6M'],
    ['1y', 'P1Y'],
    ['1m', 'P1M'],
    ['14 d', 'P14D'],
    ['2W', 'P14D']
  ])('reads %s', (text, period) => {
    expect(parsePeriod(text)).toBe(period)
  })

  it.each(['', 'P', 'P0D', '0d', '1', 'y', 'PT1H', 'P-1Y', 'P1Y ago', '99999d'])('refuses %j', (text) => {
    expect(parsePeriod(text)).toBeUndefined()
  })
})
