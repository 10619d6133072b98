import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { presetEu, removeTaxRates, setTaxRate } from '../../../src/shop/tax/rates.ts'
import { mayReverseCharge, saleTerms } from '../../../src/shop/tax/terms.ts'
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
  presetEu(shop.db, { ownRate: false }, 0)
  setTaxRate(shop.db, { region: '', name: null, country: 'DE', class: 'reduced', rateMillionths: 70_000 })
})

const nowhere: TaxedBuyer = { shippingAddress: null, billingAddress: null, vatId: null }
const inCountry = (country: string, vatId: string | null = null): TaxedBuyer => ({
  ...nowhere,
  vatId,
  shippingAddress: { country }
})
const percentOf = (buyer: TaxedBuyer, line: TaxedKind): number | null => {
  const rate = saleTerms(shop.db, buyer).rateOf(line)
  return rate === null || rate.name === '' ? null : rate.rateMillionths / 10_000
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

const categoriesOf = (buyer: TaxedBuyer, ...lines: TaxedKind[]) => {
  const { rateOf } = saleTerms(shop.db, buyer)
  return lines.map((line) => rateOf(line)?.category ?? null)
}

describe('a business in another member state of the EU', () => {
  it('owes the tax itself, so the price is without the tax', () => {
    const terms = saleTerms(shop.db, inCountry('FR', french))
    expect(terms.rateOf(mug)).toEqual({
      category: 'supply',
      name: 'Intra-Community supply',
      country: 'FR',
      destination: 'FR',
      region: '',
      rateMillionths: 0
    })
    expect(terms.rateOf(song)).toMatchObject({ category: 'reverse_charge', name: 'Reverse charge' })
    expect(terms.removed?.(mug)?.rateMillionths).toBe(200_000)
    setSetting(shop.db, 'tax.pricesIncludeTax', 'false', 0)
    expect(saleTerms(shop.db, inCountry('FR', french)).removed).toBeNull()
  })

  it.each([
    ['the goods stay in the country of the shop', inCountry('DE', french), 'taxed'],
    ['the goods leave the EU', inCountry('CH', french), 'export'],
    ['the id is one of the country of the shop', inCountry('FR', 'DE136695976'), 'taxed'],
    ['the id is not valid', inCountry('FR', 'FR40303265046'), 'taxed'],
    ['the id is one of a country outside the EU', inCountry('FR', 'GB980780684'), 'taxed'],
    ['there is no id', inCountry('FR'), 'taxed'],
    ['the address is unknown', { ...nowhere, vatId: french }, 'taxed']
  ])('pays the tax as usual if %s', (_why, buyer, category) => {
    expect(categoriesOf(buyer, mug)).toEqual([category])
    expect(saleTerms(shop.db, buyer).removed?.(mug) ?? null).toBeNull()
  })

  it('pays the tax of goods that stay in the country of the shop, and owes that of a download in the same order', () => {
    const buyer = { ...inCountry('DE', french), billingAddress: { country: 'FR' } }
    expect(categoriesOf({ ...buyer, shippingAddress: { address1: 'Quay 7', country: 'DE' } }, mug, song)).toEqual([
      'taxed',
      'reverse_charge'
    ])
  })

  it('pays the tax as usual in a shop outside the EU, or in one that charges no tax at home', () => {
    setSetting(shop.db, 'shop.country', 'CH', 0)
    setTaxRate(shop.db, { region: '', name: null, country: 'CH', class: 'standard', rateMillionths: 81_000 })
    expect(categoriesOf(inCountry('FR', french), mug)).toEqual(['taxed'])
    setSetting(shop.db, 'shop.country', 'DE', 0)
    removeTaxRates(shop.db, { country: 'DE' })
    expect(categoriesOf(inCountry('FR', french), mug)).toEqual(['taxed'])
  })
})

describe('a sale without tax', () => {
  it('is an export of goods, or a service outside the EU', () => {
    expect(categoriesOf(inCountry('CH'), mug, song)).toEqual(['export', 'outside'])
    setTaxRate(shop.db, { region: '', name: null, country: 'CH', class: 'standard', rateMillionths: 81_000 })
    expect(categoriesOf(inCountry('CH'), mug, song)).toEqual(['taxed', 'taxed'])
  })

  it('is at the zero rate, or one of which the shop knows no rate', () => {
    const bread: TaxedKind = { ...mug, taxClass: 'zero' }
    expect(categoriesOf(nowhere, bread)).toEqual(['zero'])
    removeTaxRates(shop.db, { country: 'FR' })
    expect(categoriesOf(inCountry('FR'), mug)).toEqual([null])
    removeTaxRates(shop.db, { country: 'DE' })
    expect(categoriesOf(nowhere, bread)).toEqual([null])
  })

  it('is every one of a small business, also to businesses elsewhere in the EU', () => {
    setSetting(shop.db, 'tax.smallBusiness', 'true', 0)
    expect(categoriesOf(inCountry('FR', french), mug, song)).toEqual(['small_business', 'small_business'])
    expect(saleTerms(shop.db, inCountry('FR', french)).removed).toBeNull()
    expect(mayReverseCharge(shop.db)).toBe(false)
  })
})

describe('a shop below the threshold of the EU', () => {
  beforeEach(() => presetEu(shop.db, { ownRate: true }, 0))

  it('charges consumers elsewhere in the EU its own rates, also the reduced one, and owes them at home', () => {
    const { rateOf } = saleTerms(shop.db, inCountry('FR'))
    expect([mug, book].map(rateOf)).toMatchObject([
      { country: 'DE', destination: 'FR', rateMillionths: 190_000 },
      { country: 'DE', destination: 'FR', rateMillionths: 70_000 }
    ])
    expect(percentOf(inCountry('CH'), mug)).toBeNull()
  })

  it('takes its own rate out of the price for a business', () => {
    const terms = saleTerms(shop.db, inCountry('FR', french))
    expect(terms.rateOf(mug)?.category).toBe('supply')
    expect(terms.removed?.(mug)?.rateMillionths).toBe(190_000)
  })

  it('charges theirs again when it leaves the preset', () => {
    presetEu(shop.db, { ownRate: false }, 0)
    expect(percentOf(inCountry('FR'), mug)).toBe(20)
  })

  it('is in the EU', () => {
    setSetting(shop.db, 'shop.country', 'US', 0)
    expect(() => presetEu(shop.db, { ownRate: true }, 0)).toThrow(/member state/)
  })
})

describe('a territory', () => {
  it('has the VAT of the country that it belongs to', () => {
    expect(saleTerms(shop.db, inCountry('MC')).rateOf(mug)).toMatchObject({ country: 'FR', destination: 'FR' })
    expect(categoriesOf(inCountry('MC', french), mug)).toEqual(['supply'])
  })

  it('of Northern Ireland is in the EU for goods, to a business with an XI id, and not for services', () => {
    const belfast = { country: 'GB', postcode: 'BT1 5GS', address1: 'Quay 7' }
    const buyer = { ...nowhere, shippingAddress: belfast, vatId: 'XI980780684' }
    expect(categoriesOf(buyer, mug, song)).toEqual(['supply', 'outside'])
    expect(categoriesOf({ ...buyer, shippingAddress: { ...belfast, postcode: 'SW1A 1AA' } }, mug)).toEqual(['export'])
  })
})
