import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addDays,
  countDays,
  dayIn,
  endOfDay,
  firstInstant,
  isDay,
  lastDayBefore,
  parseInstant,
  startOfDay
} from '../../src/platform/days.ts'
import { toDay } from '../../src/platform/iso-time.ts'

const zones = Intl.supportedValuesOf('timeZone')
const dayOfYears = fc.integer({ min: Date.UTC(2025, 0, 1) / 86_400_000, max: Date.UTC(2029, 0, 1) / 86_400_000 })

it('the days of every time zone follow each other without a gap, also when the clocks change', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), dayOfYears, fc.nat(86_399_999), (timeZone, number, later) => {
      const day = toDay(number * 86_400_000)
      const [start, end] = [startOfDay(timeZone, day), endOfDay(timeZone, day)]
      expect(end).toBe(startOfDay(timeZone, addDays(day, 1)))
      for (const at of [start, end - 1, Math.min(start + later, end - 1)]) expect(dayIn(timeZone, at)).toBe(day)
      expect(dayIn(timeZone, start - 1)).toBe(addDays(day, -1))
      expect(lastDayBefore(timeZone, end)).toBe(day)
      expect(lastDayBefore(timeZone, end - 1)).toBeUndefined()
    }),
    { numRuns: 300 }
  )
})

it.each([
  ['Europe/Berlin', '2026-03-29', 23],
  ['Europe/Berlin', '2026-10-25', 25],
  ['America/Los_Angeles', '2026-11-01', 25],
  // These change their clocks at midnight, half an hour, or not at all.
  ['Africa/Cairo', '2026-04-24', 23],
  ['Australia/Lord_Howe', '2026-10-04', 23.5],
  ['UTC', '2026-03-29', 24]
])('in %s, %s has %d hours', (timeZone, day, hours) => {
  expect((endOfDay(timeZone, day) - startOfDay(timeZone, day)) / 3_600_000).toBe(hours)
})

it('a time that the clocks leave out begins with the next one that they show', () => {
  expect(new Date(firstInstant('Europe/Berlin', '2026-03-29 02:30:00')).toISOString()).toBe('2026-03-29T01:00:00.000Z')
  expect(new Date(firstInstant('Europe/Berlin', '2026-11-30 18:30:15')).toISOString()).toBe('2026-11-30T17:30:15.000Z')
})

it('days are counted with both ends', () => {
  expect(countDays({ from: '2026-02-27', to: '2026-03-01' })).toBe(3)
  expect(['2026-02-29', '2026-2-28', '2028-02-29', 'today'].map(isDay)).toEqual([false, false, true, false])
})

describe('the parser of dates and times', () => {
  it.each([
    ['2026-11-20', '2026-11-19T23:00:00.000Z', '2026-11-20T23:00:00.000Z'],
    ['2026-11-20T10:30Z', '2026-11-20T10:30:00.000Z', '2026-11-20T10:30:00.000Z'],
    ['2026-11-20T10:30:15.25+02:00', '2026-11-20T08:30:15.250Z', '2026-11-20T08:30:15.250Z'],
    ['2028-02-29', '2028-02-28T23:00:00.000Z', '2028-02-29T23:00:00.000Z']
  ])('reads %s, a date as the whole day', (text, first, end) => {
    const read = (edge: 'start' | 'end') =>
      new Date(parseInstant('Europe/Berlin', text, edge) ?? Number.NaN).toISOString()
    expect([read('start'), read('end')]).toEqual([first, end])
  })

  it.each([
    '',
    '2026',
    '2026-02-30',
    '2026-13-01',
    '2026-11-20T10:30',
    '2026-02-30T10:30Z',
    '2026-11-20 10:30Z',
    '2026-11-20T24:00Z',
    '20.11.2026',
    '1960-01-01'
  ])('refuses %j', (text) => {
    expect(parseInstant('UTC', text, 'start')).toBeUndefined()
  })
})
