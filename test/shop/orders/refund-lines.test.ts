import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { partsOf, refundsOfOrder } from '../../../src/shop/orders/refunds/refund-lines.ts'
import type { WantedRefund } from '../../../src/shop/orders/refunds/refund-lines.ts'
import { reverseRefund } from '../../../src/shop/orders/transition.ts'
import { progressOf } from '../../../src/shop/shipments/find.ts'
import { shipmentInput, shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import { buy, checkDocuments, makeFrench, notesOf, problemsOf, refundedCart } from './refund-properties.ts'
import { giveBack, referralOf, stockOf } from './support.ts'

const cause = { by: 'operator', reason: 'refunded' }
const frenchShop = (included = true): Db => makeFrench(emptyShop(), included)
const lamp = { priceMinor: 4800, quantity: 1 }
const book = { priceMinor: 1290, quantity: 1, taxClass: 'reduced' } as const

describe('a refund of lines', () => {
  it('corrects the tax by the rate of what is given back, and its credit note lists it', () => {
    const db = frenchShop()
    const id = buy(db, [lamp, book])
    giveBack(db, id, { items: [{ line: 2, quantity: 1 }] })
    const [note] = notesOf(db, id)
    expect(note).toMatchObject({ totalMinor: 1290, taxMinor: 67, subtotalMinor: 1290, discounts: [] })
    expect(note?.lines).toMatchObject([{ quantity: 1, amountMinor: 1290, netMinor: 1223, taxMinor: 67, taxRow: 1 }])
  })

  it('returns shipping that another shop did not tax, beside goods that it did', () => {
    const db = frenchShop()
    const id = buy(db, [lamp], 490)
    db.sqlite.exec(`UPDATE order_taxes SET base_minor = 4000, amount_minor = 800; UPDATE orders SET tax_minor = 800`)
    expect(partsOf(db, getOrder(db, id))).toMatchObject([
      { line: 1, amountMinor: 4800, taxMinor: 800 },
      { line: 0, taxRow: null, amountMinor: 490, taxMinor: 0 }
    ])
    giveBack(db, id, { shipping: 'all' })
    giveBack(db, id, { items: [{ line: 1, quantity: 1 }] })
    expect(refundsOfOrder(db, id)).toMatchObject([
      { amountMinor: 490, goodsMinor: 0 },
      { amountMinor: 4800, goodsMinor: 4800 }
    ])
    expect(getOrder(db, id).status).toBe('refunded')
  })

  it.each([-1, 1])('returns the whole order of another shop whose taxes differ from its total by %d cent', (cents) => {
    const db = frenchShop()
    const id = buy(db, [lamp, book], 490)
    db.sqlite.exec(`UPDATE order_taxes SET base_minor = base_minor - ${cents} WHERE id = 1`)
    const before = partsOf(db, getOrder(db, id))
    expect(before.map(({ line, amountMinor }) => [line, amountMinor]).slice(0, 2)).toEqual([
      [1, 4800],
      [2, 1290]
    ])
    expect(before.reduce((sum, { amountMinor }) => sum + amountMinor, 0)).toBe(getOrder(db, id).totalMinor)
    giveBack(db, id, {})
    expect(getOrder(db, id).status).toBe('refunded')
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

it('for each cart, the documents are what separate arithmetic makes of it, whatever is refunded', () => {
  const shops = [frenchShop(false), frenchShop(true)] as const
  fc.assert(
    fc.property(refundedCart, (cart) => checkDocuments(shops, cart)),
    { numRuns: 60 }
  )
})
