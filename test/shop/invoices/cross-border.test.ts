import { expect, it } from 'vitest'
import { crossBorderOf, crossBorderSales } from '../../../src/shop/invoices/cross-border.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { frenchId, makeGerman, sell } from './cases.ts'

const lamp = { unitPriceMinor: 1200, totalMinor: 1200 }

it('counts what consumers in other member states buy for the threshold, and gift cards only when they pay', () => {
  using shop = openTestShop()
  makeGerman(shop.db)
  const now = shop.clock.now()
  const sold = (): number => crossBorderSales(shop.db, 2026)
  sell(shop.db, [lamp], { to: 'DE' }, now)
  sell(shop.db, [lamp], { to: 'CH' }, now)
  sell(shop.db, [lamp], { to: 'FR', vatId: frenchId }, now)
  expect(sold()).toBe(0)
  sell(shop.db, [{ ...lamp, type: 'gift_card' }], { to: 'FR' }, now)
  expect(sold()).toBe(0)
  sell(shop.db, [lamp], { to: 'FR' }, now)
  expect(sold()).toBe(1000)
})

it('counts goods for Northern Ireland, and the sales of a shop in Monaco, which is part of France for VAT', () => {
  using shop = openTestShop()
  makeGerman(shop.db)
  const [row] = sell(shop.db, [lamp], { to: 'FR' }, shop.clock.now())
  if (row === undefined) throw new Error('there is no invoice')
  const { taxes, seller } = row.document
  const countedFor = (destination: string, country: string): number =>
    crossBorderOf({ taxes: taxes.map((tax) => ({ ...tax, destination })), seller: { ...seller, country } })
  expect(countedFor('XI', 'DE')).toBe(1000)
  expect(countedFor('DE', 'MC')).toBe(1000)
  expect([countedFor('FR', 'MC'), countedFor('GB', 'DE'), countedFor('FR', 'CH')]).toEqual([0, 0, 0])
})
