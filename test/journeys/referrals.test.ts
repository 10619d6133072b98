import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { activateUser, deactivateUser } from '../../src/shop/accounts/deactivate.ts'
import { balanceOf } from '../../src/shop/referrals/ledger.ts'
import { acceptAsOperator, rejectAsOperator } from '../../src/shop/payouts/decide-referral.ts'
import { decideAffiliate } from '../../src/shop/affiliates/decide.ts'
import { payPayouts } from '../../src/shop/payouts/pay.ts'
import { planPayouts } from '../../src/shop/payouts/plan.ts'
import { explainOrder } from '../../src/shop/orders/explain.ts'
import { confirmPayment, moveOrder } from '../../src/shop/orders/transition.ts'
import type { OrderStatus } from '../../src/shop/orders/states.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { quay } from '../support/addresses.ts'
import type { Browser } from '../support/browser.ts'
import { buy, logIn, dayMs, handOff, me, registerUser, openShop, order, ordersOf, pay } from './shop.ts'
import type { JourneyShop } from './shop.ts'

const catalog = {
  products: [
    { slug: 'mug', name: 'Mug', price: '20.00' },
    { slug: 'odd', name: 'Odd price', price: '9.99' },
    { slug: 'print', name: 'Print', price: '20.00', type: 'digital' },
    { slug: 'sheet', name: 'Free sheet', price: '0.00', type: 'digital' }
  ],
  coupons: [{ code: 'HALF', percent: 50 }]
}

type Referral = {
  id: number
  amountMinor: number
  currency: string
  status: string
  reason?: string
  createdAtUtc: string
}

/** Starts a shop with mira, an active affiliate, and lena, a buyer. */
async function affiliateShop(autoAccept = true) {
  const shop = await openShop(catalog, { 'affiliates.autoAccept': String(autoAccept) })
  const mira = await registerUser(shop, 'mira')
  expect((await mira.post('/affiliates/apply', { website: 'https://mira.example' })).status).toBe(200)
  decide(shop, 'approve')
  return { shop, mira, lena: await registerUser(shop, 'lena') }
}

function decide(shop: JourneyShop, decision: 'approve' | 'deactivate'): void {
  decideAffiliate(shop.app.db, 'mira', decision, shop.clock.now())
}

async function referrals(mira: Browser): Promise<Referral[]> {
  const answer = await mira.get<{ referrals: Referral[] }>('/affiliates/referrals?limit=100')
  expect(Object.keys(JSON.parse(answer.text) as object)).toEqual(['data'])
  return answer.data.referrals
}

async function balance(mira: Browser) {
  return (await mira.get<{ balance: Record<string, unknown> }>('/affiliates/me')).data.balance
}

const by = { by: 'operator', reason: 'a test' }

function move(shop: JourneyShop, orderId: number, to: OrderStatus): void {
  write(shop.app.db, (tx) => void moveOrder(tx, orderId, to, by, shop.clock.now()))
}

function accept(shop: JourneyShop, id: number): void {
  acceptAsOperator(shop.app.db, id, shop.clock.now())
}

const plansOf = (shop: JourneyShop) => planPayouts(shop.app.db, shop.clock.now())

function payOut(shop: JourneyShop) {
  return payPayouts(shop.app.db, { by: 'lena', approved: plansOf(shop) }, shop.clock.now())
}

/** What the buyer and the affiliate see: order status, converted, referral status and amount, unpaid and paid balance. */
async function seen(lena: Browser, mira: Browser) {
  const [bought] = await ordersOf(lena)
  const [referral] = await referrals(mira)
  const { unpaidMinor, paidMinor } = await balance(mira)
  const converted = bought?.['affiliateVisitConverted']
  return [bought?.status, converted, referral?.status, referral?.amountMinor, unpaidMinor, paidMinor]
}

const link = { query: '?ref=mira&campaign=spring' }

