import type { Stripe } from 'stripe'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { idOf } from '../../src/sandbox/store/ids.ts'
import { createBench, refusalOf, sessionParams } from './sandbox-support.ts'
import type { Bench } from './sandbox-support.ts'

let bench: Bench

beforeEach(async () => {
  bench = await createBench()
})

afterEach(() => bench.close())

const dayMs = 86_400_000

function monthly(overrides: Partial<Stripe.Checkout.SessionCreateParams> = {}): Stripe.Checkout.SessionCreateParams {
  const { payment_intent_data: _, ...common } = sessionParams()
  return {
    ...common,
    mode: 'subscription',
    line_items: [
      {
        price_data: {
          currency: 'eur',
          unit_amount: 900,
          product_data: { name: 'Club' },
          recurring: { interval: 'month' }
        },
        quantity: 1
      }
    ],
    subscription_data: { metadata: { order_id: '7' } },
    ...overrides
  }
}

async function subscribe(
  payment_method = 'pm_card_visa',
  overrides: Partial<Stripe.Checkout.SessionCreateParams> = {}
) {
  const { id, url } = await bench.stripe.checkout.sessions.create(monthly(overrides))
  const page = await bench.page(new URL(url ?? '').pathname, { payment_method })
  const session = await bench.stripe.checkout.sessions.retrieve(id, { expand: ['subscription', 'invoice.payments'] })
  return { page, session, id: (session.subscription as Stripe.Subscription | null)?.id ?? '' }
}

const newEvents = async (): Promise<string[]> => {
  await bench.sandbox.deliverDue()
  return bench.received.splice(0).map(({ type }) => type)
}

