import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { createAffiliateCoupon, setCouponAffiliate } from '../../src/shop/affiliates/coupons.ts'
import { decideAffiliate } from '../../src/shop/affiliates/decide.ts'
import { getAffiliate } from '../../src/shop/affiliates/find.ts'
import { disableCoupon } from '../../src/shop/catalog/coupons.ts'
import { erasePerson } from '../../src/shop/customers/erase-person.ts'
import { recordBuyerEmail } from '../../src/shop/orders/buyer.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import { explainOrder } from '../../src/shop/orders/explain.ts'
import { balanceOf } from '../../src/shop/referrals/ledger.ts'
import { findReferralOfOrder } from '../../src/shop/referrals/store.ts'
import { checkOut, handoff, loggedIn, orderOf, set, shopFor } from '../api/checkout-support.ts'
import { quay } from '../support/addresses.ts'
import type { Browser } from '../support/browser.ts'
import { shopstead } from '../support/command-line.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import type { RunningShop } from '../support/running-shop.ts'

const lamp = { productId: 1, quantity: 1 }
const ada = { email: 'ada@example.com' }

/** Mira and Jonas are affiliates with a coupon of 10 percent each; a lamp costs 40.00. */
async function openShop(): Promise<RunningShop> {
  const shop = await shopFor({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: { products: [{ slug: 'lamp', name: 'Lamp', price: '40.00' }] },
    settings: { 'limits.checkout_ip': 'off', 'checkout.combinePercentCoupons': 'true' }
  })
  const { db, clock } = shop.app
  for (const code of ['mira', 'jonas']) {
    const { id: userId } = await makeUser(shop.app, { email: `${code}@shop.example` })
    createAffiliate(db, { userId, code, status: 'active', rateBps: null }, clock.now())
    createAffiliateCoupon(db, coupon(`${code.toUpperCase()}10`), code, clock.now())
  }
  return shop
}

function coupon(code: string) {
  const limits = {
    exclusive: false,
    startsAt: null,
    endsAt: null,
    minTotalMinor: null,
    maxUses: null,
    maxUsesPerCustomer: null
  }
  return { code, percentBps: 1000, amountMinor: null, ...limits, products: [], categories: [] }
}

async function buy(shop: RunningShop, body: object, query = '', visitor: Browser = shop.visitor()) {
  const answer = await checkOut(visitor, { items: [lamp], customer: ada, ...handoff, ...body }, { query })
  expect(answer.status).toBe(200)
  const { order, attribution } = orderOf(shop, answer)
  const referral = findReferralOfOrder(shop.app.db, order.id)
  const explained = explainOrder(shop.app.db, order.id).attribution.map(({ rule, input, outcome }) =>
    [rule, input, outcome].join(' | ')
  )
  const cookies = answer.headers.getSetCookie().filter((cookie) => cookie.startsWith('shopstead_ref'))
  const credited = [attribution?.affiliateRef, attribution?.creditedBy, referral?.status, referral?.amountMinor]
  return { order, attribution, referral, explained, cookies, credited }
}

const nobody = ['', null, undefined, undefined]

