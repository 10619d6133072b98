import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type Stripe from 'stripe'
import { describe, expect, it, onTestFinished } from 'vitest'
import { paymentsReport } from '../../src/operations/reports/payments.ts'
import { warnOfDifferences } from '../../src/operations/reports/payments/differences.ts'
import { write } from '../../src/platform/db/database.ts'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { createStripeClient } from '../../src/platform/stripe-client.ts'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { openWarnings, warn } from '../../src/shop/payments/warnings.ts'
import { benefitCatalog } from '../journeys/catalog.ts'
import { buy, openShop, registerUser } from '../journeys/shop.ts'
import { shopstead } from '../support/command-line.ts'
import { smallCatalog, startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quay } from '../support/addresses.ts'

type Row = {
  charge: string | null
  stripe: { amount: number; fee: number; net: number; refunded: number; payout: { id: string } | null } | null
  shop: { orderId: number; amount: number; refunded: number; renewalOf: number | null } | null
  differences: string[]
}
type Report = {
  rows: Row[]
  foreign: number
  differences: Record<string, number>
  totals: { currency: string; amount: number; fee: number; net: number }[]
}

/** A shop with the sandbox, and what a test does to its payments. */
async function shopWithPayments() {
  const shop = await startShop({ seed: smallCatalog })
  onTestFinished(() => shop.stop())
  const sandbox = sandboxOf(shop)
  const stripe = await createStripeClient({ secretKey: 'sk_test_sandbox', httpClient: sandbox.httpClient })
  return {
    shop,
    sandbox,
    stripe,
    /** Buys a mug for 12.50 on the payment page. */
    async sell(paymentMethod = 'pm_card_visa'): Promise<number> {
      const { data } = await shop.visitor().post<{ orderId: string }>('/store/checkout-session', {
        items: [{ productId: 1, quantity: 1 }],
        shippingAddress: quay,
        customer: { email: 'ada@shop.example' }
      })
      const session = sandbox.findCheckout({ clientReferenceId: data.orderId })
      await sandbox.payCheckout(session?.id ?? '', { paymentMethod })
      return Number(data.orderId)
    },
    loseWebhooks: () =>
      void sandbox.addFault({ target: 'webhook:*', fault: 'lost', moment: 'before', times: -1, skip: 0 }),
    report: (args: string[] = []) => shopstead<Report>(shop.dataDir, ['report', 'payments', '--json', ...args])
  }
}

function sandboxOf({ app }: RunningShop) {
  if (app.sandbox === null) throw new Error('this shop has no sandbox')
  return app.sandbox
}

const pay = (stripe: Stripe, metadata: Stripe.MetadataParam) =>
  stripe.paymentIntents.create({
    amount: 7_000,
    currency: 'eur',
    payment_method: 'pm_card_visa',
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    metadata
  })

