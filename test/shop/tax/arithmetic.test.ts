import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taxesInPaid, taxesOf, withoutTax } from '../../../src/shop/tax/terms.ts'
import type { Taxable, TaxRate } from '../../../src/shop/tax/terms.ts'
import { checkTaxes, checkRefunds, taxedOrder } from './tax-properties.ts'

const vat = (percent: number): TaxRate => ({
  category: 'taxed',
  name: 'VAT',
  country: 'DE',
  region: '',
  destination: 'DE',
  rateMillionths: Math.round(percent * 10_000)
})
const goods = (goodsMinor: number, rate: TaxRate | null, shippingMinor = 0): Taxable => ({
  rate,
  goodsMinor,
  shippingMinor
})
const included = { included: true, stepMinor: 1 }
const added = { included: false, stepMinor: 1 }

describe('the taxes of an order', () => {
  it('takes the tax out of prices that include it', () => {
    const { lines, goodsMinor } = taxesOf([goods(2499, vat(19))], included)
    expect(lines).toMatchObject([{ baseMinor: 2100, amountMinor: 399 }])
    expect(goodsMinor).toBe(399)
  })

  it('adds the tax to prices without it, with exact rates', () => {
    const { lines } = taxesOf([goods(10_000, vat(8.875))], added)
    expect(lines).toMatchObject([{ baseMinor: 10_000, amountMinor: 888 }])
  })

  it('rounds once for each rate, not for each line', () => {
    const cent = goods(3, vat(19))
    expect(taxesOf(Array<Taxable>(10).fill(cent), added).lines).toMatchObject([{ baseMinor: 30, amountMinor: 6 }])
  })

  it('leaves goods without a rate untaxed, and counts goods at zero percent', () => {
    const { lines } = taxesOf([goods(500, null), goods(700, vat(0))], included)
    expect(lines).toEqual([{ ...vat(0), baseMinor: 700, amountMinor: 0 }])
  })

  it('taxes shipping with the goods, and knows which part of the tax is on the goods', () => {
    const { lines, goodsMinor } = taxesOf([goods(8000, vat(20), 2000)], added)
    expect(lines).toMatchObject([{ baseMinor: 10_000, amountMinor: 2000 }])
    expect(goodsMinor).toBe(1600)
  })

  it('adds only taxes that the currency can charge', () => {
    const { lines } = taxesOf([goods(12_340, vat(5))], { included: false, stepMinor: 10 })
    expect(lines).toMatchObject([{ amountMinor: 620 }])
  })

  it('takes the tax out of a price', () => {
    expect([withoutTax(2499, vat(19), 1), withoutTax(2499, null, 1), withoutTax(12_345, vat(5), 10)]).toEqual([
      2100, 2499, 11_760
    ])
  })
})

describe('the taxes of a paid amount', () => {
  it('distributes another amount over the rates', () => {
    const { lines } = taxesInPaid(2000, [goods(1000, vat(19)), goods(1000, vat(7)), goods(2000, null)], added)
    expect(lines).toMatchObject([
      { baseMinor: 470, amountMinor: 89 },
      { baseMinor: 469, amountMinor: 33 }
    ])
  })
})

it('keeps every sum exact, for random orders and splits', () => {
  fc.assert(fc.property(taxedOrder, checkTaxes), { numRuns: 300 })
})

it('returns each tax in proportion, and the whole of it with the last refund', () => {
  fc.assert(fc.property(taxedOrder, checkRefunds), { numRuns: 200 })
})