describe('the coupon of an affiliate', () => {
  it('credits the affiliate without a link and without a cookie', async () => {
    const shop = await openShop()
    const { credited, explained, cookies, attribution } = await buy(shop, { couponCode: 'mira10' })
    expect(credited).toEqual(['mira', 'coupon', 'unpaid', 360])
    expect(explained.slice(0, 2)).toEqual([
      'coupon | MIRA10 of affiliate mira | credited: the coupon belongs to an active affiliate other than the buyer',
      'ref | none | no affiliate: the checkout had no ref'
    ])
    expect(cookies).toEqual([])
    expect(attribution).toMatchObject({
      sourceType: 'referral',
      utmSource: 'affiliate:mira',
      utmMedium: 'affiliate',
      utmContent: `visit:${attribution?.visitId}`
    })
  })

  it.each([
    ['coupon,link,customer', 'mira', 'coupon', 'ref | ref=jonas | not credited: the coupon comes first'],
    ['link,coupon,customer', 'jonas', 'link', 'coupon | MIRA10 of affiliate mira | not credited: the link comes first']
  ])('and a link of another affiliate follow affiliates.precedence %s', async (precedence, code, by, loser) => {
    const shop = await openShop()
    set(shop, { 'affiliates.precedence': precedence })
    const bought = await buy(shop, { couponCode: 'MIRA10' }, '?ref=jonas&campaign=spring')
    expect(bought.credited).toEqual([code, by, 'unpaid', 360])
    expect(bought.explained).toContain(`${loser} (affiliates.precedence)`)
    expect(bought.attribution?.affiliateCampaign).toBe(by === 'link' ? 'spring' : '')
    expect(bought.cookies.length).toBe(by === 'link' ? 1 : 0)
  })

  it('lets a link count when its own affiliate does not', async () => {
    const shop = await openShop()
    decideAffiliate(shop.app.db, 'mira', 'deactivate', shop.app.clock.now())
    const bought = await buy(shop, { couponCode: 'MIRA10' }, '?ref=jonas')
    expect(bought.credited).toEqual(['jonas', 'link', 'unpaid', 360])
    expect(bought.explained[0]).toBe('coupon | MIRA10 of affiliate mira | ignored: the affiliate was not active')
    expect((await buy(shop, { couponCode: 'MIRA10' })).credited).toEqual(nobody)
  })

  it('credits the first of two affiliates in the order of the cart', async () => {
    const shop = await openShop()
    const first = await buy(shop, { couponCodes: ['JONAS10', 'MIRA10'] })
    expect(first.credited.slice(0, 2)).toEqual(['jonas', 'coupon'])
    expect(first.explained[1]).toContain('not credited: the coupon comes first')
    expect((await buy(shop, { couponCodes: ['MIRA10', 'JONAS10'] })).credited[0]).toBe('mira')
  })

  it('credits nobody with an order of the affiliate, whose discount stays', async () => {
    const shop = await openShop()
    const mira = shop.visitor()
    await mira.post('/auth/login', { email: 'mira@shop.example', password: goodPassword })
    const own = await buy(shop, { couponCode: 'MIRA10' }, '', mira)
    expect(own.credited).toEqual(nobody)
    expect(own.explained[0]).toBe('coupon | MIRA10 of affiliate mira | ignored: the buyer is the affiliate')
    expect(own.order.totalMinor).toBe(3600)
    const asGuest = await buy(shop, { couponCode: 'MIRA10', customer: { email: 'Mira@shop.example' } })
    expect(asGuest.credited).toEqual(nobody)
    const plus = await buy(shop, { couponCode: 'MIRA10', customer: { email: 'mira+2@shop.example' } })
    expect(plus.referral).toMatchObject({ status: 'pending', review: ['plus_address', 'same_card'] })
  })

  it('is refused when it was disabled after the quote, and credits nobody', async () => {
    const shop = await openShop()
    const visitor = shop.visitor()
    const body = { items: [lamp], couponCode: 'MIRA10' }
    expect((await visitor.post('/store/quote', body)).data).toMatchObject({ coupons: [{ accepted: true }] })
    disableCoupon(shop.app.db, 'MIRA10')
    expect((await checkOut(visitor, { ...body, customer: ada, ...handoff })).status).toBe(422)
    expect((await buy(shop, { couponCode: undefined }, '', visitor)).credited).toEqual(nobody)
  })

  it('of an erased affiliate keeps its discount, credits nobody, and can belong to nobody else', async () => {
    const shop = await openShop()
    const { db, clock } = shop.app
    erasePerson(db, getAffiliate(db, 'mira').userId, clock.now())
    const { order, credited } = await buy(shop, { couponCode: 'MIRA10' })
    expect([order.totalMinor, credited]).toEqual([3600, nobody])
    for (const ref of ['jonas', null])
      expect(() => setCouponAffiliate(db, 'MIRA10', ref, clock.now())).toThrow('whose account is erased')
    expect(() => setCouponAffiliate(db, 'JONAS10', '1', clock.now())).toThrow(
      'The account of this affiliate is erased.'
    )
    expect((await buy(shop, { couponCode: 'JONAS10' })).credited[0]).toBe('jonas')
  })

  it('counts for later orders only when it gets another affiliate', async () => {
    const shop = await openShop()
    const { db, clock } = shop.app
    const before = await buy(shop, { couponCode: 'MIRA10' })
    setCouponAffiliate(db, 'MIRA10', 'jonas', clock.now())
    setCouponAffiliate(db, 'MIRA10', 'jonas', clock.now())
    expect((await buy(shop, { couponCode: 'MIRA10' })).credited[0]).toBe('jonas')
    expect(explainOrder(db, before.order.id).attribution[0]?.input).toBe('MIRA10 of affiliate mira')
    setCouponAffiliate(db, 'MIRA10', null, clock.now())
    expect((await buy(shop, { couponCode: 'MIRA10' })).credited).toEqual(nobody)
  })
})

