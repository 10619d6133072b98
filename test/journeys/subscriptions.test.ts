import { describe, expect, it } from 'vitest'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import type { Browser } from '../support/browser.ts'
import { shopstead } from '../support/command-line.ts'
import { benefitCatalog } from './catalog.ts'
import { nextMail } from '../support/mail-files.ts'
import { buy, logIn, dayMs, me, openShop, ordersOf, productId, registerUser } from './shop.ts'
import type { JourneyShop } from './shop.ts'

async function subscriber() {
  const shop = await openShop(benefitCatalog)
  const lena = await registerUser(shop, 'lena')
  const { orderId } = await buy(shop, lena, 'almanac-pro')
  return { shop, lena, orderId }
}

function subscriptionId(shop: JourneyShop): string {
  return shop.app.sandbox?.ledger().subscriptions[0]?.id ?? ''
}

async function renew(shop: JourneyShop, forced?: 'paid' | 'failed'): Promise<void> {
  shop.app.sandbox?.renewSubscription(subscriptionId(shop), forced)
  await shop.app.sandbox?.deliverDue()
}

const operator = (shop: JourneyShop, words: string[]) => shopstead(shop.app.config.dataDir, words)

async function seen(visitor: Browser) {
  const { flags, entitlements } = await me(visitor)
  const [subscription] = entitlements.subscriptions
  const { status, currentPeriodEnd, cancelAtPeriodEnd } = subscription ?? {}
  const { hasActiveSubscription, hasProAccess } = flags
  return [status, String(currentPeriodEnd).slice(0, 10), cancelAtPeriodEnd, hasActiveSubscription, hasProAccess]
}

describe('a subscription that Stripe renews', () => {
  it('is extended by each paid period', async () => {
    const { shop, lena } = await subscriber()
    expect(await seen(lena)).toEqual(['active', '2027-01-15', false, true, true])
    await renew(shop, 'paid')
    expect(await seen(lena)).toEqual(['active', '2028-01-15', false, true, true])
    expect((await me(lena)).entitlements.subscriptionsSummary).toEqual({
      activeSubscriptionCount: 1,
      totalSubscriptions: 1
    })
  })

  it('gives access during the grace period of a failed renewal, and again when the renewal is paid', async () => {
    const { shop, lena } = await subscriber()
    await renew(shop, 'failed')
    expect(await seen(lena)).toEqual(['past_due', '2027-01-15', false, true, true])
    shop.clock.set(Date.parse('2027-01-22T12:00:00.000Z'))
    const later = await logIn(shop, 'lena')
    expect(await seen(later)).toEqual(['past_due', '2027-01-15', false, false, false])
    await renew(shop, 'paid')
    expect(await seen(later)).toEqual(['active', '2029-01-15', false, true, true])
  })

  it('is listed as an order that names the first one, and its receipt names the period', async () => {
    const { shop, lena, orderId } = await subscriber()
    await renew(shop, 'paid')
    const [renewal, first] = await ordersOf(lena)
    expect([renewal?.['renewalOf'], first?.['id'], first?.['renewalOf']]).toEqual([orderId, orderId, null])
    const shown = await operator(shop, ['orders', 'show', String(renewal?.id)])
    expect(shown.stdout).toContain(`Renewal of the subscription that order ${orderId} started\n`)
    const listed = await operator(shop, ['orders', 'list', '--json'])
    expect(listed.json).toMatchObject({ orders: [{ renewalOf: orderId }, { renewalOf: null }] })
    const receipt = await nextMail(shop.dataDir, 'lena@shop.example', 2)
    expect(receipt.subject).toBe(`Your subscription at Shopstead Demo is renewed: order ${String(renewal?.id)}`)
    expect(receipt.text).toContain('is renewed from 15 January 2027 to 15 January 2028.')
  })

  it('renews with its tax, when the first period was discounted and something else was bought with it', async () => {
    const coupons = [{ code: 'HALF', percent: 50 }]
    const tax = [{ country: 'DE', class: 'standard', ratePercent: 19 }]
    const settings = { 'shop.country': 'DE', 'tax.pricesIncludeTax': 'false' }
    const shop = await openShop({ ...benefitCatalog, coupons, tax }, settings)
    const lena = await registerUser(shop, 'lena')
    const items = ['almanac-pro', 'mug'].map((slug) => ({ productId: productId(shop, slug), quantity: 1 }))
    await buy(shop, lena, 'almanac-pro', { body: { items, couponCode: 'HALF' } })
    await renew(shop, 'paid')
    const documents = shop.app.db.sqlite.prepare('SELECT total_minor, document FROM invoices ORDER BY id').all()
    const sums = documents.map((row) => {
      const { total_minor: total, document } = row as { total_minor: number; document: string }
      const { taxIncluded, taxes } = JSON.parse(document) as { taxIncluded: boolean; taxes: object[] }
      return { total, taxIncluded, taxes }
    })
    // Half of 90 and 20, then 90.
    expect(sums).toMatchObject([
      { total: 6545, taxIncluded: false, taxes: [{ country: 'DE', baseMinor: 5500, amountMinor: 1045 }] },
      { total: 10_710, taxIncluded: false, taxes: [{ country: 'DE', baseMinor: 9000, amountMinor: 1710 }] }
    ])
  })

  it('keeps its renewal when an operator refunds the first order', async () => {
    const { shop, lena, orderId } = await subscriber()
    await renew(shop, 'paid')
    const refunded = await operator(shop, ['orders', 'refund', String(orderId), '--yes', '--json'])
    expect(refunded).toMatchObject({ code: 0, json: { order: { status: 'refunded', renewalOf: null } } })
    const { refunds = [], charges = [] } = shop.app.sandbox?.ledger() ?? {}
    expect(charges).toHaveLength(2)
    expect(refunds.map(({ charge }) => charge)).toEqual([charges[0]?.id])
    expect(await seen(lena)).toEqual(['active', '2028-01-15', false, true, true])
  })

  it('is cancelled at the gateway when its holder is erased', async () => {
    const { shop } = await subscriber()
    const erased = await shopstead(shop.app.config.dataDir, ['users', 'erase', 'lena@shop.example', '--yes', '--json'])
    expect(erased).toMatchObject({ code: 0, json: { status: 'erased' } })
    await settlePayments(shop.app, { underWay: 'take' })
    expect(shop.app.sandbox?.ledger().subscriptions).toMatchObject([{ status: 'canceled' }])
  })

  it('gives access until the end of the paid period after a cancellation', async () => {
    const { shop, lena } = await subscriber()
    const stripe = await shop.app.cards?.client?.()
    await stripe?.subscriptions.update(subscriptionId(shop), { cancel_at_period_end: true })
    await shop.app.sandbox?.deliverDue()
    expect(await seen(lena)).toEqual(['active', '2027-01-15', true, true, true])
    shop.clock.set(Date.parse('2027-01-15T12:00:00.000Z') - 1)
    const then = await logIn(shop, 'lena')
    expect(await seen(then)).toEqual(['active', '2027-01-15', true, true, true])
    shop.clock.advance(1)
    expect(await seen(then)).toEqual(['cancelled', '2027-01-15', true, false, false])
  })

  it('gives access until the end of the paid period when the gateway cancels it immediately', async () => {
    const { shop, lena } = await subscriber()
    const stripe = await shop.app.cards?.client?.()
    await stripe?.subscriptions.cancel(subscriptionId(shop))
    await shop.app.sandbox?.deliverDue()
    expect(await seen(lena)).toEqual(['cancelled', '2027-01-15', false, true, true])
    shop.clock.advance(365 * dayMs)
    expect((await seen(await logIn(shop, 'lena'))).slice(3)).toEqual([false, false])
  })

  it('ends with a refund, and a late event does not renew it', async () => {
    const { shop, lena, orderId } = await subscriber()
    await refundOrder(shop.app, orderId, {}, 'operator')
    expect(await seen(lena)).toEqual(['cancelled', '2026-01-15', false, false, false])
    await settlePayments(shop.app)
    expect(shop.app.sandbox?.ledger().subscriptions[0]?.status).toBe('canceled')
    await shop.app.sandbox?.deliverDue()
    expect(await seen(lena)).toEqual(['cancelled', '2026-01-15', false, false, false])
  })
})

