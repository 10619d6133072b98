import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { documentsOf } from '../../../src/shop/invoices/find.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import {
  commissionBaseOf,
  planRefundLines,
  refundsOfOrder,
  storeOrderRefund
} from '../../../src/shop/orders/refund-lines.ts'
import type { WantedRefund } from '../../../src/shop/orders/refund-lines.ts'
import { recordRefund, reverseRefund } from '../../../src/shop/orders/refund-order.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { progressOf } from '../../../src/shop/shipments/find.ts'
import { shipmentInput, shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { setTaxRate } from '../../../src/shop/tax/rates.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import { credited, draft, line, makeAffiliate, makeProduct, makeUser, place, referralOf, stockOf } from './support.ts'

const cause = { by: 'operator', reason: 'refunded' }
const france = { shippingAddress: { country: 'FR' }, billingAddress: { country: 'FR' } }
type Line = { priceMinor: number; quantity: number; discountMinor?: number; taxClass?: 'standard' | 'reduced' | 'zero' }

/** A shop in France with 20 % and 5.5 %. */
function frenchShop(included = true): Db {
  const db = emptyShop()
  setSetting(db, 'shop.country', 'FR', noon)
  setSetting(db, 'tax.pricesIncludeTax', String(included), noon)
  const rate = { country: 'FR', region: '', name: 'VAT' }
  setTaxRate(db, { ...rate, class: 'standard', rateMillionths: 200_000 })
  setTaxRate(db, { ...rate, class: 'reduced', rateMillionths: 55_000 })
  return db
}

function buy(db: Db, lines: readonly Line[], shippingMinor = 0): number {
  const affiliate = makeAffiliate(db, makeUser(db, `${randomUUID()}@shop.example`).id, randomUUID())
  const items = lines.map(({ priceMinor, quantity, discountMinor = 0, taxClass = 'standard' }) =>
    line(makeProduct(db, { stock: 100, taxClass }), {
      quantity,
      unitPriceMinor: priceMinor,
      discountMinor,
      totalMinor: priceMinor * quantity - discountMinor,
      type: 'physical',
      taxClass
    })
  )
  const method = { id: 'parcel', name: 'Parcel', estimate: null, pickup: false }
  const shipping = shippingMinor === 0 ? {} : { shipping: { method, amountMinor: shippingMinor } }
  const { id } = place(db, draft(items, { attribution: credited(affiliate), ...france, ...shipping }))
  write(db, (tx) => payOrder(tx, id, { by: 'gateway', reason: 'paid' }, noon))
  return id
}

function giveBack(db: Db, id: number, wanted: WantedRefund): number {
  return write(db, (tx) => {
    const order = getOrder(tx, id)
    const refund = planRefundLines(tx, order, wanted, order.totalMinor - order.refundedMinor)
    const asked = storeOrderRefund(tx, order, refund, noon)
    recordRefund(tx, id, refund.amountMinor, cause, noon, asked)
    return asked.id
  })
}

function problemsOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    if (error instanceof AppError) return error.details['fieldErrors']
    throw error
  }
}

const notesOf = (db: Db, id: number) =>
  documentsOf(db, id)
    .slice(1)
    .map(({ document }) => document)
const lamp = { priceMinor: 4800, quantity: 1 }
const book = { priceMinor: 1290, quantity: 1, taxClass: 'reduced' } as const