describe('the coupon of an affiliate on the hosted page', () => {
  const openOrder = async (shop: RunningShop, body: object = {}, query = '') => {
    const visitor = shop.visitor()
    const sent = { items: [lamp], shippingAddress: quay, ...body }
    const { data } = await visitor.post<{ checkoutUrl: string }>(`/store/checkout-session${query}`, sent)
    const url = data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
    const order = () => getOrderByPublicToken(shop.app.db, url.slice(url.lastIndexOf('/') + 1))
    const credit = () => {
      const { affiliateRef, creditedBy } = explained(shop, order().id)
      const referral = findReferralOfOrder(shop.app.db, order().id)
      return [affiliateRef, creditedBy, referral?.status, referral?.amountMinor, referral?.rejectedFor]
    }
    return { type: (code: string) => visitor.submit(url, { coupon: code }), order, credit }
  }
  const explained = (shop: RunningShop, id: number) =>
    shop.app.db.sqlite
      .prepare<[number], { affiliateRef: string; creditedBy: string | null }>(
        'SELECT affiliate_ref AS affiliateRef, credited_by AS creditedBy FROM order_attributions WHERE order_id = ?'
      )
      .get(id) ?? { affiliateRef: '', creditedBy: null }
  const pending = (shop: RunningShop) => [1, 2].map((id) => balanceOf(shop.app.db, id).pendingMinor)

  it('credits an order that had no affiliate', async () => {
    const shop = await openShop()
    const { type, credit, order } = await openOrder(shop, {}, '?utm_source=news')
    expect(credit()).toEqual(['', null, undefined, undefined, undefined])
    await type('MIRA10')
    expect(credit()).toEqual(['mira', 'coupon', 'pending', 360, null])
    expect(order().totalMinor).toBe(3600)
    expect(pending(shop)).toEqual([360, 0])
  })

  it('takes the order over from a link, or leaves it, by affiliates.precedence', async () => {
    const shop = await openShop()
    const { type, credit } = await openOrder(shop, { customer: ada }, '?ref=jonas&campaign=spring')
    expect(pending(shop)).toEqual([0, 400])
    await type('MIRA10')
    expect(credit()).toEqual(['mira', 'coupon', 'pending', 360, null])
    expect(pending(shop)).toEqual([360, 0])
    set(shop, { 'affiliates.precedence': 'link,coupon,customer' })
    const other = await openOrder(shop, { customer: { email: 'eve@example.com' } }, '?ref=jonas&campaign=spring')
    await other.type('MIRA10')
    expect(other.credit()).toEqual(['jonas', 'link', 'pending', 360, null])
    const types = shop.app.db.sqlite.prepare("SELECT type FROM events WHERE type LIKE 'referral.%' ORDER BY id").pluck()
    expect(types.all()).toEqual(['referral.created', 'referral.rejected', 'referral.created', 'referral.created'])
  })

  it('leaves the link of another affiliate to an order of its own affiliate', async () => {
    const shop = await openShop()
    const { type, credit } = await openOrder(shop, { customer: { email: 'mira@shop.example' } }, '?ref=jonas')
    await type('MIRA10')
    expect(credit()).toEqual(['jonas', 'link', 'pending', 360, null])
  })

  it('rejects the referral when the affiliate turns out to be the buyer', async () => {
    const shop = await openShop()
    const { type, credit, order } = await openOrder(shop)
    await type('MIRA10')
    write(shop.app.db, (tx) => recordBuyerEmail(tx, order().id, 'mira@shop.example', shop.app.clock.now()))
    expect(credit()).toEqual(['mira', 'coupon', 'rejected', 360, 'self'])
    await type('JONAS10')
    expect(credit()).toEqual(['jonas', 'coupon', 'pending', 324, null])
  })
})

