import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { choosePayment } from '../../../src/shop/checkout/order-form.ts'
import { whoGave } from '../../support/visitors.ts'
import { getOrder, historyOf } from '../../../src/shop/orders/find.ts'
import { attemptsOf, markPaid } from '../../../src/shop/payments/attempts.ts'
import { endHolds } from '../../../src/shop/payments/end-hold.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { quay } from '../../support/addresses.ts'
import { openTill } from './till.ts'

const products = [{ slug: 'lamp', name: 'Lamp', price: '20.00', stock: 6 }]
const till = await openTill({ products }, { SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
afterAll(() => till.close())
const { app } = till.shop
const dayMs = 86_400_000

/** An order of a lamp whose buyer has chosen to pay by bank transfer on the hosted page. */
async function transferOrder(): Promise<number> {
  const items = [{ productId: till.productId('lamp'), quantity: 1 }]
  const body = { items, shippingAddress: quay, customer: { email: 'lena@shop.example' } }
  const id = Number((await till.shop.visitor().post('/store/checkout-session', body)).data['orderId'])
  const choice = { method: 'manual', email: null, firstName: null, lastName: null } as const
  await choosePayment(app, id, choice, whoGave('lena@shop.example'))
  return id
}

const stock = (): unknown => app.db.sqlite.prepare("SELECT stock FROM products WHERE slug = 'lamp'").pluck().get()
const reminders = (orderId: number): unknown[] =>
  app.db.sqlite
    .prepare("SELECT recipient FROM mails WHERE template = 'payment_reminder' AND data ->> '$.orderId' = ?")
    .pluck()
    .all(orderId)

let before: unknown
beforeEach(() => void (before = stock()))

describe('an order that waits for a bank transfer', () => {
  it('is cancelled after seven days, with a reminder a day before, and returns its stock', async () => {
    const id = await transferOrder()
    expect(stock()).not.toBe(before)
    till.clock.advance(5 * dayMs)
    await endHolds(app)
    expect([getOrder(app.db, id).status, reminders(id)]).toEqual(['on-hold', []])
    till.clock.advance(dayMs)
    await endHolds(app)
    await endHolds(app)
    expect([getOrder(app.db, id).status, reminders(id)]).toEqual(['on-hold', ['lena@shop.example']])
    till.clock.advance(dayMs)
    expect(await endHolds(app)).toMatchObject({ ended: 1, failed: 0 })
    expect(getOrder(app.db, id).status).toBe('cancelled')
    expect(historyOf(app.db, id).at(-1)).toMatchObject({ by: 'hold', reason: 'the transfer did not arrive in time' })
    expect(attemptsOf(app.db, id)[0]).toMatchObject({ kind: 'manual', outcome: 'abandoned' })
    expect([stock(), reminders(id)]).toEqual([before, ['lena@shop.example']])
  })

  it('waits as many days as the operator has set', async () => {
    setSetting(app.db, 'payments.manualDays', '2', till.clock.now())
    const id = await transferOrder()
    till.clock.advance(2 * dayMs)
    await endHolds(app)
    expect(getOrder(app.db, id).status).toBe('cancelled')
    setSetting(app.db, 'payments.manualDays', '7', till.clock.now())
  })

  it('stays when the transfer has arrived', async () => {
    const id = await transferOrder()
    markPaid(app.db, id, 'operator', till.clock.now())
    till.clock.advance(8 * dayMs)
    await endHolds(app)
    expect([getOrder(app.db, id).status, reminders(id)]).toEqual(['processing', []])
  })
})
