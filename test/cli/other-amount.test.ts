import { afterAll, describe, expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import type { Typed } from '../support/command-line.ts'
import { openTill } from '../shop/payments/till.ts'

const till = await openTill()
const { dataDir, app } = till.shop
afterAll(() => till.close())

const operator = (words: readonly string[], typed: Typed = {}) => shopstead(dataDir, ['orders', ...words], typed)

/** An order of 12.50 whose payment was changed to another amount at Stripe before the buyer confirmed it. */
async function paidOtherwise(amount: number): Promise<{ id: number; intent: string }> {
  const { data } = await till.handOff('pm_card_authenticationRequired', {
    body: { customer: { email: 'ada@example.com' } }
  })
  const id = Number(data.orderId)
  const intent = till.attempt(id).objectId ?? ''
  await till.stripe.paymentIntents.update(intent, { amount })
  till.sandbox.answerChallenge(intent, true)
  await till.deliver()
  return { id, intent }
}

const refundsOf = (intent: string) =>
  till.sandbox
    .ledger()
    .refunds.filter(({ payment_intent: of }) => of === intent)
    .map(({ amount }) => amount)

const warnedOf = async (id: number) => {
  const { json } = await operator(['warnings', '--json'])
  return (json['warnings'] as { orderId: number; message: string }[]).filter(({ orderId }) => orderId === id)
}

describe('a payment of another amount', () => {
  it('is a warning that names the two commands', async () => {
    const { id, intent } = await paidOtherwise(1000)
    expect(till.order(id).status).toBe('pending')
    expect(await warnedOf(id)).toMatchObject([
      {
        message: `${intent} does not count as the payment of order ${id}: its amount is €10.00, the order's is €12.50. If it was paid, "shopstead orders paid ${id}" accepts this amount, and "shopstead orders refund ${id}" returns it.`
      }
    ])
  })

  it.each([
    ['less', 1000],
    ['more', 1500]
  ])('that is %s is recorded by orders paid as it was paid, and can be refunded', async (_, amount) => {
    const { id, intent } = await paidOtherwise(amount)
    const paid = await operator(['paid', `${id}`, '--yes', '--json'])
    expect(paid).toMatchObject({
      code: 0,
      json: { order: { status: 'processing', total: amount / 100, lineItems: [{ total: amount / 100 }] } }
    })
    expect(paid.json['history']).toContainEqual(
      expect.objectContaining({ to: 'processing', by: 'operator', reason: expect.stringContaining(intent) })
    )
    expect(await warnedOf(id)).toEqual([])
    expect((await operator(['refund', `${id}`, '--yes', '--json'])).json).toMatchObject({
      order: { status: 'refunded' }
    })
    expect(refundsOf(intent)).toEqual([amount])
  })

  it('is shown before it is recorded, and recorded only after a yes at a terminal', async () => {
    const { id } = await paidOtherwise(1000)
    const refused = await operator(['paid', `${id}`], { answers: [false] })
    expect([refused.code, till.order(id).status]).toEqual([1, 'pending'])
    expect(refused.stderr).toContain(`The gateway has a payment of €10.00 for order ${id}, whose total is €12.50.`)
    const accepted = await operator(['paid', `${id}`], { answers: [true] })
    expect([accepted.code, till.order(id).totalMinor]).toEqual([0, 1000])
  })

  it('is returned as a whole by orders refund, which cancels the order', async () => {
    const { id, intent } = await paidOtherwise(1500)
    const part = await operator(['refund', `${id}`, '--yes', '--amount', '2.50', '--json'])
    expect(part).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect(part.stdout).toContain('Leave out --amount')
    const { code, json } = await operator(['refund', `${id}`, '--yes', '--json'])
    expect([code, json]).toMatchObject([0, { order: { status: 'cancelled', total: 12.5, refunded: 0 } }])
    expect(refundsOf(intent)).toEqual([1500])
    expect(await warnedOf(id)).toEqual([])
    await till.settle()
    expect(till.order(id).status).toBe('cancelled')
  })

  it('is not recorded as received by hand while the gateway does not answer', async () => {
    const { id } = await paidOtherwise(1000)
    till.sandbox.addFault({ target: 'payment_intents.retrieve', fault: '503', times: -1 })
    const { code, json } = await operator(['paid', `${id}`, '--yes', '--json'])
    till.sandbox.clearFaults()
    expect([code, json, till.order(id).status]).toMatchObject([
      69,
      { error: { code: 'DEPENDENCY_UNAVAILABLE' } },
      'pending'
    ])
  })
})

describe('the comparison with Stripe', () => {
  it('shows a difference until the operator has accepted or returned the payment', async () => {
    const accepted = await paidOtherwise(1000)
    const returned = await paidOtherwise(1500)
    const differencesOf = async ({ intent }: { intent: string }) => {
      const { json } = await shopstead(dataDir, 'report payments --from 2026-01-01 --to 2026-02-01 --json'.split(' '))
      const rows = json['rows'] as { paymentIntent: string; differences: string[] }[]
      return rows.filter(({ paymentIntent }) => paymentIntent === intent).map(({ differences }) => differences)
    }
    expect(await differencesOf(accepted)).not.toEqual([[]])
    expect(await differencesOf(returned)).not.toEqual([[]])
    await operator(['paid', `${accepted.id}`, '--yes'])
    await operator(['refund', `${returned.id}`, '--yes'])
    expect([await differencesOf(accepted), await differencesOf(returned)]).toEqual([[[]], [[]]])
  })
})

describe('a refund by hand', () => {
  it('needs --by-hand where the gateway has the charge and the shop cannot ask it', async () => {
    const { data } = await till.handOff('pm_card_visa')
    const id = Number(data.orderId)
    app.db.sqlite.prepare("UPDATE payment_attempts SET gateway = 'stripe' WHERE order_id = ?").run(id)
    const env = { SHOPSTEAD_PAYMENTS: 'manual' }
    const refused = await operator(['refund', `${id}`, '--yes', '--json'], { env })
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect(refused.stdout).toContain(`shopstead orders refund ${id} --by-hand`)
    expect(till.order(id)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    const recorded = await operator(['refund', `${id}`, '--yes', '--by-hand', '--json'], { env })
    expect(recorded).toMatchObject({ code: 0, json: { order: { status: 'refunded' } } })
  })

  it('needs --by-hand where the order was paid by hand and the gateway has another payment of it', async () => {
    const { id, intent } = await paidOtherwise(1000)
    app.db.sqlite.prepare("UPDATE orders SET status = 'processing', paid_at = 1 WHERE id = ?").run(id)
    const refused = await operator(['refund', `${id}`, '--yes', '--json'])
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining(intent)])
    expect((await operator(['refund', `${id}`, '--yes', '--by-hand', '--json'])).json).toMatchObject({
      order: { status: 'refunded' }
    })
    expect(refundsOf(intent)).toEqual([])
  })

  it('of a card payment asks the gateway first, which may have returned the money already', async () => {
    const { data } = await till.handOff('pm_card_visa')
    const id = Number(data.orderId)
    const byHand = ['refund', `${id}`, '--by-hand', '--json']
    const question = (await operator(byHand)).json as { error?: { message: string } }
    expect(question.error?.message).toContain('has returned €0.00 of it; without --by-hand it returns the money')
    await till.stripe.refunds.create({ payment_intent: till.attempt(id).paymentIntentId ?? '' })
    const refused = await operator([...byHand, '--yes'])
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect(refused.stdout).toContain('orders reconcile')
    expect(till.order(id).refundedMinor).toBe(0)
  })

  it('needs no option for an order that was paid by hand', async () => {
    const { id } = await till.redirect()
    expect((await operator(['paid', `${id}`, '--yes', '--json'])).code).toBe(0)
    expect((await operator(['refund', `${id}`, '--yes', '--json'])).json).toMatchObject({
      order: { status: 'refunded' }
    })
  })
})