describe('a referral', () => {
  it('that is accepted automatically follows its order from payment to payout, refund and set-off', async () => {
    const { shop, mira, lena } = await affiliateShop()
    const placed = await order(shop, lena, 'mug', link)
    expect((await ordersOf(lena))[0]).toMatchObject({
      affiliateRef: 'mira',
      affiliateCampaign: 'spring',
      affiliateReferralCreated: true,
      affiliateVisitId: 1,
      affiliateReferralId: 1,
      affiliateVisitConverted: false,
      orderAttributionSourceType: 'referral',
      orderAttributionUtmSource: 'affiliate:mira',
      orderAttributionUtmMedium: 'affiliate',
      orderAttributionUtmCampaign: 'spring',
      orderAttributionUtmContent: 'visit:1'
    })
    expect(await referrals(mira)).toEqual([
      { id: 1, amountMinor: 200, currency: 'EUR', status: 'pending', createdAtUtc: '2026-01-15T12:00:00.000Z' }
    ])
    expect(await balance(mira)).toEqual({ currency: 'EUR', pendingMinor: 200, unpaidMinor: 0, paidMinor: 0 })
    await pay(lena, placed)
    expect(await seen(lena, mira)).toEqual(['processing', true, 'unpaid', 200, 200, 0])
    move(shop, placed.orderId, 'completed')
    expect(await seen(lena, mira)).toEqual(['completed', true, 'unpaid', 200, 200, 0])
    await refundOrder(shop.app, placed.orderId, { amountMinor: 500 }, 'operator')
    expect(await seen(lena, mira)).toEqual(['completed', true, 'unpaid', 150, 150, 0])

    shop.clock.advance(30 * dayMs - 1)
    expect(plansOf(shop)).toMatchObject([{ amountMinor: 0, heldMinor: 150 }])
    expect(payOut(shop)).toEqual([])
    shop.clock.advance(1)
    expect(payOut(shop)).toMatchObject([{ payout: { amountMinor: 150 } }])
    expect(payOut(shop)).toEqual([])
    const [lena2, mira2] = [await logIn(shop, 'lena'), await logIn(shop, 'mira')]
    expect(await seen(lena2, mira2)).toEqual(['completed', true, 'paid', 150, 0, 150])
    await refundOrder(shop.app, placed.orderId, { amountMinor: 1_000 }, 'operator')
    expect(await seen(lena2, mira2)).toEqual(['completed', true, 'paid', 50, -100, 150])
    await refundOrder(shop.app, placed.orderId, {}, 'operator')
    expect(await seen(lena2, mira2)).toEqual(['refunded', false, 'rejected', 0, -150, 150])

    await pay(lena2, await order(shop, lena2, 'mug', { ...link, quantity: 2 }))
    expect(await balance(mira2)).toMatchObject({ unpaidMinor: 250, paidMinor: 150 })
    shop.clock.advance(31 * dayMs)
    expect(payOut(shop)).toMatchObject([{ payout: { amountMinor: 250 } }])
    const mira3 = await logIn(shop, 'mira')
    expect(await balance(mira3)).toEqual({ currency: 'EUR', pendingMinor: 0, unpaidMinor: 0, paidMinor: 400 })
  })

  it('can be accepted by an operator only when its order is paid, and converts only then', async () => {
    const { shop, mira, lena } = await affiliateShop(false)
    const refusal = expect.objectContaining({ code: 'TRANSITION_REFUSED' })
    const placed = await order(shop, lena, 'mug', link)
    expect(() => accept(shop, 1)).toThrow(refusal)
    await pay(lena, placed)
    expect(await seen(lena, mira)).toEqual(['processing', false, 'pending', 200, 0, 0])
    move(shop, placed.orderId, 'on-hold')
    expect(() => accept(shop, 1)).toThrow(refusal)
    move(shop, placed.orderId, 'completed')
    expect(await seen(lena, mira)).toEqual(['completed', false, 'pending', 200, 0, 0])
    await refundOrder(shop.app, placed.orderId, { amountMinor: 1_000 }, 'operator')
    expect(await seen(lena, mira)).toEqual(['completed', false, 'pending', 100, 0, 0])
    accept(shop, 1)
    accept(shop, 1)
    expect(await seen(lena, mira)).toEqual(['completed', true, 'unpaid', 100, 100, 0])
    await refundOrder(shop.app, placed.orderId, {}, 'operator')
    expect(await seen(lena, mira)).toEqual(['refunded', false, 'rejected', 0, 0, 0])
    expect(() => accept(shop, 1)).toThrow(refusal)
  })

  it.each([true, false])(
    'is reopened when a failed order is paid later (automatic acceptance: %s)',
    async (autoAccept) => {
      const { shop, mira, lena } = await affiliateShop(autoAccept)
      const card = { paymentToken: 'pm_card_visa_chargeDeclined' }
      const declined = await handOff(shop, lena, 'mug', { ...link, body: card })
      expect(declined.status).toBe(402)
      expect(await seen(lena, mira)).toEqual(['failed', false, 'rejected', 200, 0, 0])
      const [failed] = await ordersOf(lena)
      write(shop.app.db, (tx) => confirmPayment(tx, failed?.id ?? 0, by, shop.clock.now()))
      const accepted = ['processing', true, 'unpaid', 200, 200, 0]
      expect(await seen(lena, mira)).toEqual(autoAccept ? accepted : ['processing', false, 'pending', 200, 0, 0])
      expect(await referrals(mira)).toHaveLength(1)
    }
  )

  it.each([true, false])(
    'is reopened when a cancelled order is paid late (automatic acceptance: %s)',
    async (autoAccept) => {
      const { shop, mira, lena } = await affiliateShop(autoAccept)
      const placed = await order(shop, lena, 'mug', link)
      move(shop, placed.orderId, 'cancelled')
      expect(await seen(lena, mira)).toEqual(['cancelled', false, 'rejected', 200, 0, 0])
      await pay(lena, placed)
      const accepted = ['processing', true, 'unpaid', 200, 200, 0]
      expect(await seen(lena, mira)).toEqual(autoAccept ? accepted : ['processing', false, 'pending', 200, 0, 0])
    }
  )

  it('is held during a dispute, released when it is won, and rejected when it is lost', async () => {
    const { shop, mira, lena } = await affiliateShop()
    const { sandbox } = shop.app
    const dispute = async (orderIndex: number): Promise<string> => {
      const opened = sandbox?.openDispute(sandbox.ledger().intents[orderIndex]?.id ?? '')
      await sandbox?.deliverDue()
      return opened?.id ?? ''
    }
    const end = async (id: string, outcome: 'won' | 'lost') => {
      sandbox?.decideDispute(id, outcome)
      await sandbox?.deliverDue()
    }
    await pay(lena, await order(shop, lena, 'mug', link))
    const first = await dispute(0)
    expect(await seen(lena, mira)).toEqual(['on-hold', false, 'unpaid', 200, 200, 0])
    shop.clock.advance(31 * dayMs)
    expect(plansOf(shop)).toMatchObject([{ amountMinor: 0, heldMinor: 200 }])
    const [lena2, mira2] = [await logIn(shop, 'lena'), await logIn(shop, 'mira')]
    await end(first, 'won')
    expect(await seen(lena2, mira2)).toEqual(['processing', true, 'unpaid', 200, 200, 0])
    expect(payOut(shop)).toHaveLength(1)
    expect(await seen(lena2, mira2)).toEqual(['processing', true, 'paid', 200, 0, 200])
    const second = await dispute(0)
    expect(await seen(lena2, mira2)).toEqual(['on-hold', false, 'paid', 200, 0, 200])
    await end(second, 'lost')
    expect(await seen(lena2, mira2)).toEqual(['refunded', false, 'rejected', 0, -200, 200])
  })
})

