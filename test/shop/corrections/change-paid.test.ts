import { describe, expect, it } from 'vitest'
import { planChange } from '../../../src/shop/corrections/change-order.ts'
import { documentsOf } from '../../../src/shop/invoices/find.ts'
import { choosePayment } from '../../../src/shop/checkout/order-form.ts'
import { dueMinor } from '../../../src/shop/orders/refunds/credits.ts'
import { getOrder, historyOf } from '../../../src/shop/orders/find.ts'
import { cancelOrder, endHolds } from '../../../src/shop/payments/end-hold.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { whoGave } from '../../support/visitors.ts'
import { openCounter } from './counter.ts'

const counter = await openCounter()
const { till, item, paid, payDue, change, linesOf, packed, shipAll, expectBooked } = counter
const { app } = till.shop
const lastMail = () => counter.mail('order_changed', 'change_dropped')

describe('fewer goods in a paid order', () => {
  it('go back with their tax and their stock, and to the card', async () => {
    shipAll()
    const id = await paid('mug', 3)
    const stock = till.stockOf('mug') ?? 0
    expect(
      planChange(app, id, { buyer: {}, lines: [{ line: 1, quantity: 1 }], add: [], holdMinutes: 60 }, 'x')
    ).toMatchObject({
      refundMinor: 2500,
      byHandMinor: 0
    })
    const { fields, addition } = await change(id, { lines: [{ line: 1, quantity: 1 }] })
    expect([fields, addition]).toEqual([['lines', 'totalMinor'], null])
    expect(getOrder(app.db, id)).toMatchObject({ status: 'processing', totalMinor: 3750, refundedMinor: 2500 })
    expect(till.stockOf('mug')).toBe(stock + 2)
    expect(documentsOf(app.db, id).map(({ kind, totalMinor }) => [kind, totalMinor])).toEqual([
      ['invoice', 3750],
      ['credit_note', 2500]
    ])
    expect(packed()).toEqual([[id, null, ['1 Mug']]])
    expect(lastMail()).toMatchObject({
      blocks: [
        { title: 'Before', lines: ['3 × Mug', 'Total: €37.50'] },
        { title: 'Now', lines: ['1 × Mug', 'Total: €12.50'] }
      ]
    })
    await expectBooked()
  })

  it('are refused for what has left, and for an order that is completed', async () => {
    const id = await paid('mug', 2)
    shipOrder(
      app.db,
      id,
      { carrier: null, tracking: null, url: null, items: [{ line: 1, quantity: 1 }] },
      'operator',
      till.clock.now()
    )
    await expect(change(id, { lines: [{ line: 1, quantity: 0 }] })).rejects.toMatchObject({
      details: { fieldErrors: { lines: ['Of line 1 (Mug), 1 have left.'] } }
    })
    shipAll()
    await expect(change(id, { lines: [{ line: 1, quantity: 0 }] })).rejects.toThrow(`Order ${id} is completed.`)
  })
})

