import { asc, eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { changeOrder } from '../../../src/shop/corrections/change-order.ts'
import { additionsOf } from '../../../src/shop/corrections/additions.ts'
import { buyerEdits } from '../../../src/shop/corrections/edit-order.ts'
import { documentsOf } from '../../../src/shop/invoices/find.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { composeEmail } from '../../../src/shop/mailer/compose.ts'
import { changesOf, getOrder, historyOf } from '../../../src/shop/orders/find.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { orderCoupons } from '../../../src/shop/orders/schema.ts'
import { markPaid } from '../../../src/shop/payments/attempts.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { listOrdersToPack } from '../../../src/shop/shipments/pack-list.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { applyTaxRates } from '../../../src/shop/tax/rates.ts'
import { applyShipping } from '../../../src/shop/shipping/zones.ts'
import { write } from '../../../src/platform/db/database.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { couponLine, draft, eventsOf, line, makeCoupon, makeProduct, makeUser, move, place } from '../orders/support.ts'

const quay = { firstName: 'Lena', address1: 'Quay 7', postcode: '20457', city: 'Hamburg', country: 'DE' }
const zones = [
  {
    zone: 'Germany',
    countries: ['DE'],
    methods: [
      { id: 'standard', name: 'Parcel', amountMinor: 490 },
      { id: 'green', name: 'Bicycle', amountMinor: 490 },
      { id: 'express', name: 'Express', amountMinor: 990 }
    ]
  }
]

function shopOf(): TestShop {
  const shop = openTestShop()
  const method = { perKgMinor: null, freeFromMinor: null, maxWeightGrams: null, estimate: null, pickup: false }
  write(shop.db, (tx) => {
    applyShipping(
      tx,
      zones.map((zone) => ({ ...zone, methods: zone.methods.map((each) => ({ ...method, ...each })) }))
    )
    applyTaxRates(tx, [
      { country: 'DE', region: '', class: 'standard', rateMillionths: 190_000, name: 'VAT' },
      { country: 'AT', region: '', class: 'standard', rateMillionths: 200_000, name: 'VAT' }
    ])
  })
  return shop
}

const parcel = {
  method: { id: 'standard', name: 'Parcel', pickup: false, estimate: null },
  amountMinor: 490,
  renewalMinor: null
}

function order(shop: TestShop, changes: Parameters<typeof draft>[1] = {}): OrderRow {
  const lines = [line(makeProduct(shop.db), { quantity: 2 })]
  const bought = { email: 'lean@shop.example', shippingAddress: quay, billingAddress: null, shipping: parcel }
  return place(shop.db, draft(lines, { ...bought, ...changes }), shop.clock.now())
}

const paidOrder = (shop: TestShop, changes: Parameters<typeof draft>[1] = {}): OrderRow =>
  move(shop.db, order(shop, changes).id, 'processing', {}, shop.clock.now())

const change = async (shop: TestShop, id: number, edits: object) =>
  (await changeOrder(shop, id, { buyer: buyerEdits.parse(edits), lines: [], add: [], holdMinutes: 60 }, 'operator'))
    .fields

function changedMail(shop: TestShop) {
  const rows = shop.db.orm.select().from(mails).where(eq(mails.template, 'order_changed')).orderBy(asc(mails.id)).all()
  return rows.map((row) => ({ to: row.recipient, ...composeEmail(shop, row, shop.clock.now()) }))
}

describe('changing the buyer of an order', () => {
  it('moves the parcel, corrects the invoice and tells the buyer what was and what is', async () => {
    using shop = shopOf()
    const { id } = paidOrder(shop)
    expect(await change(shop, id, { address1: 'Quay 8', phone: '+49 40 2' })).toEqual(['phone', 'shipTo'])
    expect([...listOrdersToPack(shop.db)]).toMatchObject([
      { id, phone: '+49 40 2', shipTo: ['Lena', 'Quay 8', '20457 Hamburg', 'Germany'] }
    ])
    const [first, note, second] = documentsOf(shop.db, id)
    expect(first).toMatchObject({ kind: 'invoice', buyer: { lines: ['Lena', 'Quay 7', '20457 Hamburg', 'Germany'] } })
    expect(note).toMatchObject({ kind: 'credit_note', correction: true, totalMinor: 2990 })
    expect(second).toMatchObject({ kind: 'invoice', correction: true, totalMinor: 2990 })
    expect(second?.buyer?.lines).toContain('Quay 8')
    expect(historyOf(shop.db, id).at(-1)).toMatchObject({
      from: 'processing',
      to: 'processing',
      by: 'operator',
      reason: `changed: phone, address; invoice ${first?.number} replaced by ${second?.number}`
    })
    expect(eventsOf(shop.db).at(-1)).toBe('order.changed')
    expect(changedMail(shop)).toMatchObject([
      {
        to: 'lean@shop.example',
        blocks: [
          { title: 'Before', lines: ['Phone: +49 30 555 0100', 'Lena', 'Quay 7', '20457 Hamburg', 'Germany'] },
          { title: 'Now', lines: ['Phone: +49 40 2', 'Lena', 'Quay 8', '20457 Hamburg', 'Germany'] }
        ]
      }
    ])
  })

  it('moves a billing address that names the same place, and no other', async () => {
    using shop = shopOf()
    const same = paidOrder(shop, { billingAddress: { ...quay, firstName: 'Ada' } })
    const other = paidOrder(shop, { billingAddress: { ...quay, address1: 'Office 1' } })
    for (const { id } of [same, other]) await change(shop, id, { address1: 'Quay 8' })
    expect(getOrder(shop.db, same.id).billingAddress).toMatchObject({ firstName: 'Ada', address1: 'Quay 8' })
    expect(getOrder(shop.db, other.id).billingAddress).toMatchObject({ address1: 'Office 1' })
    expect(documentsOf(shop.db, other.id)).toHaveLength(1)
  })

  it('sends everything to the corrected email, whose coupon use the order counts from then on', async () => {
    using shop = shopOf()
    const coupons = [couponLine(makeCoupon(shop.db), { customerKey: 'email:lean@shop.example' })]
    const { id } = paidOrder(shop, { coupons })
    expect(await change(shop, id, { email: 'lena@shop.example' })).toEqual(['email'])
    expect(getOrder(shop.db, id)).toMatchObject({ email: 'lena@shop.example', emailKey: 'lena@shop.example' })
    const [coupon] = shop.db.orm.select().from(orderCoupons).where(eq(orderCoupons.orderId, id)).all()
    expect(coupon?.customerKey).toBe('email:lena@shop.example')
    expect(changedMail(shop).map(({ to }) => to)).toEqual(['lena@shop.example'])
    expect(documentsOf(shop.db, id)).toHaveLength(1)
  })

  it('removes a name that is empty, and keeps the recipient of a parcel', async () => {
    using shop = shopOf()
    const { id } = paidOrder(shop)
    await change(shop, id, { company: 'Brandt & Daughters' })
    expect(getOrder(shop.db, id).contact).toMatchObject({ companyName: 'Brandt & Daughters' })
    await change(shop, id, { company: '' })
    expect(getOrder(shop.db, id).contact).not.toHaveProperty('companyName')
    await expect(change(shop, id, { firstName: '' })).rejects.toMatchObject({
      details: { fieldErrors: { firstName: [expect.any(String)] } }
    })
  })

  it('records nothing when the order has all of it already', async () => {
    using shop = shopOf()
    const { id } = paidOrder(shop)
    expect(await change(shop, id, { city: 'Hamburg', email: 'lean@shop.example' })).toEqual([])
    expect([changesOf(shop.db, id), changedMail(shop), documentsOf(shop.db, id).length]).toEqual([[], [], 1])
  })

  it('ships by another method of the same price', async () => {
    using shop = shopOf()
    const { id } = paidOrder(shop)
    expect(await change(shop, id, { shippingMethod: 'green' })).toEqual(['shippingMethod'])
    expect(getOrder(shop.db, id)).toMatchObject({
      shippingMethod: { id: 'green' },
      shippingMinor: 490,
      totalMinor: 2990
    })
  })

  it('asks for what a faster method costs more, and ships by it once that is paid', async () => {
    using shop = shopOf()
    const { id } = paidOrder(shop)
    expect(await change(shop, id, { shippingMethod: 'express' })).toEqual(['shippingMethod', 'totalMinor'])
    const [addition] = additionsOf(shop.db, id)
    expect(addition).toMatchObject({ addedTo: id, subtotalMinor: 0, shippingMinor: 500, totalMinor: 500, taxMinor: 80 })
    expect(getOrder(shop.db, id).shippingMethod).toMatchObject({ id: 'standard' })
    markPaid(shop.db, addition?.id ?? 0, 'operator', shop.clock.now())
    expect(getOrder(shop.db, addition?.id ?? 0).status).toBe('completed')
    expect(getOrder(shop.db, id).shippingMethod).toMatchObject({ id: 'express' })
    expect(documentsOf(shop.db, addition?.id ?? 0)).toMatchObject([{ totalMinor: 500, document: { taxMinor: 80 } }])
    await refundOrder(shop, addition?.id ?? 0, { shipping: 'all' }, 'operator')
    expect(getOrder(shop.db, addition?.id ?? 0)).toMatchObject({ status: 'refunded', refundedMinor: 500 })
  })

  it('gives back what a slower method costs less', async () => {
    using shop = shopOf()
    const express = { ...parcel, method: { ...parcel.method, id: 'express', name: 'Express' }, amountMinor: 990 }
    const { id } = paidOrder(shop, { shipping: express })
    expect(await change(shop, id, { shippingMethod: 'standard' })).toEqual(['shippingMethod', 'totalMinor'])
    expect(getOrder(shop.db, id)).toMatchObject({ refundedMinor: 500, shippingMethod: { id: 'standard' } })
    expect(documentsOf(shop.db, id).at(-1)).toMatchObject({ kind: 'credit_note', totalMinor: 500 })
  })

  it('prices an unpaid order again for its method', async () => {
    using shop = shopOf()
    const { id } = order(shop)
    expect(await change(shop, id, { shippingMethod: 'express' })).toEqual(['shippingMethod', 'totalMinor'])
    expect(getOrder(shop.db, id)).toMatchObject({ shippingMinor: 990, totalMinor: 3490, status: 'pending' })
  })

  it('forgets old and new with the buyer', async () => {
    using shop = shopOf()
    const user = makeUser(shop.db, 'lena@shop.example')
    const { id } = paidOrder(shop, { userId: user.id })
    await change(shop, id, { address1: 'Quay 8' })
    erasePerson(shop.db, user.id, shop.clock.now())
    expect(changesOf(shop.db, id)).toMatchObject([{ before: {}, after: {} }])
    await expect(change(shop, id, { address1: 'Quay 9' })).rejects.toThrow('The buyer of order 1 is erased')
  })
})

describe('a change that is refused changes nothing', () => {
  const unchanged = (shop: TestShop, id: number) => [
    getOrder(shop.db, id),
    documentsOf(shop.db, id),
    historyOf(shop.db, id)
  ]

  it.each<[string, object, object]>([
    ['nothing', {}, { _body: ['Nothing to change is given.'] }],
    ['a postcode that its country does not have', { postcode: '1' }, { postcode: [expect.any(String)] }],
    ['a country without shipping', { country: 'US' }, { country: [expect.any(String)] }],
    [
      'an unknown method',
      { shippingMethod: 'drone' },
      { shippingMethod: ['Must be one of: standard, green, express.'] }
    ]
  ])('%s', async (_title, edits, fieldErrors) => {
    using shop = shopOf()
    const { id } = paidOrder(shop)
    const before = unchanged(shop, id)
    await expect(change(shop, id, edits)).rejects.toMatchObject({ details: { fieldErrors } })
    expect(unchanged(shop, id)).toEqual(before)
  })

  it('for an order that is over', async () => {
    using shop = shopOf()
    const { id } = order(shop)
    move(shop.db, id, 'cancelled')
    await expect(change(shop, id, { city: 'Kiel' })).rejects.toThrow('Order 1 is cancelled, so it cannot be changed.')
  })

  it('for an address that the goods have left for', async () => {
    using shop = shopOf()
    const { id } = paidOrder(shop)
    shipOrder(shop.db, id, { carrier: null, tracking: null, url: null, items: null }, 'operator', shop.clock.now())
    await expect(change(shop, id, { city: 'Kiel' })).rejects.toThrow(
      'Everything of order 1 has left, so its address can no longer be changed.'
    )
    expect(await change(shop, id, { email: 'lena@shop.example' })).toEqual(['email'])
  })

  it('for goods that need no address', async () => {
    using shop = shopOf()
    const product = makeProduct(shop.db, { type: 'digital' })
    const { id } = place(shop.db, draft([line(product, { type: 'digital' })]))
    await expect(change(shop, id, { city: 'Kiel' })).rejects.toThrow('Nothing of order 1 is shipped')
  })

  it('for a country with another tax, once the order is paid', async () => {
    using shop = shopOf()
    write(shop.db, (tx) => {
      const [germany] = zones
      const method = { perKgMinor: null, freeFromMinor: null, maxWeightGrams: null, estimate: null, pickup: false }
      const methods = (germany?.methods ?? []).map((each) => ({ ...method, ...each }))
      applyShipping(tx, [{ zone: 'Germany', countries: ['DE', 'AT'], methods }])
    })
    const vienna = { address1: 'Ring 1', postcode: '1010', city: 'Wien', country: 'AT' }
    await expect(change(shop, paidOrder(shop).id, vienna)).rejects.toThrow('would have another tax')
    const { id } = order(shop)
    expect(await change(shop, id, vienna)).toEqual(['shipTo'])
    expect(getOrder(shop.db, id).taxMinor).toBe(498)
  })
})