describe('coupons of affiliates on the command line', () => {
  it('are created, listed, shown, moved and explained', async () => {
    const shop = await openShop()
    const run = (...args: string[]) => shopstead(shop.dataDir, [...args, '--json'])
    const created = await run('coupons', 'create', '--code', 'SPRING', '--percent', '5', '--affiliate', 'mira')
    expect(created).toMatchObject({ code: 0, json: { coupon: { code: 'SPRING', affiliate: 'mira' } } })
    expect((await run('affiliates', 'show', 'mira')).json).toMatchObject({ coupons: ['MIRA10', 'SPRING'] })
    expect((await run('coupons', 'set', 'SPRING', '--affiliate', 'jonas')).json).toMatchObject({
      coupon: { affiliate: 'jonas' }
    })
    expect((await run('coupons', 'set', 'SPRING', '--no-affiliate')).json).toMatchObject({
      coupon: { affiliate: null }
    })
    const { coupons } = (await run('coupons', 'list')).json as { coupons: { code: string; affiliate: string | null }[] }
    expect(coupons.flatMap(({ code, affiliate }) => (affiliate === null ? [] : [`${code} ${affiliate}`]))).toEqual([
      'JONAS10 jonas',
      'MIRA10 mira'
    ])
    const events = shop.app.db.sqlite.prepare("SELECT type FROM events WHERE type LIKE 'affiliate.coupon%' ORDER BY id")
    expect(events.pluck().all().slice(2)).toEqual([
      'affiliate.coupon_added',
      'affiliate.coupon_removed',
      'affiliate.coupon_added',
      'affiliate.coupon_removed'
    ])
  })

  it('are refused with one line, and nothing changes', async () => {
    const shop = await openShop()
    const run = (...args: string[]) => shopstead(shop.dataDir, args)
    const count = () => shop.app.db.sqlite.prepare('SELECT count(*) FROM coupons').pluck().get()
    const before = count()
    const unknown = await run('coupons', 'create', '--code', 'NEW', '--percent', '5', '--affiliate', 'nobody')
    expect([unknown.code, unknown.stderr.trim()]).toEqual([1, '✖ No affiliate has this code or id.'])
    const known = await run('coupons', 'create', '--code', 'mira10', '--percent', '5', '--affiliate', 'mira')
    expect(known.stderr.trim()).toBe('✖ A coupon with this code already exists.')
    expect((await run('coupons', 'set', 'MIRA10')).stderr).toContain('Pass --affiliate CODE or --no-affiliate.')
    expect(count()).toBe(before)
  })
})

it('an order by phone says which coupon credits another affiliate than the one who was named', async () => {
  const shop = await openShop()
  await loggedIn(shop)
  const env = { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' }
  const run = (...args: string[]) => shopstead(shop.dataDir, args, { env })
  const order = ['orders', 'create', '--email', 'ada@example.com', '--item', 'lamp:1', '--coupon', 'MIRA10']
  expect((await run(...order, '--ref', 'jonas')).stderr).toContain(
    'Credits no affiliate: the coupon credits mira, which affiliates.precedence puts first.'
  )
  expect((await run(...order, '--ref', 'mira')).code).toBe(0)
})