describe('a refund of lines', () => {
  it('corrects the tax by the rate of what is given back, and its credit note lists it', () => {
    const db = frenchShop()
    const id = buy(db, [lamp, book])
    giveBack(db, id, { items: [{ line: 2, quantity: 1 }] })
    const [note] = notesOf(db, id)
    expect(note).toMatchObject({ totalMinor: 1290, taxMinor: 67, subtotalMinor: 1290, discounts: [] })
    expect(note?.lines).toMatchObject([{ quantity: 1, amountMinor: 1290, rateMillionths: 55_000 }])
  })

  it('puts back what was never shipped, once, and what the operator names', () => {
    const db = frenchShop()
    const id = buy(db, [
      { ...lamp, quantity: 3 },
      { ...book, quantity: 2 }
    ])
    const [first, second] = itemsOf(db, id).map(({ productId }) => productId)
    shipOrder(db, id, shipmentInput.parse({ items: [{ line: 1, quantity: 2 }] }), 'operator', noon)
    giveBack(db, id, { items: [{ line: 1, quantity: 2 }] })
    expect(stockOf(db, first ?? 0)).toBe(98)
    giveBack(db, id, { items: [{ line: 2, quantity: 1 }], restock: 'none' })
    expect(stockOf(db, second ?? 0)).toBe(98)
    expect(progressOf(db, id).map(({ left }) => left)).toEqual([0, 1])
    giveBack(db, id, { items: [{ line: 1, quantity: 1 }], restock: [{ line: 1, quantity: 1 }] })
    expect(stockOf(db, first ?? 0)).toBe(99)
    giveBack(db, id, {})
    expect([first, second].map((productId) => stockOf(db, productId ?? 0))).toEqual([99, 99])
    expect(getOrder(db, id)).toMatchObject({ status: 'refunded', refundedMinor: 16_980 })
  })

  it('leaves no commission when all goods came back, and the whole commission when only the shipping did', () => {
    const db = frenchShop()
    const id = buy(db, [lamp, book], 490)
    const whole = referralOf(db, id)?.amountMinor
    giveBack(db, id, { shipping: 'all' })
    expect(referralOf(db, id)?.amountMinor).toBe(whole)
    giveBack(db, id, { items: [1, 2].map((number) => ({ line: number, quantity: 1 })) })
    expect(referralOf(db, id)?.amountMinor).toBe(0)
    const other = buy(db, [lamp, book], 490)
    giveBack(db, other, { items: [1, 2].map((number) => ({ line: number, quantity: 1 })) })
    expect(referralOf(db, other)).toMatchObject({ amountMinor: 0 })
    expect(getOrder(db, other)).toMatchObject({ status: 'processing', refundedMinor: 6090 })
  })

  it('is undone when the money comes back to the shop', () => {
    const db = frenchShop()
    const id = buy(db, [{ ...lamp, quantity: 2 }, book])
    const [productId = 0] = itemsOf(db, id).map((item) => item.productId)
    const commission = referralOf(db, id)?.amountMinor
    const refundId = giveBack(db, id, { items: [{ line: 1, quantity: 1 }] })
    expect([stockOf(db, productId), progressOf(db, id)[0]?.left]).toEqual([99, 1])
    write(db, (tx) => void reverseRefund(tx, id, 4800, cause, noon, refundId))
    expect([stockOf(db, productId), progressOf(db, id)[0]?.left]).toEqual([98, 2])
    expect(referralOf(db, id)?.amountMinor).toBe(commission)
    expect(refundsOfOrder(db, id)).toMatchObject([{ state: 'failed' }])
    giveBack(db, id, { items: [{ line: 1, quantity: 2 }] })
    expect(stockOf(db, productId)).toBe(100)
    // The first credit note stays, so the second one has only what it does not cover.
    expect(notesOf(db, id).map(({ totalMinor }) => totalMinor)).toEqual([4800, 4800])
  })

  it('refuses more than is left and changes nothing', () => {
    const db = frenchShop()
    const id = buy(db, [lamp, { ...book, quantity: 2 }], 490)
    giveBack(db, id, { items: [{ line: 2, quantity: 1 }] })
    const refused = (wanted: WantedRefund) => problemsOf(() => giveBack(db, id, wanted))
    const before = [refundsOfOrder(db, id), getOrder(db, id)]
    expect(refused({ items: [{ line: 3, quantity: 1 }] })).toEqual({ items: ['The order has no line 3.'] })
    expect(refused({ items: [{ line: 2, quantity: 2 }] })).toEqual({
      items: ['Of line 2 (Storm lantern), 1 are left to refund.']
    })
    const twice = [1, 1].map((number) => ({ line: number, quantity: 1 }))
    expect(refused({ items: twice })).toEqual({ items: ['Line 1 is given twice.'] })
    expect(refused({ shipping: 491 })).toHaveProperty('shipping')
    expect(refused({ items: [{ line: 1, quantity: 1 }], amountMinor: 4801 })).toHaveProperty('amount')
    expect(refused({ items: [{ line: 1, quantity: 1 }], restock: [{ line: 2, quantity: 1 }] })).toEqual({
      restock: ['The refund gives back 0 of line 2.']
    })
    expect([refundsOfOrder(db, id), getOrder(db, id)]).toEqual(before)
  })
})

