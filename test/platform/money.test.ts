import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.ts'
import {
  chargeStepMinor,
  currencyDecimals,
  formatMoney,
  isCurrency,
  percentOf,
  shareMinor,
  toDecimalText,
  toMajor,
  toMinor
} from '../../src/platform/money.ts'

const currency = fc.constantFrom('EUR', 'USD', 'JPY', 'KWD', 'HUF', 'UGX')

describe('currencies', () => {
  it('counts decimals as Stripe does, not as Intl does', () => {
    const codes = ['EUR', 'JPY', 'KWD', 'HUF', 'ISK', 'UGX', 'IDR', 'BHD']
    expect(codes.map(currencyDecimals)).toEqual([2, 0, 3, 2, 2, 2, 2, 3])
  })

  it('accepts the currencies of Stripe by their upper-case code only', () => {
    expect(['EUR', 'XCG', 'JPY', 'TND'].every(isCurrency)).toBe(true)
    expect(['eur', 'EURO', 'XXX', 'DEM', '', 'constructor'].some(isCurrency)).toBe(false)
    expect(() => currencyDecimals('XXX')).toThrow(AppError)
  })

  it('returns the step of amounts that Stripe charges', () => {
    expect(['EUR', 'ISK', 'UGX', 'KWD', 'JPY'].map(chargeStepMinor)).toEqual([1, 100, 100, 10, 1])
  })
})

describe('reading amounts', () => {
  it('reads numbers and decimal text exactly', () => {
    expect(toMinor(12.5, 'EUR')).toBe(1250)
    expect(toMinor('12.50', 'EUR')).toBe(1250)
    expect(toMinor(19.99, 'EUR')).toBe(1999)
    expect(toMinor('0', 'EUR')).toBe(0)
    expect(toMinor(500, 'JPY')).toBe(500)
    expect(toMinor('1.234', 'KWD')).toBe(1234)
  })

  it('accepts extra zeros after the decimals of the currency, but no other digits', () => {
    expect(toMinor('500.00', 'JPY')).toBe(500)
    expect(toMinor('1.2300', 'EUR')).toBe(123)
    expect(() => toMinor('500.5', 'JPY')).toThrow(/at most 0 decimals/)
    expect(() => toMinor(0.1 + 0.2, 'EUR')).toThrow(/at most 2 decimals/)
  })

  it.each([
    '',
    ' ',
    '-1',
    '+1',
    '1e3',
    '1,5',
    '1.',
    '.5',
    '0x10',
    ' 1',
    '1\n',
    '1_000',
    '١',
    'NaN',
    -1,
    NaN,
    Infinity,
    1e21,
    1e-7,
    '90071992547409.92',
    '9'.repeat(400)
  ])('refuses %j as an amount, without repeating it', (amount) => {
    const read = () => toMinor(amount, 'EUR')
    expect(read).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
    expect(() => toMinor('7777777777777777777', 'EUR')).not.toThrow(/7777/)
  })

  it('reads back what it writes, in currencies of 0, 2 and 3 decimals', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), currency, (minor, currency) => {
        expect(toMinor(toDecimalText(minor, currency), currency)).toBe(minor)
      })
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), currency, (minor, currency) => {
        expect(toMinor(toMajor(minor, currency), currency)).toBe(minor)
      })
    )
  })

  it('either reads any text or throws an AppError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.integer()), currency, (amount, currency) => {
        const outcome = outcomeOf(() => toMinor(amount, currency))
        expect(outcome instanceof AppError || (Number.isSafeInteger(outcome) && Number(outcome) >= 0)).toBe(true)
      })
    )
  })
})

describe('writing amounts', () => {
  it('writes every decimal of the currency, in decimal text and for display', () => {
    expect(toDecimalText(5, 'EUR')).toBe('0.05')
    expect(toDecimalText(-5, 'EUR')).toBe('-0.05')
    expect(toDecimalText(1234, 'KWD')).toBe('1.234')
    expect(toDecimalText(500, 'JPY')).toBe('500')
    expect(toMajor(1250, 'EUR')).toBe(12.5)
    expect(formatMoney(123450, 'EUR')).toBe('€1,234.50')
    expect(formatMoney(500, 'JPY')).toBe('¥500')
    expect(formatMoney(50000, 'HUF')).toBe('HUF\u00a0500.00')
    expect(formatMoney(-1250, 'USD')).toBe('-$12.50')
  })
})

describe('sharing', () => {
  it('gives the extra units to the largest remainders, and to the first of equal ones', () => {
    expect(shareMinor(100, [1, 1, 1])).toEqual([34, 33, 33])
    expect(shareMinor(10, [0, 7, 5])).toEqual([0, 6, 4])
    expect(shareMinor(0, [])).toEqual([])
    expect(shareMinor(0, [0, 0])).toEqual([0, 0])
  })

  it('produces shares that sum to the total and do not exceed their weights', () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 10 ** 14 }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(amounts, fc.double({ min: 0, max: 1, noNaN: true }), (weights, part) => {
        const sum = weights.reduce((sum, weight) => sum + weight, 0)
        const total = Math.floor(sum * part)
        const shares = shareMinor(total, weights)
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(total)
        expect(shares.every((share, index) => share >= 0 && share <= (weights[index] ?? 0))).toBe(true)
      })
    )
  })

  it('throws for an amount that cannot be shared', () => {
    expect(() => shareMinor(1, [])).toThrow(RangeError)
    expect(() => shareMinor(1, [0])).toThrow(RangeError)
    expect(() => shareMinor(-1, [1])).toThrow(RangeError)
    expect(() => shareMinor(1, [0.5, 1])).toThrow(RangeError)
  })
})

describe('percentages', () => {
  it('rounds halves away from zero', () => {
    expect(percentOf(1005, 1000)).toBe(101)
    expect(percentOf(1004, 1000)).toBe(100)
    expect(percentOf(-1005, 1000)).toBe(-101)
    expect(Object.is(percentOf(-1, 1000), 0)).toBe(true)
  })

  it('differs by at most half a unit for every amount', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 0, max: 10_000 }), (minor, rateBps) => {
        const difference = BigInt(percentOf(minor, rateBps)) * 10_000n - BigInt(minor) * BigInt(rateBps)
        expect(difference > -5_000n && difference <= 5_000n).toBe(true)
      })
    )
  })
})

function outcomeOf(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return error
  }
}