describe('more goods in a paid order', () => {
  it('are an order of their own, which is packed with it once its link is paid', async () => {
    shipAll()
    const id = await paid('mug', 1)
    const { addition } = await change(id, { lines: [{ line: 1, quantity: 2 }], add: [item('lamp', 1)] })
    const added = addition?.id ?? 0
    expect(getOrder(app.db, added)).toMatchObject({
      status: 'pending',
      addedTo: id,
      totalMinor: 5250,
      email: 'ada@example.com'
    })
    expect([packed(), dueMinor(app.db, getOrder(app.db, added))]).toEqual([[], 5250])
    expect(lastMail()).toMatchObject({
      action: { label: 'Pay €52.50', url: expect.stringContaining(getOrder(app.db, added).publicToken) },
      blocks: [{ lines: ['1 × Mug', 'Total: €12.50'] }, { lines: ['2 × Mug', '1 × Lamp', 'Total: €65.00'] }]
    })
    expect(await payDue(added)).toBe(5250)
    expect(packed()).toEqual([
      [id, null, ['1 Mug']],
      [added, id, ['1 Mug', '1 Lamp']]
    ])
    expect(historyOf(app.db, id).at(-1)).toMatchObject({ reason: `order ${added} adds to it` })
    await expectBooked()
  })

  it('are given up when they are not paid for in time, and the order stays as it was', async () => {
    shipAll()
    const id = await paid('mug', 1)
    const stock = till.stockOf('lamp') ?? 0
    const { addition } = await change(id, { lines: [{ line: 1, quantity: 0 }], add: [item('lamp', 1)] })
    expect([till.stockOf('lamp'), packed()]).toEqual([stock - 1, []])
    till.clock.advance(61 * 60_000)
    await endHolds(app)
    expect(getOrder(app.db, addition?.id ?? 0).status).toBe('cancelled')
    expect([till.stockOf('lamp'), packed()]).toEqual([stock, [[id, null, ['1 Mug']]]])
    expect(getOrder(app.db, id)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    expect(lastMail()?.subject).toBe(`Your order ${id} at Shopstead Demo stays as it was`)
    await expectBooked()
  })
})

describe('other goods in a paid order', () => {
  it('are paid by what goes back, and the rest by link', async () => {
    shipAll()
    const id = await paid('mug', 2)
    const { addition } = await change(id, { lines: [{ line: 1, quantity: 1 }], add: [item('lamp', 1)] })
    const added = addition?.id ?? 0
    expect(dueMinor(app.db, getOrder(app.db, added))).toBe(2750)
    expect(await payDue(added)).toBe(2750)
    expect(getOrder(app.db, id)).toMatchObject({ totalMinor: 2500, refundedMinor: 1250, status: 'processing' })
    expect(packed()).toEqual([
      [id, null, ['1 Mug']],
      [added, id, ['1 Lamp']]
    ])
    await expectBooked()
  })

  it('cost nothing more when they cost less, and the rest goes back', async () => {
    shipAll()
    const id = await paid('lamp', 1)
    const { addition, refundMinor } = await change(id, { lines: [{ line: 1, quantity: 0 }], add: [item('mug', 1)] })
    const added = addition?.id ?? 0
    expect([getOrder(app.db, added).status, refundMinor]).toEqual(['processing', 2750])
    expect(getOrder(app.db, id)).toMatchObject({ status: 'refunded', refundedMinor: 4000 })
    expect(packed()).toEqual([[added, id, ['1 Mug']]])
    await expectBooked()
    await refundOrder(app, added, {}, 'operator')
    expect(getOrder(app.db, added).status).toBe('refunded')
    await expectBooked()
  })

  it('are even for another size, with the discount that was given', async () => {
    const id = await paid('shirt', 1, { items: [item('shirt', 1, 'S')], couponCodes: ['TEN'] })
    const { addition, refundMinor } = await change(id, {
      lines: [{ line: 1, quantity: 0 }],
      add: [item('shirt', 1, 'M')]
    })
    expect([linesOf(addition?.id ?? 0), refundMinor]).toEqual([[['Shirt - M', 1, 1800]], 0])
    expect(getOrder(app.db, addition?.id ?? 0).status).toBe('processing')
    await expectBooked()
  })

  it('are not charged a difference that no card can pay', async () => {
    const id = await paid('pin', 1)
    app.db.sqlite.prepare("UPDATE products SET price_minor = 130 WHERE slug = 'pin'").run()
    app.db.sqlite.prepare("UPDATE products SET price_minor = 140 WHERE slug = 'mug'").run()
    const { addition } = await change(id, { lines: [{ line: 1, quantity: 0 }], add: [item('mug', 1)] })
    app.db.sqlite.prepare("UPDATE products SET price_minor = 100 WHERE slug = 'pin'").run()
    app.db.sqlite.prepare("UPDATE products SET price_minor = 1250 WHERE slug = 'mug'").run()
    expect(getOrder(app.db, addition?.id ?? 0)).toMatchObject({
      status: 'processing',
      totalMinor: 100,
      discountMinor: 40
    })
    await expectBooked()
  })

  it('leave nothing else to refund while they wait for their payment', async () => {
    const id = await paid('mug', 1)
    const { addition } = await change(id, { lines: [{ line: 1, quantity: 0 }], add: [item('lamp', 1)] })
    await expect(refundOrder(app, id, {}, 'operator')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    await cancelOrder(app, addition?.id ?? 0, 'operator')
    await refundOrder(app, id, {}, 'operator')
    expect(getOrder(app.db, id).status).toBe('refunded')
    await expectBooked()
  })

  it('lose their credit when the gateway returns the first payment meanwhile, and wait for an operator', async () => {
    const id = await paid('mug', 1)
    const { addition } = await change(id, { lines: [{ line: 1, quantity: 0 }], add: [item('lamp', 1)] })
    const added = addition?.id ?? 0
    await choosePayment(
      app,
      added,
      { method: 'card', email: null, firstName: null, lastName: null },
      whoGave('ada@example.com')
    )
    await till.stripe.refunds.create({ payment_intent: attemptIntent(id) })
    await till.settle()
    till.sandbox.clearFaults()
    await till.deliver()
    expect(getOrder(app.db, id).status).toBe('refunded')
    await till.sandbox.payCheckout(till.attempt(added).objectId ?? '', { waitMs: 0 })
    await till.settle()
    expect(getOrder(app.db, added)).toMatchObject({ status: 'pending', paidAt: null })
    expect(till.logged.at(-1)?.message).toContain('its amount is €27.50, and €40.00 are due')
    await refundOrder(app, added, {}, 'operator')
    await expectBooked()
  })

  it('go back to the cards that paid them: its own, and that of the first order', async () => {
    const id = await paid('mug', 2)
    const { addition } = await change(id, { lines: [{ line: 1, quantity: 0 }], add: [item('lamp', 1)] })
    const added = addition?.id ?? 0
    expect(await payDue(added)).toBe(1500)
    await refundOrder(app, added, {}, 'operator')
    expect(getOrder(app.db, added)).toMatchObject({ status: 'refunded', refundedMinor: 4000 })
    expect(documentsOf(app.db, added).map(({ kind, totalMinor }) => [kind, totalMinor])).toEqual([
      ['invoice', 4000],
      ['credit_note', 1500],
      ['credit_note', 2500]
    ])
    await expectBooked()
  })
})

const attemptIntent = (id: number): string => till.attempt(id).paymentIntentId ?? ''

it('two operators who change an order at the same time do not give back twice', async () => {
  const id = await paid('mug', 1)
  const done = await Promise.allSettled([1, 2].map(() => change(id, { lines: [{ line: 1, quantity: 0 }] })))
  const changed = done.map((each) => (each.status === 'fulfilled' ? each.value.fields.length : -1))
  expect(changed.toSorted((a, b) => a - b)).toEqual([0, 2])
  expect(getOrder(app.db, id).refundedMinor).toBe(1250)
  await expectBooked()
})

it('an addition follows its order to another address', async () => {
  const id = await paid('mug', 1)
  const { addition } = await change(id, { add: [item('mug', 1)] })
  await change(id, { buyer: { address1: 'Quay 9' } })
  expect(getOrder(app.db, addition?.id ?? 0).shippingAddress).toMatchObject({ address1: 'Quay 9' })
})