describe('a referral and its affiliate', () => {
  it('stays rejected by an operator when its order is paid later, until the operator accepts it', async () => {
    const { shop, mira, lena } = await affiliateShop()
    const placed = await order(shop, lena, 'mug', link)
    rejectAsOperator(shop.app.db, 1, 'made up', shop.clock.now())
    await pay(lena, placed)
    expect(await seen(lena, mira)).toEqual(['processing', false, 'rejected', 200, 0, 0])
    accept(shop, 1)
    expect(await seen(lena, mira)).toEqual(['processing', true, 'unpaid', 200, 200, 0])
  })

  it('is not credited to an affiliate who was deactivated before the payment', async () => {
    const { shop, lena } = await affiliateShop()
    const placed = await order(shop, lena, 'mug', link)
    decide(shop, 'deactivate')
    await pay(lena, placed)
    expect((await ordersOf(lena))[0]).toMatchObject({ status: 'processing', affiliateVisitConverted: false })
    expect(balanceOf(shop.app.db, 1)).toMatchObject({ pendingMinor: 200, unpaidMinor: 0 })
    expect(() => accept(shop, 1)).toThrow(expect.objectContaining({ code: 'TRANSITION_REFUSED' }))
    decide(shop, 'approve')
    accept(shop, 1)
    expect((await ordersOf(lena))[0]).toMatchObject({ affiliateVisitConverted: true })
  })

  it('is not credited to an affiliate whose user account was deactivated before the payment', async () => {
    const { shop, mira, lena } = await affiliateShop()
    const placed = await order(shop, lena, 'mug', link)
    const { id } = (await me(mira)).user
    write(shop.app.db, (tx) => void deactivateUser(tx, id, shop.clock.now()))
    await pay(lena, placed)
    expect((await ordersOf(lena))[0]).toMatchObject({ status: 'processing', affiliateVisitConverted: false })
    expect(() => accept(shop, 1)).toThrow(expect.objectContaining({ code: 'TRANSITION_REFUSED' }))
    write(shop.app.db, (tx) => void activateUser(tx, id, shop.clock.now()))
    accept(shop, 1)
    expect((await ordersOf(lena))[0]).toMatchObject({ affiliateVisitConverted: true })
  })

  it('earns ten percent of the total after discounts, rounded half up', async () => {
    const { shop, mira, lena } = await affiliateShop()
    await order(shop, lena, 'odd', link)
    await order(shop, lena, 'odd', { ...link, body: { couponCode: 'HALF' } })
    // Ten percent of 9.99 is 99.9 cents, rounded to 100.
    const [half, whole] = await referrals(mira)
    const total = (await ordersOf(lena))[0]?.total ?? 0
    expect([whole?.amountMinor, half?.amountMinor]).toEqual([100, Math.round(total * 10)])
  })
})