const cart = fc.record({
  included: fc.boolean(),
  shippingMinor: fc.oneof(fc.constant(0), fc.nat(2000)),
  lines: fc.array(
    fc.record({
      priceMinor: fc.nat(20_000),
      quantity: fc.integer({ min: 1, max: 6 }),
      discountPercent: fc.constantFrom(0, 10, 33, 100),
      taxClass: fc.constantFrom('standard', 'reduced')
    }),
    { minLength: 1, maxLength: 4 }
  ),
  refunds: fc.array(
    fc.record({
      kind: fc.constantFrom('line', 'shipping', 'amount', 'cheaper'),
      line: fc.nat(3),
      quantity: fc.integer({ min: 1, max: 6 }),
      amountMinor: fc.integer({ min: 1, max: 30_000 })
    }),
    { maxLength: 6 }
  )
})

/** The tax in an amount at a rate, rounded half up, in arithmetic of its own. */
function taxIn(grossMinor: number, rateMillionths: number): bigint {
  const divisor = 1_000_000n + BigInt(rateMillionths)
  return (2n * BigInt(grossMinor) * BigInt(rateMillionths) + divisor) / (2n * divisor)
}

it('for each cart, the documents add up to the order, each tax by its own rate, whatever is refunded', () => {
  const shops = [frenchShop(false), frenchShop(true)]
  fc.assert(
    fc.property(cart, ({ included, lines, shippingMinor, refunds }) => {
      const db = shops[included ? 1 : 0] ?? emptyShop()
      const sold = lines.map(({ discountPercent, ...each }) => ({
        ...each,
        discountMinor: Math.floor((each.priceMinor * each.quantity * discountPercent) / 100)
      }))
      const id = buy(db, sold, shippingMinor)
      for (const { kind, line: index, quantity, amountMinor } of [
        ...refunds,
        { kind: 'rest', line: 0, quantity: 0, amountMinor: 0 }
      ]) {
        const items = [{ line: index + 1, quantity }]
        const wanted: Readonly<Record<string, WantedRefund>> = {
          line: { items },
          shipping: { shipping: 'all' },
          amount: { amountMinor },
          cheaper: { items, amountMinor },
          rest: {}
        }
        const notes = notesOf(db, id).length
        const refunded = problemsOf(() => giveBack(db, id, wanted[kind] ?? {}))
        const note = notesOf(db, id)[notes]
        if (typeof refunded !== 'number' || note === undefined) continue
        const sums = note.taxes.reduce((sum, tax) => sum + tax.baseMinor + tax.amountMinor, 0)
        expect(sums).toBe(note.totalMinor)
        const off = note.discounts.reduce((sum, discount) => sum + discount.amountMinor, 0)
        const prices = note.subtotalMinor - off + (note.shipping?.amountMinor ?? 0)
        const isListed = note.lines.length > 0 || note.shipping !== null
        if (isListed) expect(prices + (included ? 0 : note.taxMinor)).toBe(note.totalMinor)
        for (const tax of note.taxes) {
          const exact = taxIn(tax.baseMinor + tax.amountMinor, tax.rateMillionths)
          // The rounding of the order and that of each earlier refund.
          expect(Math.abs(tax.amountMinor - Number(exact))).toBeLessThanOrEqual(2 + notes)
        }
      }
      const [invoice, ...credited] = documentsOf(db, id).map(({ document }) => document)
      const order = getOrder(db, id)
      expect(order.refundedMinor).toBe(order.totalMinor)
      expect(credited.reduce((sum, { totalMinor }) => sum + totalMinor, 0)).toBe(invoice?.totalMinor)
      for (const [row, tax] of (invoice?.taxes ?? []).entries()) {
        const sum = (of: 'baseMinor' | 'amountMinor') =>
          credited.reduce((total, note) => total + (note.taxes[row]?.[of] ?? 0), 0)
        expect([sum('baseMinor'), sum('amountMinor')]).toEqual([tax.baseMinor, tax.amountMinor])
      }
      const { goodsMinor, refundedGoodsMinor } = commissionBaseOf(db, order)
      expect(refundedGoodsMinor).toBeGreaterThanOrEqual(0)
      expect(goodsMinor).toBeLessThanOrEqual(order.totalMinor)
    }),
    { numRuns: 120 }
  )
})
