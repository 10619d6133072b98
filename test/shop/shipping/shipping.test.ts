import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { chargeStepMinor } from '../../../src/platform/money.ts'
import type { ShippingMethod, ShippingZone } from '../../../src/shop/shipping/input.ts'
import { shipToCountries } from '../../../src/shop/checkout/shipping.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { applyShipping, listZones, methodsOfCountry, removeZone, offeredFor } from '../../../src/shop/shipping/zones.ts'
import type { Goods } from '../../../src/shop/shipping/zones.ts'
import { emptyShop } from '../../support/temporary-shop.ts'

function method(changes: Partial<ShippingMethod> = {}): ShippingMethod {
  const none = { freeFromMinor: null, perKgMinor: null, maxWeightGrams: null, estimate: null, pickup: false }
  return { id: 'parcel', name: 'Parcel', amountMinor: 490, ...none, ...changes }
}

function zone(name: string, countries: string[] | '*', changes: Partial<ShippingMethod> = {}): ShippingZone {
  return { zone: name, countries, methods: [method(changes)] }
}

function apply(db: Db, ...zones: ShippingZone[]) {
  return write(db, (tx) => applyShipping(tx, zones))
}

const lantern: Goods = { type: 'physical', quantity: 2, weightGrams: 750, totalMinor: 2500 }

describe('shipping zones', () => {
  it('are created, updated by name, and unchanged by the same entry', () => {
    const db = emptyShop()
    const both = [zone('Germany', ['DE']), zone('World', '*')]
    expect(apply(db, ...both)).toEqual({ created: 2, updated: 0, unchanged: 0 })
    expect(apply(db, ...both)).toEqual({ created: 0, updated: 0, unchanged: 2 })
    expect(listZones(db)).toEqual(both)
    expect(apply(db, zone('Germany', ['AT', 'DE'], { amountMinor: 590 }))).toMatchObject({ updated: 1 })
    expect(listZones(db)).toEqual([zone('Germany', ['AT', 'DE'], { amountMinor: 590 }), zone('World', '*')])
  })

  it('give a country its own zone before the zone of all others', () => {
    const db = emptyShop()
    apply(db, zone('World', '*', { id: 'world' }), zone('Germany', ['DE'], { id: 'home' }))
    expect(['DE', 'US'].map((country) => methodsOfCountry(db, country)?.map(({ id }) => id))).toEqual([
      ['home'],
      ['world']
    ])
    removeZone(db, 'World')
    expect(methodsOfCountry(db, 'US')).toBeUndefined()
  })

  it('exchange their countries in one file, and have no country together', () => {
    const db = emptyShop()
    apply(db, zone('One', ['DE']), zone('Two', ['AT']))
    apply(db, zone('One', ['AT']), zone('Two', ['DE']))
    expect(listZones(db).map(({ countries }) => countries)).toEqual([['AT'], ['DE']])
    expect(() => apply(db, zone('Three', ['DE', 'FR']))).toThrow(
      expect.objectContaining({
        details: { fieldErrors: { 'shipping.0.countries': ['Germany is in the zone Two already.'] } }
      })
    )
    expect(() => apply(db, zone('Three', '*'), zone('Four', '*'))).toThrow(
      expect.objectContaining({
        details: { fieldErrors: { 'shipping.1.countries': ['All other countries are in the zone Three already.'] } }
      })
    )
  })

  it('decide the countries that the shop ships to, together with the setting', () => {
    const db = emptyShop()
    expect(shipToCountries(db)).toContain('US')
    apply(db, zone('Near', ['DE', 'AT']))
    expect(shipToCountries(db)).toEqual(['AT', 'DE'])
    setSetting(db, 'checkout.shipTo', 'DE,FR', 0)
    expect(shipToCountries(db)).toEqual(['DE'])
    apply(db, zone('World', '*'))
    expect(shipToCountries(db)).toEqual(['DE', 'FR'])
  })
})

describe('a shipping method', () => {
  const costs = (changes: Partial<ShippingMethod>, goods: readonly Goods[] = [lantern], currency = 'EUR') =>
    offeredFor([{ ...method(changes), zoneId: 1, position: 0 }], { goods, renewing: [], currency })[0]?.amountMinor

  it('costs its amount', () => {
    expect(costs({})).toBe(490)
  })

  it('adds the weight of what is shipped, in proportion', () => {
    expect(costs({ perKgMinor: 101 })).toBe(490 + 152)
    const course: Goods = { type: 'digital', quantity: 1, weightGrams: 9_000, totalMinor: 1000 }
    expect(costs({ perKgMinor: 100 }, [lantern, course])).toBe(490 + 150)
    expect(costs({ perKgMinor: 100 }, [{ ...lantern, weightGrams: null }])).toBe(490)
  })

  it('is free from a sum of the goods after discounts', () => {
    expect([2500, 2501].map((freeFromMinor) => costs({ freeFromMinor, perKgMinor: 100 }))).toEqual([0, 640])
    expect(costs({ freeFromMinor: 0 })).toBe(0)
  })

  it('is not offered for a heavier cart', () => {
    expect([1500, 1499].map((maxWeightGrams) => costs({ maxWeightGrams }))).toEqual([490, undefined])
  })

  it('costs what the currency can charge', () => {
    const lists = fc.record({ amount: fc.nat(100_000), perKg: fc.nat(100_000), grams: fc.nat(40_000) })
    fc.assert(
      fc.property(fc.constantFrom('EUR', 'JPY', 'KWD', 'ISK'), lists, (currency, { amount, perKg, grams }) => {
        const step = chargeStepMinor(currency)
        const amountMinor = amount * step
        const goods = [{ ...lantern, quantity: 1, weightGrams: grams }]
        const minor = costs({ amountMinor, perKgMinor: perKg }, goods, currency) ?? -1
        expect(minor % step).toBe(0)
        expect(Math.abs(minor - amountMinor - (perKg * grams) / 1000)).toBeLessThanOrEqual(step / 2 + 1e-6)
      }),
      { numRuns: 200 }
    )
  })
})