describe('an order is not credited', () => {
  const notCredited = {
    affiliateRef: '',
    affiliateCampaign: '',
    affiliateReferralCreated: false,
    affiliateVisitId: null,
    affiliateReferralId: null,
    affiliateVisitConverted: null,
    orderAttributionSourceType: 'typein'
  }

  it('to its own buyer who is logged in', async () => {
    const { shop, mira } = await affiliateShop()
    await order(shop, mira, 'mug', link)
    expect((await ordersOf(mira))[0]).toMatchObject(notCredited)
    expect(await referrals(mira)).toEqual([])
    expect(explainOrder(shop.app.db, 1).lines.join('\n')).toContain('the buyer is the affiliate')
  })

  it.each([
    { how: 'the account email', body: { customer: { email: 'MIRA@shop.example' } } },
    { how: 'the account email in the billing address', body: { billingAddress: { email: ' mira@Shop.example ' } } },
    { how: 'the billing email', body: { customer: { email: 'Bills@mira.example' } } },
    {
      how: 'the billing email in the billing address, beside another email',
      body: { customer: { email: 'else@shop.example' }, billingAddress: { email: 'bills@mira.example' } }
    }
  ])('to its own buyer who is a guest with $how', async ({ body }) => {
    const { shop, mira } = await affiliateShop()
    await mira.send('PATCH', '/me', { billingEmail: 'bills@mira.example' })
    const guest = shop.visitor()
    const { orderId } = await order(shop, guest, 'mug', { ...link, body })
    expect(explainOrder(shop.app.db, orderId).lines.join('\n')).toContain('the buyer is the affiliate')
    expect(await referrals(mira)).toEqual([])
    expect(guest.cookies.has('shopstead_ref')).toBe(false)
  })

  it('to its own buyer whose email is entered on the payment page: the referral is rejected, the attribution stays', async () => {
    const { shop, mira } = await affiliateShop()
    const guest = shop.visitor()
    const placed = await order(shop, guest, 'mug', link)
    expect((await referrals(mira)).map(({ status }) => status)).toEqual(['pending'])
    await pay(guest, placed, { email: 'Mira@shop.example' })
    expect(await referrals(mira)).toMatchObject([{ status: 'rejected' }])
    expect(await balance(mira)).toMatchObject({ pendingMinor: 0, unpaidMinor: 0 })
    const { attribution, referral } = explainOrder(shop.app.db, placed.orderId)
    expect(JSON.stringify(attribution)).toContain('affiliate:mira')
    expect(referral).toContainEqual(expect.objectContaining({ rule: 'status', outcome: 'rejected: self' }))
    expect(referral).toContainEqual(expect.objectContaining({ rule: 'visit converted', outcome: 'false' }))
    expect(() => accept(shop, 1)).toThrow(expect.objectContaining({ code: 'TRANSITION_REFUSED' }))
  })

  it('before a review, if its buyer pays with a card of the affiliate, on the page or by a token', async () => {
    const { shop, mira, lena } = await affiliateShop()
    await buy(shop, mira, 'mug')
    await buy(shop, lena, 'mug', link)
    expect((await handOff(shop, lena, 'mug', { ...link, body: { shippingAddress: quay } })).status).toBe(200)
    await pay(lena, await order(shop, lena, 'mug', link), { payment_method: 'pm_card_mastercard' })
    expect((await referrals(mira)).map(({ status, reason }) => [status, reason])).toEqual([
      ['unpaid', undefined],
      ['pending', 'review'],
      ['pending', 'review']
    ])
    expect(explainOrder(shop.app.db, 2).lines.join('\n')).toContain('with the same card')
  })

  it('when its total is zero, but the visit counts', async () => {
    const { shop, mira, lena } = await affiliateShop()
    await order(shop, lena, 'sheet', link)
    expect((await ordersOf(lena))[0]).toMatchObject({
      status: 'completed',
      affiliateRef: 'mira',
      affiliateReferralCreated: false,
      affiliateVisitId: 1,
      affiliateReferralId: null,
      affiliateVisitConverted: false,
      orderAttributionSourceType: 'referral'
    })
    expect(await referrals(mira)).toEqual([])
    expect(explainOrder(shop.app.db, 1).lines.join('\n')).toContain('there is no amount to earn a commission on')
  })

  it.each(['unknown', '2', '0', 'mira2', '%20'])('when the ref is %s', async (ref) => {
    const { shop, lena } = await affiliateShop()
    await order(shop, lena, 'mug', { query: `?ref=${ref}&campaign=spring` })
    expect((await ordersOf(lena))[0]).toMatchObject(notCredited)
  })

  it('to an affiliate who is not active', async () => {
    const { shop, lena } = await affiliateShop()
    decide(shop, 'deactivate')
    await order(shop, lena, 'mug', { query: '?ref=mira&utm_source=letter' })
    expect((await ordersOf(lena))[0]).toMatchObject({ ...notCredited, orderAttributionSourceType: 'utm' })
    expect(explainOrder(shop.app.db, 1).lines.join('\n')).toContain('the affiliate was not active')
  })
})