describe('an account that a checkout creates', () => {
  it('has the benefits of its order immediately', async () => {
    const shop = await openShop(benefitCatalog)
    const guest = shop.visitor()
    const customer = {
      email: 'tove@shop.example',
      firstName: 'Tove',
      lastName: 'Lind',
      createAccount: true,
      password: 'tidal-basalt-93'
    }
    await buy(shop, guest, 'guild', { body: { customer } })
    const tove = await logIn(shop, 'tove')
    expect((await me(tove)).flags).toMatchObject({ hasActiveMembershipB: true, hasAnyCompletedStoreOrder: true })
  })
})

describe('a coupon of 100 % on a subscription', () => {
  it('counts for the first payment, and asks for the card that pays the renewals', async () => {
    const shop = await openShop(benefitCatalog)
    await operator(shop, ['coupons', 'create', '--code', 'FREEFIRST', '--percent', '100'])
    const lena = await registerUser(shop, 'lena')
    const items = [{ productId: productId(shop, 'almanac-pro'), quantity: 1 }]
    const cart = { items, couponCode: 'FREEFIRST' }
    const { data: quote } = await lena.post<{ total: number; recurring: { amount: number } | null }>(
      '/store/quote',
      cart
    )
    expect(quote).toMatchObject({ total: 0, recurring: { interval: expect.any(String) } })
    const { data } = await lena.post<{ checkoutUrl: string; orderId: string }>('/store/checkout-session', cart)
    expect(data.checkoutUrl).toContain('/sandbox/checkout/')
    const [session] = shop.app.sandbox?.ledger().sessions ?? []
    expect(session).toMatchObject({ amount_total: 0, mode: 'subscription', payment_method_collection: 'always' })
    await shop.app.sandbox?.payCheckout(session?.id ?? '')
    await shop.app.sandbox?.deliverDue()
    expect(await seen(lena)).toEqual(['active', '2027-01-15', false, true, true])
    expect(shop.app.sandbox?.ledger().charges).toEqual([])
    await renew(shop)
    expect(shop.app.sandbox?.ledger().charges).toMatchObject([{ amount: (quote.recurring?.amount ?? 0) * 100 }])
    const { data: own } = await lena.get<{ subscriptions: { recurring: unknown }[] }>('/me/subscriptions')
    expect(JSON.stringify(own)).toContain(`"amount":${quote.recurring?.amount}`)
  })

  it('says on the page of the order for how long it counts, before the card is asked for', async () => {
    const shop = await openShop(benefitCatalog, {}, { SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
    await operator(shop, ['coupons', 'create', '--code', 'FREEFIRST', '--percent', '100'])
    const lena = await registerUser(shop, 'lena')
    const items = [{ productId: productId(shop, 'almanac-pro'), quantity: 1 }]
    const cart = { items, couponCode: 'FREEFIRST' }
    const { data } = await lena.post<{ checkoutUrl: string }>('/store/checkout-session', cart)
    const url = data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
    const { text } = await lena.get(url)
    expect(text).toContain('The discount counts for this payment only. Then ')
    expect(text).toContain('value="card"')
    expect(text).not.toContain('value="free"')
    expect(text).not.toContain('value="manual"')
  })
})