describe('shopstead report payments', () => {
  it('shows each charge with its fee and payout beside its order', async () => {
    const { sell, sandbox, shop, report } = await shopWithPayments()
    const [first, second] = [await sell(), await sell()]
    const payout = sandbox.payOut()
    const third = await sell()
    await refundOrder(shop.app, second, { amountMinor: 250 }, 'operator')
    const { json, code } = await report()
    expect(code).toBe(0)
    expect(json.rows).toMatchObject([
      {
        stripe: { amount: 12.5, fee: 0.44, net: 12.06, payout: { id: payout.id } },
        shop: { orderId: first, amount: 12.5 }
      },
      { stripe: { refunded: 2.5, fee: 0.44, net: 9.56 }, shop: { orderId: second, refunded: 2.5 } },
      { stripe: { payout: null }, shop: { orderId: third } }
    ])
    expect(json).toMatchObject({
      foreign: 0,
      differences: {},
      totals: [{ currency: 'EUR', amount: 37.5, refunded: 2.5, fee: 1.32, net: 33.68 }]
    })
    expect(json.rows.every(({ differences }) => differences.length === 0)).toBe(true)
  })

  it('adds up to the net amount after a lost dispute', async () => {
    const { sell, sandbox, shop, report } = await shopWithPayments()
    await sell()
    const disputed = await sell()
    const { id } = sandbox.openDispute(attemptsOf(shop.app.db, disputed)[0]?.paymentIntentId ?? '')
    sandbox.decideDispute(id, 'lost')
    const [total] = (await report()).json.totals
    expect(total).toEqual({ currency: 'EUR', amount: 25, refunded: 0, disputed: 12.5, fee: 20.88, net: -8.38 })
    const { stdout } = await shopstead(shop.dataDir, ['report', 'payments'])
    expect(stdout).toContain('€12.50 taken by disputes')
  })

  it('counts a charge of earlier days in the totals of those days only', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const { orderId } = await buy(shop, lena, 'almanac-pro')
    shop.clock.advance(40 * 24 * 60 * 60_000)
    await refundOrder(shop.app, orderId, {}, 'operator')
    const to = shop.clock.now() + 60_000
    const totals = async (from: number, until: number) => {
      const days = { from: new Date(from).toISOString(), to: new Date(until).toISOString() }
      const { head } = await paymentsReport.make(shop.app, days, until)
      return 'totals' in head ? (head.totals as Report['totals'] & { refunded: number }[]) : []
    }
    const [paid] = await totals(0, to - 24 * 60 * 60_000)
    const [refunded] = await totals(to - 24 * 60 * 60_000, to)
    expect(paid).toMatchObject({ refunded: 0, disputed: 0 })
    expect(refunded).toMatchObject({ amount: 0, refunded: paid?.amount, fee: 0, net: -(paid?.amount ?? 0) })
    expect(paid?.net).toBeCloseTo((paid?.amount ?? 0) - (paid?.fee ?? 0), 2)
  })

  it('names what Stripe has and the shop lacks', async () => {
    const { sell, loseWebhooks, report, shop, stripe, sandbox } = await shopWithPayments()
    const refunded = await sell()
    loseWebhooks()
    const unnoticed = await sell()
    const charge = sandbox.ledger().charges.find(({ metadata }) => metadata['shopstead_order'] === String(refunded))
    await stripe.refunds.create({ charge: charge?.id ?? '', amount: 500 })
    const { json } = await report()
    expect(json.rows).toMatchObject([
      { charge: charge?.id, shop: { orderId: refunded }, differences: ['refund_not_in_shop'] },
      { shop: { orderId: unnoticed }, differences: ['charge_not_in_shop'] }
    ])
    expect(json.differences).toEqual({ refund_not_in_shop: 1, charge_not_in_shop: 1 })
    const human = await shopstead(shop.dataDir, ['report', 'payments'])
    expect(human.stdout).toContain(charge?.id)
    for (const line of human.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    await settlePayments(shop.app, { underWay: 'take' })
    expect((await report()).json.differences).toEqual({})
  })

  it('names what the shop has and Stripe lacks', async () => {
    const { sell, shop, report, sandbox, loseWebhooks } = await shopWithPayments()
    const [failing, gone] = [await sell('pm_card_refundFail'), await sell()]
    const write = shop.app.db.sqlite
    write.exec(
      `UPDATE payment_attempts SET payment_intent_id = 'pi_unknown', token = 'unknown' WHERE order_id = ${gone}`
    )
    loseWebhooks()
    await refundOrder(shop.app, failing, {}, 'operator')
    write.exec(`UPDATE refunds SET amount_minor = amount_minor + 100 WHERE order_id = ${failing}`)
    const { json } = await report()
    expect(json.rows).toHaveLength(3)
    expect(json.rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ charge: null, stripe: null, differences: ['charge_not_at_stripe'] }),
        expect.objectContaining({
          shop: expect.objectContaining({ orderId: failing }),
          differences: ['refund_not_at_stripe']
        })
      ])
    )
    expect(sandbox.ledger().charges).toHaveLength(2)
  })

  it('names an amount that differs, and a second payment until it is refunded', async () => {
    const { sell, shop, report, stripe, sandbox } = await shopWithPayments()
    const [first, second] = [await sell(), await sell()]
    const { db } = shop.app
    db.sqlite.exec(`UPDATE payment_attempts SET amount_minor = 900 WHERE order_id = ${first}`)
    const [attempt] = attemptsOf(db, second)
    const warning = {
      orderId: second,
      kind: 'paid_twice',
      objectId: attempt?.objectId ?? '',
      message: 'Twice.'
    } as const
    write(db, (tx) => warn({ tx, log: shop.app.log, by: 'test', now: 0 }, warning))
    expect((await report()).json.rows).toMatchObject([
      { shop: { amount: 9 }, differences: ['amount_differs'] },
      { differences: ['paid_twice'] }
    ])
    await stripe.refunds.create({ payment_intent: attempt?.paymentIntentId ?? '' })
    await sandbox.deliverDue()
    expect((await report()).json.rows[1]).toMatchObject({ stripe: { refunded: 12.5 }, differences: [] })
  })

  it('leaves out the payments of other software, and counts them', async () => {
    const { sell, stripe, report } = await shopWithPayments()
    await sell()
    await pay(stripe, { order_id: '7', order_key: 'wc_order_1' })
    await pay(stripe, { shopstead_shop: 'another', shopstead_order: '1', shopstead_attempt: 'token' })
    await pay(stripe, {})
    const { json } = await report()
    expect(json.rows).toHaveLength(1)
    expect(json).toMatchObject({ foreign: 3, totals: [{ amount: 12.5 }] })
  })

  it('finds a renewal that the shop never noticed, which carries no metadata', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const { orderId } = await buy(shop, lena, 'almanac-pro')
    const sandbox = sandboxOf(shop)
    const from = ['--from', '2026-01-01', '--to', '2028-12-31']
    const report = async () => (await shopstead<Report>(shop.dataDir, ['report', 'payments', '--json', ...from])).json
    const subscription = sandbox.ledger().subscriptions[0]?.id ?? ''
    shop.app.db.sqlite.exec('UPDATE payment_attempts SET payment_intent_id = NULL')
    expect((await report()).rows).toMatchObject([{ shop: { orderId }, differences: [] }])
    sandbox.renewSubscription(subscription, 'paid')
    await sandbox.deliverDue()
    expect((await report()).rows).toMatchObject([
      { shop: { orderId, renewalOf: null }, differences: [] },
      { shop: { renewalOf: orderId }, differences: [] }
    ])
    sandbox.addFault({ target: 'webhook:*', fault: 'lost', moment: 'before', times: -1, skip: 0 })
    sandbox.renewSubscription(subscription, 'paid')
    const rows = (await report()).rows
    expect(rows).toHaveLength(3)
    expect(rows.filter(({ differences }) => differences.length > 0)).toMatchObject([
      { shop: { orderId, amount: null }, differences: ['charge_not_in_shop'] }
    ])
  })

  it('names a renewal that Stripe lacks, among the payments of the days of the report', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    await buy(shop, lena, 'almanac-pro')
    const sandbox = sandboxOf(shop)
    sandbox.renewSubscription(sandbox.ledger().subscriptions[0]?.id ?? '', 'paid')
    await sandbox.deliverDue()
    const [day, hour] = [86_400_000, 3_600_000]
    const settledAt = Date.UTC(2026, 2, 10, 12)
    shop.app.db.sqlite
      .prepare(
        `UPDATE payment_attempts SET payment_intent_id = 'pi_unknown', token = 'unknown', settled_at = ? WHERE kind = 'invoice'`
      )
      .run(settledAt)
    const missing = async (from: number, to: number) => {
      const days = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
      const { rows } = await paymentsReport.make(shop.app, days, to)
      return (rows as Row[]).filter(({ differences }) => differences.includes('charge_not_at_stripe'))
    }
    expect(await missing(settledAt - day, settledAt + day)).toMatchObject([
      { charge: null, shop: { renewalOf: 1, amount: expect.any(Number) } }
    ])
    expect(await missing(settledAt, settledAt + hour)).toHaveLength(1)
    expect(await missing(settledAt + 1, settledAt + day)).toEqual([])
    expect(await missing(settledAt - day, settledAt)).toEqual([])
  })

  it('limits the report to days, reads page by page, and writes CSV', async () => {
    const { sell, report, shop, stripe } = await shopWithPayments()
    await sell()
    for (let count = 0; count < 120; count += 1) await pay(stripe, { order_id: String(count) })
    expect((await report()).json).toMatchObject({ foreign: 120, rows: [{}] })
    expect((await report(['--to', '2020-01-31'])).json).toMatchObject({ foreign: 0, rows: [] })
    const file = join(temporaryFolder(), 'payments.csv')
    const written = await report(['--csv', file])
    expect(written.json).toMatchObject({ file })
    const [head = '', row = '', ...rest] = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(head).toMatch(/charge,payment_intent,order,/)
    expect(row).toContain('12.50')
    expect(rest).toEqual([])
    const wrong = await shopstead(shop.dataDir, ['report', 'payments', '--from', 'yesterday', '--json'])
    expect([wrong.code, wrong.json]).toMatchObject([2, { error: { code: 'USAGE' } }])
  })
})

