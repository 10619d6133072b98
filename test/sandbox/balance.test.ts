import type Stripe from 'stripe'
import { expect, describe, it, onTestFinished } from 'vitest'
import { createBench } from './sandbox-support.ts'
import type { Bench } from './sandbox-support.ts'

async function bench(): Promise<Bench> {
  const opened = await createBench()
  onTestFinished(() => opened.close())
  return opened
}

const pay = (stripe: Stripe, payment_method = 'pm_card_visa') =>
  stripe.paymentIntents.create({
    amount: 10_000,
    currency: 'eur',
    payment_method,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    expand: ['latest_charge']
  })

const chargeOf = ({ latest_charge: charge }: Stripe.PaymentIntent): Stripe.Charge => {
  if (charge === null || typeof charge === 'string') throw new Error('the charge is not expanded')
  return charge
}

describe('balance transactions of the sandbox', () => {
  it('record a charge with Stripe’s fee, and a refund without one', async () => {
    const { stripe } = await bench()
    const charge = chargeOf(await pay(stripe))
    await stripe.refunds.create({ charge: charge.id, amount: 2_500 })
    const { data } = await stripe.balanceTransactions.list({ expand: ['data.source'] })
    expect(data).toMatchObject([
      { type: 'refund', amount: -2_500, fee: 0, net: -2_500, source: { object: 'refund', charge: charge.id } },
      {
        type: 'charge',
        amount: 10_000,
        fee: 175,
        net: 9_825,
        currency: 'eur',
        source: { object: 'charge', id: charge.id }
      }
    ])
    expect(charge.balance_transaction).toBe(data[1]?.id)
    expect(await stripe.balanceTransactions.retrieve(data[1]?.id ?? '')).toMatchObject({
      fee_details: [{ amount: 175, type: 'stripe_fee' }],
      reporting_category: 'charge'
    })
    expect((await stripe.balanceTransactions.list({ type: 'refund' })).data).toHaveLength(1)
    expect((await stripe.balanceTransactions.list({ source: charge.id })).data).toMatchObject([{ type: 'charge' }])
  })

  it('record nothing for a declined card, and a slow payment when it succeeds', async () => {
    const { stripe, advance, sandbox } = await bench()
    await expect(pay(stripe, 'pm_card_visa_chargeDeclined')).rejects.toMatchObject({ code: 'card_declined' })
    expect((await stripe.balanceTransactions.list()).data).toEqual([])
    const charge = chargeOf(await pay(stripe, 'pm_sandbox_processing'))
    advance(10_000)
    await sandbox.deliverDue()
    expect((await stripe.balanceTransactions.list()).data).toMatchObject([{ source: charge.id }])
  })

  it('take a failed refund back, and withdraw what a bank disputes', async () => {
    const { stripe, sandbox, advance } = await bench()
    const failing = chargeOf(await pay(stripe, 'pm_card_refundFail'))
    await stripe.refunds.create({ charge: failing.id })
    advance(10_000)
    await sandbox.deliverDue()
    const intent = await pay(stripe)
    const dispute = sandbox.openDispute(intent.id, { amount: 4_000 })
    sandbox.decideDispute(dispute.id, 'won')
    const { data } = await stripe.balanceTransactions.list()
    expect(data.map(({ type, reporting_category, amount }) => [type, reporting_category, amount])).toEqual([
      ['adjustment', 'dispute_reversal', 4_000],
      ['adjustment', 'dispute', -4_000],
      ['charge', 'charge', 10_000],
      ['refund_failure', 'refund_failure', 10_000],
      ['refund', 'refund', -10_000],
      ['charge', 'charge', 10_000]
    ])
    expect((await stripe.disputes.retrieve(dispute.id)).balance_transactions).toHaveLength(2)
  })

  it('list what a payout paid out', async () => {
    const { stripe, sandbox } = await bench()
    const paid = chargeOf(await pay(stripe))
    const payout = sandbox.payOut()
    await pay(stripe)
    expect(payout).toMatchObject({ amount: 9_825, automatic: true, status: 'paid', reconciliation_status: 'completed' })
    const { data } = await stripe.balanceTransactions.list({ payout: payout.id })
    expect(data.map(({ type, source }) => [type, source])).toEqual([
      ['payout', payout.id],
      ['charge', paid.id]
    ])
    expect((await stripe.payouts.list()).data).toMatchObject([{ id: payout.id }])
    expect(await stripe.payouts.retrieve(payout.id)).toMatchObject({ id: payout.id })
  })
})