describe('an affiliate', () => {
  it.each(['mira', 'MIRA', 'Mira', '1', '%20mira%20'])('is credited by the ref %s', async (ref) => {
    const { shop, mira, lena } = await affiliateShop()
    await order(shop, lena, 'mug', { query: `?ref=${ref}` })
    expect((await ordersOf(lena))[0]).toMatchObject({
      affiliateRef: 'mira',
      affiliateCampaign: '',
      orderAttributionUtmSource: 'affiliate:mira',
      orderAttributionUtmCampaign: null
    })
    expect(await referrals(mira)).toHaveLength(1)
    expect(lena.cookies.get('shopstead_ref')).toBe('mira')
  })

  it('has the current status in the entitlements', async () => {
    const { shop, mira } = await affiliateShop()
    const affiliate = async () => (await me(mira)).entitlements.affiliate
    expect(await affiliate()).toEqual({ id: 1, isActive: true, status: 'active' })
    decide(shop, 'deactivate')
    expect(await affiliate()).toEqual({ id: 1, isActive: false, status: 'inactive' })
  })
})

describe('the explanation of an order', () => {
  it('lists the rules, for an order with a referral and for one without', async () => {
    const { shop, lena } = await affiliateShop(false)
    const placed = await order(shop, lena, 'mug', { query: '?ref=mira&utm_source=letter' })
    await pay(lena, placed)
    const explained = explainOrder(shop.app.db, placed.orderId)
    expect(explained.attribution.map(({ rule }) => rule)).toEqual([
      'ref',
      'source type',
      'order attribution',
      'marketing values',
      'visit'
    ])
    expect(explained.referral).toMatchObject([
      { rule: 'commission', input: expect.stringContaining('10%') },
      { rule: 'line 1', input: "Mug, €20.00: 10%, the shop's rate", outcome: '€2.00' },
      { rule: 'status', outcome: 'pending: an operator must accept it' },
      { rule: 'visit converted', outcome: 'false' }
    ])
    accept(shop, 1)
    await refundOrder(shop.app, placed.orderId, { amountMinor: 1_000 }, 'operator')
    const ledger = explainOrder(shop.app.db, placed.orderId).referral.filter(({ rule }) => rule === 'ledger')
    expect(ledger.map(({ input }) => input.split(',')[0])).toEqual(['earned', 'taken_back'])
    const bare = await order(shop, shop.visitor(), 'mug')
    expect(explainOrder(shop.app.db, bare.orderId).referral).toEqual([
      { rule: 'referral', input: 'no credited affiliate', outcome: 'none' }
    ])
  })
})

describe('a renewal of a referred subscription', () => {
  const club = {
    slug: 'club',
    name: 'Club',
    price: '8.00',
    type: 'digital',
    grants: [{ kind: 'subscription', interval: 'month' }]
  }

  it.each([
    ['earns a commission with the setting', 'true', [80, 80]],
    ['earns none without it', 'false', [80]]
  ])('%s', async (_title, renewals, commissions) => {
    const shop = await openShop({ ...catalog, products: [club] }, { 'affiliates.renewals': renewals })
    const mira = await registerUser(shop, 'mira')
    await mira.post('/affiliates/apply', { website: 'https://mira.example' })
    decide(shop, 'approve')
    const lena = await registerUser(shop, 'lena')
    const bought = await order(shop, lena, 'club', link)
    await pay(lena, bought)
    const { sandbox } = shop.app
    sandbox?.renewSubscription(sandbox.ledger().subscriptions[0]?.id ?? '', 'paid')
    await sandbox?.deliverDue()
    const [renewal] = await ordersOf(lena)
    expect(renewal).toMatchObject({ total: 8, affiliateVisitConverted: commissions.length === 2 })
    expect((await referrals(mira)).map(({ amountMinor }) => amountMinor)).toEqual(commissions)
  })
})
