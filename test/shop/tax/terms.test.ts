import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { presetEu, removeTaxRates, setTaxRate } from '../../../src/shop/tax/rates.ts'
import { saleTerms } from '../../../src/shop/tax/terms.ts'
import type { TaxedBuyer, TaxedKind } from '../../../src/shop/tax/terms.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const book: TaxedKind = { type: 'physical', taxClass: 'reduced' }
const mug: TaxedKind = { type: 'physical', taxClass: 'standard' }
const song: TaxedKind = { type: 'digital', taxClass: 'standard' }
const french = 'FR40303265045'

let shop: TestShop

beforeEach(() => {
  shop = openTestShop()
  onTestFinished(() => shop[Symbol.dispose]())
  setSetting(shop.db, 'shop.country', 'DE', 0)
  presetEu(shop.db, { ownRate: false })
  setTaxRate(shop.db, { region: '', name: null, country: 'DE', class: 'reduced', rateMillionths: 70_000 })
})

const nowhere: TaxedBuyer = { shippingAddress: null, billingAddress: null, vatId: null }
const inCountry = (country: string, vatId: string | null = null): TaxedBuyer => ({
  ...nowhere,
  vatId,
  shippingAddress: { country }
})
const percentOf = (buyer: TaxedBuyer, line: TaxedKind): number | null => {
  const rate = saleTerms(shop.db, buyer, [line]).rateOf(line)
  return rate === null ? null : rate.rateMillionths / 10_000
}

describe('the rate of a line', () => {
  it('is the one of the country that it is shipped to, or of the shop while that is unknown', () => {
    expect(percentOf(nowhere, mug)).toBe(19)
    expect(percentOf(inCountry('FI'), mug)).toBe(25.5)
    expect(percentOf({ ...nowhere, billingAddress: { country: 'FR' } }, mug)).toBe(20)
    expect(percentOf(inCountry('CH'), mug)).toBeNull()
  })

  it('is the one of the buyer’s country for what is not shipped', () => {
    const buyer = { ...inCountry('AT'), billingAddress: { country: 'FR' } }
    expect([percentOf(buyer, mug), percentOf(buyer, song)]).toEqual([20, 20])
    expect(percentOf({ ...inCountry('FI'), billingAddress: { country: 'FR' } }, song)).toBe(20)
    expect(percentOf(inCountry('FI'), song)).toBe(25.5)
  })

  it('is the standard rate where a country has none for its class, and nothing for the class zero', () => {
    expect([percentOf(nowhere, book), percentOf(inCountry('FR'), book)]).toEqual([7, 20])
    expect(percentOf(nowhere, { ...mug, taxClass: 'zero' })).toBeNull()
    setTaxRate(shop.db, { region: '', country: 'DE', class: 'zero', rateMillionths: 0, name: 'Exempt' })
    expect(percentOf(nowhere, { ...mug, taxClass: 'zero' })).toBe(0)
  })

  it('is the one of a state or province, by its name or abbreviation', () => {
    setTaxRate(shop.db, { country: 'US', region: 'NY', class: 'standard', rateMillionths: 88_750, name: 'Sales tax' })
    const inState = (state: string) => percentOf({ ...nowhere, shippingAddress: { country: 'US', state } }, mug)
    expect([inState('NY'), inState('ny '), inState('New York'), inState('OR'), inState('')]).toEqual([
      8.875,
      8.875,
      8.875,
      null,
      null
    ])
  })

  it('is the one of a region, for every class, where the region has its own', () => {
    setTaxRate(shop.db, { region: '', name: null, country: 'ES', class: 'reduced', rateMillionths: 100_000 })
    setTaxRate(shop.db, { name: null, country: 'ES', region: 'LAS PALMAS', class: 'standard', rateMillionths: 0 })
    const canaries = { ...nowhere, shippingAddress: { country: 'ES', state: 'Las Palmas' } }
    expect([percentOf(canaries, book), percentOf(inCountry('ES'), book)]).toEqual([0, 10])
  })
})

describe('a business in another member state of the EU', () => {
  it('owes the tax itself, so the price is without the tax', () => {
    const terms = saleTerms(shop.db, inCountry('FR', french), [mug])
    expect(terms).toMatchObject({ included: false, reverseCharge: true })
    expect(terms.rateOf(mug)).toEqual({ name: 'Reverse charge', country: 'FR', region: '', rateMillionths: 0 })
    expect(terms.removed?.(mug)?.rateMillionths).toBe(200_000)
    setSetting(shop.db, 'tax.pricesIncludeTax', 'false', 0)
    expect(saleTerms(shop.db, inCountry('FR', french), [mug]).removed).toBeNull()
  })

  it.each([
    ['the goods stay in the country of the shop', inCountry('DE', french)],
    ['the goods leave the EU', inCountry('CH', french)],
    ['the id is one of the country of the shop', inCountry('FR', 'DE136695976')],
    ['the id is not valid', inCountry('FR', 'FR40303265046')],
    ['the id is one of a country outside the EU', inCountry('FR', 'GB980780684')],
    ['there is no id', inCountry('FR')],
    ['the address is unknown', { ...nowhere, vatId: french }]
  ])('pays the tax as usual if %s', (_why, buyer) => {
    expect(saleTerms(shop.db, buyer, [mug])).toMatchObject({ included: true, reverseCharge: false })
  })

  it('pays the tax as usual if a part of the order stays in the country of the shop', () => {
    const buyer = { ...inCountry('DE', french), billingAddress: { country: 'FR' } }
    expect(saleTerms(shop.db, buyer, [mug, song]).reverseCharge).toBe(false)
    expect(saleTerms(shop.db, buyer, [song]).reverseCharge).toBe(true)
  })

  it('pays the tax as usual in a shop outside the EU, or in one that charges no tax at home', () => {
    setSetting(shop.db, 'shop.country', 'CH', 0)
    setTaxRate(shop.db, { region: '', name: null, country: 'CH', class: 'standard', rateMillionths: 81_000 })
    expect(saleTerms(shop.db, inCountry('FR', french), [mug]).reverseCharge).toBe(false)
    setSetting(shop.db, 'shop.country', 'DE', 0)
    removeTaxRates(shop.db, { country: 'DE' })
    expect(saleTerms(shop.db, inCountry('FR', french), [mug]).reverseCharge).toBe(false)
  })
})

it('a small shop has its own rate in every member state', () => {
  const { rates } = presetEu(shop.db, { ownRate: true })
  expect(new Set(rates.map(({ ratePercent }) => ratePercent))).toEqual(new Set([19]))
  setSetting(shop.db, 'shop.country', 'US', 0)
  expect(() => presetEu(shop.db, { ownRate: true })).toThrow(/member state/)
})