describe('a subscription', () => {
  test('starts with its first payment, a customer and a paid invoice', async () => {
    const { page, session } = await subscribe()
    expect(page.status).toBe(303)
    expect(session).toMatchObject({
      payment_status: 'paid',
      payment_intent: null,
      subscription: { status: 'active', metadata: { order_id: '7' }, cancel_at_period_end: false },
      invoice: { status: 'paid', amount_paid: 900, billing_reason: 'subscription_create' }
    })
    const payment = (session.invoice as Stripe.Invoice).payments?.data[0]?.payment
    expect(payment).toMatchObject({
      type: 'payment_intent',
      payment_intent: bench.sandbox.ledger().charges[0]?.payment_intent
    })
    expect(await newEvents()).toEqual(
      expect.arrayContaining(['customer.subscription.created', 'invoice.paid', 'checkout.session.completed'])
    )
  })

  test('does not start when the card is declined', async () => {
    const { page, session } = await subscribe('pm_card_chargeDeclined')
    expect(page.status).toBe(402)
    expect(session).toMatchObject({ status: 'open', subscription: null })
  })

  test('ends at its cancel_at, even in the middle of a period', async () => {
    const { id } = await subscribe()
    const cancel_at = Math.floor(bench.now() / 1000) + 10 * 86_400
    await bench.stripe.subscriptions.update(id, { cancel_at })
    bench.advance(9 * dayMs)
    expect(await bench.stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'active', cancel_at })
    bench.advance(dayMs)
    expect(await bench.stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' })
    expect(bench.sandbox.ledger().charges).toHaveLength(1)
  })

  test('renews after a month, on the same day of the month', async () => {
    const { id } = await subscribe()
    const first = (await bench.stripe.subscriptions.retrieve(id)).items.data[0]
    await newEvents()
    bench.advance(32 * dayMs)
    const renewed = await bench.stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
    expect(renewed.items.data[0]?.current_period_start).toBe(first?.current_period_end)
    expect(renewed).toMatchObject({
      status: 'active',
      latest_invoice: { status: 'paid', billing_reason: 'subscription_cycle' }
    })
    expect(bench.sandbox.ledger().charges).toHaveLength(2)
    expect(await newEvents()).toEqual(expect.arrayContaining(['invoice.paid', 'customer.subscription.updated']))
  })

  test('becomes past due when a renewal fails, and active again when the invoice is paid', async () => {
    const { id } = await subscribe()
    await newEvents()
    expect(bench.sandbox.renewSubscription(id, 'failed')).toMatchObject({ status: 'past_due' })
    expect(await newEvents()).toEqual(
      expect.arrayContaining(['invoice.payment_failed', 'customer.subscription.updated'])
    )
    expect(bench.sandbox.renewSubscription(id)).toMatchObject({ status: 'active' })
    const invoices = await bench.stripe.invoices.list({ subscription: id })
    expect(invoices.data.map(({ status }) => status)).toEqual(['paid', 'paid'])
  })

  test('ends after the last failed payment attempt', async () => {
    const { id } = await subscribe()
    for (let attempt = 0; attempt < 4; attempt += 1) bench.sandbox.renewSubscription(id, 'failed')
    expect(await bench.stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' })
    expect(await newEvents()).toContain('customer.subscription.deleted')
  })

  test('stays active until the end of its period when canceled for then', async () => {
    const { id } = await subscribe()
    const ending = await bench.stripe.subscriptions.update(id, { cancel_at_period_end: true })
    expect(ending).toMatchObject({
      status: 'active',
      cancel_at_period_end: true,
      cancel_at: ending.items.data[0]?.current_period_end
    })
    bench.advance(32 * dayMs)
    expect(await bench.stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' })
    expect(bench.sandbox.ledger().charges).toHaveLength(1)
  })

  test('can be canceled immediately, and only once', async () => {
    const { id } = await subscribe()
    expect(await bench.stripe.subscriptions.cancel(id)).toMatchObject({ status: 'canceled' })
    expect(await refusalOf(bench.stripe.subscriptions.cancel(id))).toMatchObject({ statusCode: 400 })
    expect((await bench.stripe.subscriptions.list()).data).toEqual([])
    expect((await bench.stripe.subscriptions.list({ status: 'all' })).data).toHaveLength(1)
  })

  test('stores the card for later when its first period is free', async () => {
    const coupon = await bench.stripe.coupons.create({ percent_off: 100, duration: 'once' })
    const { session, id } = await subscribe('pm_card_visa', { discounts: [{ coupon: coupon.id }] })
    expect(session).toMatchObject({
      payment_status: 'no_payment_required',
      invoice: { amount_paid: 0, status: 'paid' }
    })
    expect(bench.sandbox.renewSubscription(id)).toMatchObject({ status: 'active' })
    expect(bench.sandbox.ledger().charges).toMatchObject([{ amount: 900 }])
  })

  test('has no card for its renewals when none is collected because nothing is due', async () => {
    const coupon = await bench.stripe.coupons.create({ percent_off: 100, duration: 'once' })
    const { id } = await subscribe('pm_card_visa', {
      discounts: [{ coupon: coupon.id }],
      payment_method_collection: 'if_required'
    })
    expect(bench.sandbox.renewSubscription(id)).toMatchObject({ status: 'past_due' })
    expect(bench.sandbox.ledger().charges).toEqual([])
    const once = sessionParams({ payment_method_collection: 'always' })
    expect(await refusalOf(bench.stripe.checkout.sessions.create(once))).toMatchObject({
      param: 'payment_method_collection'
    })
  })

  test('is refused in payment mode, and a subscription session is refused without a recurring price', async () => {
    const wrong = monthly()
    expect(await refusalOf(bench.stripe.checkout.sessions.create({ ...wrong, mode: 'payment' }))).toMatchObject({
      param: 'subscription_data'
    })
    const plain = sessionParams().line_items ?? []
    expect(await refusalOf(bench.stripe.checkout.sessions.create(monthly({ line_items: plain })))).toMatchObject({
      param: 'line_items'
    })
  })
})

describe('the page of an invoice', () => {
  test('is at the server that answers, even if the command line has created the invoice', async () => {
    const { id } = await subscribe()
    const commandLine = await createBench({ file: bench.file, publicUrl: () => 'http://localhost:3000' })
    commandLine.sandbox.renewSubscription(id, 'failed')
    commandLine.close()
    const invoice = idOf((await bench.stripe.subscriptions.retrieve(id)).latest_invoice) ?? ''
    const { hosted_invoice_url: page } = await bench.stripe.invoices.retrieve(invoice)
    expect(page).toBe(`http://shop.test/sandbox/invoice/${invoice}`)
  })

  test('shows a declined card, and pays the invoice with another one', async () => {
    const { id } = await subscribe()
    bench.sandbox.renewSubscription(id, 'failed')
    const invoice = idOf((await bench.stripe.subscriptions.retrieve(id)).latest_invoice) ?? ''
    const pay = (card: string) => bench.page(`/sandbox/invoice/${invoice}`, { payment_method: card })
    const declined = await pay('pm_card_visa_chargeDeclined')
    expect([declined.status, await declined.text()]).toEqual([402, expect.stringContaining('The card was declined.')])
    expect((await pay('pm_card_visa')).status).toBe(303)
    expect(await bench.stripe.invoices.retrieve(invoice)).toMatchObject({ status: 'paid' })
    expect(await (await bench.page(`/sandbox/invoice/${invoice}`)).text()).toContain('This invoice is paid')
  })
})

describe('the billing portal', () => {
  const open = async (id: string) => {
    const { customer } = await bench.stripe.subscriptions.retrieve(id)
    return bench.stripe.billingPortal.sessions.create({
      customer: idOf(customer) ?? '',
      return_url: 'http://shop.test/account'
    })
  }

  test('ends a subscription with its period and takes that back, as Stripe does with flexible billing', async () => {
    const { id } = await subscribe()
    const { pathname } = new URL((await open(id)).url)
    expect(await (await bench.page(pathname)).text()).toContain('href="http://shop.test/account"')
    expect((await bench.page(pathname, { subscription: id, action: 'cancel' })).status).toBe(303)
    expect(await bench.stripe.subscriptions.retrieve(id)).toMatchObject({
      cancel_at: expect.any(Number),
      cancel_at_period_end: false
    })
    expect((await bench.page(pathname, { subscription: id, action: 'resume' })).status).toBe(303)
    expect(await bench.stripe.subscriptions.retrieve(id)).toMatchObject({ cancel_at: null })
  })

  test('expires five minutes after it was created, or an hour after it was used', async () => {
    const { id } = await subscribe()
    const { pathname } = new URL((await open(id)).url)
    bench.advance(4 * 60_000)
    expect((await bench.page(pathname)).status).toBe(200)
    bench.advance(59 * 60_000)
    expect((await bench.page(pathname)).status).toBe(200)
    bench.advance(60 * 60_000)
    expect((await bench.page(pathname, { subscription: id, action: 'cancel' })).status).toBe(404)
    expect(await bench.stripe.subscriptions.retrieve(id)).toMatchObject({ cancel_at: null })
  })

  test('needs a customer that exists', async () => {
    const refused = bench.stripe.billingPortal.sessions.create({ customer: 'cus_none' })
    await expect(refused).rejects.toMatchObject({ code: 'resource_missing', param: 'customer' })
  })
})
