import { afterAll, describe, expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { openTill } from '../shop/payments/till.ts'

const till = await openTill()
const { dataDir, app } = till.shop
afterAll(() => till.close())

const operator = (...words: string[]) => shopstead(dataDir, ['orders', ...words, '--json'])

/** A payment of 12.50 for an order that the database does not have, as after a restore. */
async function lostPayment(token: string, shopId = app.keys.shopId): Promise<string> {
  const { id } = await till.stripe.paymentIntents.create({
    amount: 1250,
    currency: 'eur',
    confirm: true,
    payment_method: 'pm_card_visa',
    return_url: 'https://site.example',
    metadata: { shopstead_shop: shopId, shopstead_order: '4711', shopstead_attempt: token }
  })
  await till.deliver()
  return id
}

async function warningOf(intent: string) {
  const { json } = await operator('warnings')
  return (json['warnings'] as { objectId: string; message: string }[]).find(({ objectId }) => objectId === intent)
}

/** The number of an unpaid order with that many mugs of 12.50. */
async function entered(quantity: number): Promise<string> {
  const { data } = await till.shop
    .visitor()
    .post('/store/checkout-session', { items: [{ productId: 1, quantity }], customer: { email: 'ada@example.com' } })
  return String(data['orderId'])
}

describe('the payment of an order that a restore lost', () => {
  it('pays the order that the operator has entered again, and a refund returns it', async () => {
    const intent = await lostPayment('lost-1')
    expect((await warningOf(intent))?.message).toContain(`shopstead orders paid ID --payment ${intent}`)
    const id = await entered(1)
    const { json } = await operator('paid', id, '--payment', intent)
    expect(json).toMatchObject({ order: { status: 'processing', total: 12.5 } })
    expect(await warningOf(intent)).toBeUndefined()
    expect((await operator('paid', id, '--payment', intent)).json).toMatchObject({ error: { code: 'CONFLICT' } })

    expect((await operator('refund', id, '--yes')).json).toMatchObject({ refund: { amount: 12.5, way: 'gateway' } })
    expect(till.sandbox.ledger().refunds).toContainEqual(
      expect.objectContaining({ payment_intent: intent, amount: 1250 })
    )
  })

  it('changes the total of an order that costs something else, after a confirmation', async () => {
    const intent = await lostPayment('lost-2')
    const id = await entered(2)
    expect((await operator('paid', id, '--payment', intent)).json).toMatchObject({ error: { code: 'USAGE' } })
    const { json } = await operator('paid', id, '--payment', intent, '--yes')
    expect(json).toMatchObject({ order: { status: 'processing', total: 12.5 } })
  })

  it('goes back to the buyer without an order, once', async () => {
    const intent = await lostPayment('lost-3')
    const refund = ['refund', '--payment', intent, '--yes']
    expect((await operator(...refund)).json).toMatchObject({ refund: { payment: intent, amount: 12.5 } })
    await operator(...refund)
    const returned = till.sandbox.ledger().refunds.filter(({ payment_intent: of }) => of === intent)
    expect(returned).toMatchObject([{ amount: 1250 }])
    expect(await warningOf(intent)).toBeUndefined()
  })

  it('must be of this shop, and the order must be unpaid', async () => {
    const theirs = await lostPayment('lost-4', 'another')
    expect((await operator('refund', '--payment', theirs, '--yes')).json).toMatchObject({ error: { code: 'CONFLICT' } })
    expect((await operator('refund', '--payment', 'pi_unknown', '--yes')).json).toMatchObject({
      error: { code: 'NOT_FOUND' }
    })
    expect((await operator('refund', '--yes')).code).toBe(2)
  })
})
