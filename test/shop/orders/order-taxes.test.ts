import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { documentsOf } from '../../../src/shop/invoices/find.ts'
import { getCoupon } from '../../../src/shop/catalog/coupons.ts'
import { addCoupon, repriceOrder, setVatId, takePaidTotal } from '../../../src/shop/orders/reprice-order.ts'
import { explainOrder } from '../../../src/shop/orders/explain.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { taxesOfOrder, summaryRows } from '../../../src/shop/orders/totals.ts'
import { recordRefund } from '../../../src/shop/orders/transition.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { presetEu, setTaxRate } from '../../../src/shop/tax/rates.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import {
  credited,
  draft,
  giveBack,
  line,
  makeAffiliate,
  makeCoupon,
  makeProduct,
  makeUser,
  move,
  place
} from './support.ts'

const operator = { by: 'operator', reason: 'test' }
const french = 'FR40303265045'
const post = { id: 'post', name: 'Post', estimate: null, pickup: false }

let shop: TestShop

beforeEach(() => {
  shop = openTestShop()
  onTestFinished(() => shop[Symbol.dispose]())
  setSetting(shop.db, 'shop.country', 'DE', 0)
  presetEu(shop.db, { ownRate: false }, 0)
  setTaxRate(shop.db, { region: '', name: null, country: 'DE', class: 'reduced', rateMillionths: 70_000 })
})

const now = () => shop.clock.now()
const withoutIncludedTax = () => setSetting(shop.db, 'tax.pricesIncludeTax', 'false', 0)
const taxes = (orderId: number) =>
  taxesOfOrder(shop.db, orderId).map(({ country, rateMillionths, baseMinor, amountMinor }) => ({
    rate: `${country} ${rateMillionths / 10_000}`,
    baseMinor,
    amountMinor
  }))
const lamp = (changes = {}) => line(makeProduct(shop.db), changes)
const shipped = { shippingAddress: { country: 'FR' }, shipping: { method: post, amountMinor: 500, renewalMinor: null } }

it('an order has the taxes of its destination, with the shipping at the rates of the goods', () => {
  const book = lamp({ unitPriceMinor: 1000, totalMinor: 1000, taxClass: 'reduced', productId: makeProduct(shop.db) })
  const order = place(
    shop.db,
    draft([lamp({ unitPriceMinor: 3000, totalMinor: 3000 }), book], {
      shipping: { method: post, amountMinor: 400, renewalMinor: null }
    }),
    now()
  )
  expect(order).toMatchObject({ totalMinor: 4400, taxMinor: 599, goodsTaxMinor: 544, taxIncluded: true })
  expect(taxes(order.id)).toMatchObject([
    { rate: 'DE 19', baseMinor: 2773, amountMinor: 527 },
    { rate: 'DE 7', baseMinor: 1028, amountMinor: 72 }
  ])
  expect(summaryRows(shop.db, order).map(({ label, amount }) => `${label}: ${amount}`)).toEqual([
    'Subtotal: €40.00',
    'Shipping: Post: €4.00',
    'Total: €44.00',
    'incl. 19 % VAT: €5.27',
    'incl. 7 % VAT: €0.72'
  ])
})

it('prices without tax get it on top', () => {
  withoutIncludedTax()
  const order = place(shop.db, draft([lamp()], shipped), now())
  expect(order).toMatchObject({ subtotalMinor: 1250, shippingMinor: 500, taxMinor: 350, totalMinor: 2100 })
  expect(summaryRows(shop.db, order).map(({ label }) => label)).toEqual([
    'Subtotal',
    'Shipping: Post',
    '20 % VAT',
    'Total'
  ])
})

it('a later VAT id takes the tax out of the prices, and its removal puts it back', () => {
  const placed = place(shop.db, draft([lamp({ quantity: 3, unitPriceMinor: 999, totalMinor: 2997 })], shipped), now())
  const reprice = (vatId: string | null) =>
    write(shop.db, (tx) => {
      tx.sqlite.prepare('UPDATE orders SET vat_id = ? WHERE id = ?').run(vatId, placed.id)
      return repriceOrder(tx, getOrder(tx, placed.id), now())
    })
  expect(reprice(french)).toMatchObject({
    subtotalMinor: 2498,
    shippingMinor: 417,
    taxMinor: 0,
    taxIncluded: true,
    totalMinor: 2915
  })
  expect(taxes(placed.id)).toMatchObject([{ rate: 'FR 0', baseMinor: 2915, amountMinor: 0 }])
  expect(reprice(null)).toMatchObject({ ...placed, updatedAt: now() })
  expect(itemsOf(shop.db, placed.id)).toMatchObject([{ unitPriceMinor: 999, listPriceMinor: null }])
})

