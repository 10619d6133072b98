import { describe, expect, it } from 'vitest'
import { parseInstant, parsePeriod } from '../../../../src/shop/catalog/import/fields.ts'

describe('the parser of times', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T10:30Z', '2026-11-20T10:30:00.000Z'],
    ['2026-11-20T10:30:15.25+02:00', '2026-11-20T08:30:15.250Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z']
  ])('reads %s', (text, at) => {
    expect(new Date(parseInstant(text) ?? Number.NaN).toISOString()).toBe(at)
  })

  it.each([
    '',
    '2026',
    '2026-02-30',
    '2026-13-01',
    '2026-11-20T10:30',
    '2026-11-20 10:30Z',
    '2026-11-20T24:00Z',
    '20.11.2026',
    '1960-01-01'
  ])('refuses %j', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })
})

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