describe('the daily comparison of payments', () => {
  it('warns of each difference once, and closes the warning when the difference is gone', async () => {
    const { sell, shop, loseWebhooks } = await shopWithPayments()
    await sell()
    loseWebhooks()
    const unnoticed = await sell()
    // A payment of the last hour may still be on its way.
    expect(await warnOfDifferences(shop.app)).toBe(0)
    const later = { ...shop.app, clock: { now: () => shop.app.clock.now() + 2 * 60 * 60_000 } }
    expect(await warnOfDifferences(later)).toBe(1)
    expect(openWarnings(shop.app.db)).toMatchObject([{ kind: 'charge_not_in_shop', orderId: unnoticed }])
    expect(await warnOfDifferences(later)).toBe(1)
    expect(openWarnings(shop.app.db)).toHaveLength(1)
    await settlePayments(shop.app, { underWay: 'take' })
    expect(await warnOfDifferences(later)).toBe(0)
    expect(openWarnings(shop.app.db)).toEqual([])
  })

  it('warns again when the same difference returns', async () => {
    const { sell, shop, loseWebhooks, stripe } = await shopWithPayments()
    await sell()
    const { data } = await stripe.charges.list({ limit: 1 })
    const later = { ...shop.app, clock: { now: () => shop.app.clock.now() + 2 * 60 * 60_000 } }
    loseWebhooks()
    for (const amount of [100, 200]) {
      await stripe.refunds.create({ charge: data[0]?.id ?? '', amount })
      expect(await warnOfDifferences(later)).toBe(1)
      expect(openWarnings(shop.app.db)).toMatchObject([{ kind: 'refund_not_in_shop' }])
      await settlePayments(shop.app, { underWay: 'take' })
      expect(await warnOfDifferences(later)).toBe(0)
      expect(openWarnings(shop.app.db)).toEqual([])
    }
  })
})