it('a line without tax costs its whole price without it, not its units’ rounded prices', () => {
  const four = lamp({ quantity: 4 })
  const { id } = place(shop.db, draft([four], { shippingAddress: { country: 'FR' } }), now())
  const order = write(shop.db, (tx) => setVatId(tx, getOrder(tx, id), { vatId: french, vatCheck: null }, now()))
  // 4 × 12.50 contain 20 % VAT: 50.00 ÷ 1.2 = 41.67, and 4 × 10.42 would be 41.68.
  expect(order).toMatchObject({ totalMinor: 4167, taxMinor: 0 })
  expect(itemsOf(shop.db, id)).toMatchObject([{ unitPriceMinor: 1042, listPriceMinor: 1250, totalMinor: 4167 }])
  expect(taxes(id)).toEqual([{ rate: 'FR 0', baseMinor: 4167, amountMinor: 0 }])
  move(shop.db, id, 'processing')
  const back = () => giveBack(shop.db, id, { items: [{ line: 1, quantity: 2 }] })
  back()
  back()
  const documents = documentsOf(shop.db, id).map(({ document }) => document)
  expect(documents.map(({ lines }) => lines)).toMatchObject([
    [{ quantity: 4, amountMinor: 4167, discountMinor: 0, netMinor: 4167, taxMinor: 0 }],
    [{ quantity: 2, amountMinor: 2084, discountMinor: 0 }],
    [{ quantity: 2, amountMinor: 2083, discountMinor: 0 }]
  ])
})

it('a business pays the tax of what stays in the country of the shop, and none for the rest', () => {
  const song = lamp({ type: 'digital', unitPriceMinor: 1200, totalMinor: 1200 })
  const at = { shippingAddress: { address1: 'Quay 7', country: 'DE' }, billingAddress: { country: 'FR' } }
  const { id } = place(shop.db, draft([lamp({ unitPriceMinor: 1190, totalMinor: 1190 }), song], at), now())
  write(shop.db, (tx) => setVatId(tx, getOrder(tx, id), { vatId: french, vatCheck: null }, now()))
  expect(getOrder(shop.db, id)).toMatchObject({ subtotalMinor: 1190 + 1000, taxMinor: 190, totalMinor: 2190 })
  expect(taxes(id)).toEqual([
    { rate: 'DE 19', baseMinor: 1000, amountMinor: 190 },
    { rate: 'FR 0', baseMinor: 1000, amountMinor: 0 }
  ])
  expect(summaryRows(shop.db, getOrder(shop.db, id)).map(({ label, amount }) => `${label}: ${amount}`)).toEqual([
    'Subtotal: €21.90',
    'Reverse charge: €0.00',
    'Total: €21.90',
    'incl. 19 % VAT: €1.90'
  ])
})

it('a coupon on the payment page reduces the tax', () => {
  makeCoupon(shop.db, { percentBps: 5000 })
  const placed = place(shop.db, draft([lamp()]), now())
  const order = write(shop.db, (tx) => addCoupon(tx, placed, getCoupon(tx, 'WELCOME10'), now()))
  expect([placed.taxMinor, order.taxMinor, order.totalMinor]).toEqual([200, 100, 625])
})

it('another amount than ordered contains the tax of what was paid', () => {
  withoutIncludedTax()
  const placed = place(shop.db, draft([lamp()], shipped), now())
  const order = write(shop.db, (tx) => takePaidTotal(tx, placed, 1200, now()))
  expect(order).toMatchObject({ totalMinor: 1200, taxMinor: 200, shippingMinor: 500 })
  expect(taxes(order.id)).toMatchObject([{ baseMinor: 1000, amountMinor: 200 }])
})

it('the invoice and its credit notes have the taxes of the order', () => {
  withoutIncludedTax()
  const { id } = place(shop.db, draft([lamp()], shipped), now())
  move(shop.db, id, 'processing')
  write(shop.db, (tx) => recordRefund(tx, id, 700, operator, now()))
  const vat = { name: 'VAT', country: 'FR', region: '', rateMillionths: 200_000 }
  expect(documentsOf(shop.db, id).map(({ document }) => document)).toMatchObject([
    { taxIncluded: false, taxMinor: 350, taxes: [{ ...vat, baseMinor: 1750, amountMinor: 350 }] },
    { taxMinor: 117, taxes: [{ ...vat, baseMinor: 583, amountMinor: 117 }] }
  ])
})

it('a renewal has the tax of the buyer at the rate of the moment, and no shipping', () => {
  withoutIncludedTax()
  const grants = [{ kind: 'subscription', interval: 'month' } as const]
  const club = lamp({ type: 'digital', grants, discountMinor: 1250, totalMinor: 0 })
  const original = place(shop.db, draft([club, lamp()], shipped), now())
  const charge = { amountMinor: 1488, currency: 'EUR', by: 'webhook' }
  const renew = () => write(shop.db, (tx) => insertRenewal(tx, original, charge, now()))
  expect(renew()).toMatchObject({ subtotalMinor: 1250, shippingMinor: 0, taxMinor: 238, totalMinor: 1488 })
  setTaxRate(shop.db, { region: '', name: null, country: 'DE', class: 'standard', rateMillionths: 250_000 })
  expect(taxes(renew().id)).toMatchObject([{ baseMinor: 1190, amountMinor: 298 }])
})

it('the commission counts the goods without tax and shipping, and explain says so', () => {
  const affiliate = makeAffiliate(shop.db, makeUser(shop.db, 'mira@shop.example').id)
  const order = place(shop.db, draft([lamp()], { ...shipped, attribution: credited(affiliate) }), now())
  const { referral } = explainOrder(shop.db, order.id)
  expect(referral[0]).toMatchObject({ input: expect.stringContaining('€10.41'), outcome: '€1.04 now' })
})
