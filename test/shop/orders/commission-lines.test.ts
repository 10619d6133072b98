import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { setCouponAffiliate } from '../../../src/shop/affiliates/coupons.ts'
import { addRate, endRate, setOwnRate } from '../../../src/shop/affiliates/rates.ts'
import type { NewRate } from '../../../src/shop/affiliates/rates.ts'
import { getCoupon } from '../../../src/shop/catalog/coupons.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { explainOrder } from '../../../src/shop/orders/explain.ts'
import { reverseRefund } from '../../../src/shop/orders/transition.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import { addCoupon } from '../../../src/shop/orders/reprice-order.ts'
import { acceptAsOperator } from '../../../src/shop/payouts/decide-referral.ts'
import { balanceOf, entriesOf } from '../../../src/shop/referrals/ledger.ts'
import { linesOf } from '../../../src/shop/referrals/lines.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import {
  couponLine,
  credited,
  draft,
  giveBack,
  line,
  makeAffiliate,
  makeCategory,
  makeCoupon,
  makeProduct,
  makeUser,
  move,
  place,
  referralOf
} from './support.ts'

const dayMs = 86_400_000
const cause = { by: 'test', reason: 'a test' }

/**
 * Mira is an affiliate with the shop's rate of 10 %. A lamp (20.00) is in light > oil, a bowl (10.00) in kitchen, and a card
 * (50.00) in none.
 */
function openShop() {
  const db = emptyShop()
  const affiliate = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
  const [lamp, bowl, card] = ['lamp', 'bowl', 'card'].map((slug) => makeProduct(db, { slug })) as [
    number,
    number,
    number
  ]
  const light = makeCategory(db, 'light', [lamp])
  makeCategory(db, 'oil', [lamp], light)
  makeCategory(db, 'kitchen', [bowl])
  const coupon = makeCoupon(db)
  const items = {
    lamp: line(lamp, { unitPriceMinor: 2_000, name: 'Lamp' }),
    bowl: line(bowl, { unitPriceMinor: 1_000, name: 'Bowl' }),
    card: line(card, { unitPriceMinor: 5_000, name: 'Card' })
  }
  const buy = (names: readonly (keyof typeof items)[], changes: Parameters<typeof draft>[1] = {}, now = noon) =>
    place(
      db,
      draft(
        names.map((name) => items[name]),
        { attribution: credited(affiliate), ...changes }
      ),
      now
    )
  const add = (rate: NewRate) => addRate(db, rate, noon)
  return { db, affiliate, coupon, items, buy, add }
}

/** `rate source commission` of each line, what refunds took back of it, and the amount of the referral. */
function commissionOf(db: Db, orderId: number) {
  const referral = referralOf(db, orderId)
  const lines = referral === undefined ? [] : linesOf(db, referral.id)
  return {
    lines: lines.map(({ rateBps, source, commissionMinor }) => `${rateBps / 100} ${source} ${commissionMinor}`),
    takenBack: lines.map(({ takenBackMinor }) => takenBackMinor),
    amount: referral?.amountMinor,
    status: referral?.status,
    reason: referral?.rejectedFor
  }
}

function typeCoupon(db: Db, id: number, now: number): void {
  write(db, (tx) => addCoupon(tx, getOrder(tx, id), getCoupon(tx, 'WELCOME10'), now))
}

describe('the rate of a line', () => {
  it("is the shop's, the affiliate's, the one of its deepest category, its product, or the coupon", () => {
    const { db, buy, add, coupon } = openShop()
    expect(commissionOf(db, buy(['lamp', 'bowl', 'card']).id)).toMatchObject({
      lines: ['10 shop 200', '10 shop 100', '10 shop 500'],
      amount: 800
    })
    setOwnRate(db, 'mira', { rateBps: 2_000 }, noon)
    add({ category: 'light', rateBps: 300 })
    expect(commissionOf(db, buy(['lamp', 'bowl']).id).lines).toEqual(['3 category 60', '20 affiliate 200'])
    add({ category: 'oil', rateBps: 400 })
    expect(commissionOf(db, buy(['lamp']).id).lines).toEqual(['4 category 80'])
    add({ product: 'lamp', rateBps: 500 })
    expect(commissionOf(db, buy(['lamp']).id).lines).toEqual(['5 product 100'])
    add({ coupon: 'WELCOME10', rateBps: 100 })
    const coupons = [couponLine(coupon)]
    expect(commissionOf(db, buy(['lamp', 'bowl'], { coupons }).id).lines).toEqual(['1 coupon 20', '1 coupon 10'])
  })

  it('for one affiliate comes before one for all, and the lower of two before the other', () => {
    const { db, buy, add, items } = openShop()
    const jonas = makeAffiliate(db, makeUser(db, 'jonas@shop.example').id, 'jonas')
    add({ category: 'kitchen', rateBps: 500 })
    add({ category: 'kitchen', affiliate: 'mira', rateBps: 2_500 })
    expect(commissionOf(db, buy(['bowl']).id).lines).toEqual(['25 category 250'])
    expect(commissionOf(db, buy(['bowl'], { attribution: credited(jonas) }).id).lines).toEqual(['5 category 50'])
    makeCategory(db, 'glass', [items.bowl.productId])
    add({ category: 'glass', affiliate: 'mira', rateBps: 2_000 })
    expect(commissionOf(db, buy(['bowl']).id).lines).toEqual(['20 category 200'])
  })

  it('of a coupon is for the goods that the coupon is valid for', () => {
    const { db, buy, add, coupon, items } = openShop()
    db.sqlite.prepare('INSERT INTO coupon_products VALUES (?, ?)').run(coupon, items.lamp.productId)
    add({ coupon: 'WELCOME10', rateBps: null })
    const { lines, amount } = commissionOf(db, buy(['lamp', 'bowl'], { coupons: [couponLine(coupon)] }).id)
    expect([lines, amount]).toEqual([['0 excluded 0', '10 shop 100'], 100])
  })

  it('is nothing for a gift card, because the order that the card pays earns', () => {
    const { db, buy, add, items, affiliate } = openShop()
    add({ product: 'card', rateBps: 2_000 })
    const voucher = { ...items.card, type: 'gift_card' as const }
    const sell = (lines: (typeof voucher | typeof items.lamp)[]) =>
      commissionOf(db, place(db, draft(lines, { attribution: credited(affiliate) })).id)
    expect(commissionOf(db, buy(['card']).id).lines).toEqual(['20 product 1000'])
    expect(sell([voucher])).toMatchObject({ lines: ['0 excluded 0'], amount: 0, reason: 'order_excluded' })
    expect(sell([items.lamp, voucher])).toMatchObject({ lines: ['10 shop 200', '0 excluded 0'], amount: 200 })
    const { id } = place(db, draft([items.lamp, voucher], { attribution: credited(affiliate) }))
    expect(explainOrder(db, id).lines.join()).toContain('gift cards earn nothing')
    move(db, id, 'processing')
    giveBack(db, id, { items: [{ line: 1, quantity: 1 }] })
    expect(commissionOf(db, id)).toMatchObject({ takenBack: [200, 0], amount: 0 })
  })

  it('is that of the time when the order was placed, also when the order changes later', () => {
    const { db, buy, add } = openShop()
    const { id } = buy(['lamp', 'bowl'])
    const rate = add({ category: 'light', rateBps: 9_000 })
    setSetting(db, 'affiliates.rate', '50', noon + 1)
    setOwnRate(db, 'mira', { rateBps: 4_000 }, noon + 1)
    endRate(db, rate.id, noon + 2)
    add({ category: 'kitchen', rateBps: 500 })
    typeCoupon(db, id, noon + 3 * dayMs)
    // The rates of noon count, also those that begin with it.
    expect(commissionOf(db, id)).toMatchObject({ lines: ['90 category 1620', '5 category 45'], amount: 1_665 })
  })

  it('rounds lines of one rate together', () => {
    const { db, buy, add, items } = openShop()
    for (const item of Object.values(items)) item.totalMinor = item.unitPriceMinor = 5
    expect(commissionOf(db, buy(['lamp', 'bowl', 'card']).id)).toMatchObject({ amount: 2 })
    add({ category: 'light', rateBps: 1_001 })
    expect(commissionOf(db, buy(['lamp', 'bowl', 'card']).id)).toMatchObject({ amount: 2 })
  })
})

describe('excluded goods', () => {
  it('earn nothing, whatever other rates say, and the rest of the order does', () => {
    const { db, buy, add } = openShop()
    add({ product: 'card', rateBps: null })
    add({ product: 'card', affiliate: 'mira', rateBps: 5_000 })
    const { id } = buy(['lamp', 'card'])
    expect(commissionOf(db, id)).toMatchObject({ lines: ['10 shop 200', '0 excluded 0'], amount: 200 })
    move(db, id, 'processing')
    const { referral } = explainOrder(db, id)
    expect(referral.filter(({ rule }) => rule.startsWith('line'))).toEqual([
      { rule: 'line 1', input: "Lamp, €20.00: 10%, the shop's rate", outcome: '€2.00' },
      { rule: 'line 2', input: 'Card, €50.00: excluded with the product card (rate 1)', outcome: '€0.00' }
    ])
  })

  it('give back nothing when they are refunded, and the others give back theirs', () => {
    const { db, buy, add } = openShop()
    add({ product: 'card', rateBps: null })
    const { id } = buy(['lamp', 'bowl', 'card'])
    move(db, id, 'processing')
    giveBack(db, id, { items: [{ line: 3, quantity: 1 }] })
    expect(commissionOf(db, id)).toMatchObject({ takenBack: [0, 0, 0], amount: 300 })
    giveBack(db, id, { items: [{ line: 1, quantity: 1 }] })
    expect(commissionOf(db, id)).toMatchObject({ takenBack: [200, 0, 0], amount: 100 })
    expect(balanceOf(db, 1).unpaidMinor).toBe(100)
    giveBack(db, id, {})
    expect(commissionOf(db, id)).toMatchObject({ takenBack: [200, 100, 0], amount: 0, status: 'rejected' })
    expect(balanceOf(db, 1).unpaidMinor).toBe(0)
  })

  it('that are all of an order earn nothing, until the order has others', () => {
    const { db, buy, add, coupon } = openShop()
    const rate = add({ coupon: 'WELCOME10', rateBps: null })
    const { id } = buy(['lamp'], { coupons: [couponLine(coupon)] })
    expect(commissionOf(db, id)).toMatchObject({ amount: 0, status: 'rejected', reason: 'order_excluded' })
    for (const to of ['failed', 'pending', 'processing'] as const) move(db, id, to)
    expect(commissionOf(db, id)).toMatchObject({ amount: 0, status: 'rejected', reason: 'order_excluded' })
    expect(() => acceptAsOperator(db, referralOf(db, id)?.id ?? 0, noon)).toThrow('order_excluded')
    expect(explainOrder(db, id).lines.join()).toContain('all goods are excluded from commissions')
    endRate(db, rate.id, noon + 1)
    expect(commissionOf(db, buy(['lamp'], { coupons: [couponLine(coupon)] }, noon + 1).id).amount).toBe(200)
  })

  it('by a coupon that is typed on the payment page earn nothing either', () => {
    const { db, buy, add } = openShop()
    add({ coupon: 'WELCOME10', rateBps: null })
    const { id } = buy(['lamp', 'bowl'])
    expect(commissionOf(db, id).amount).toBe(300)
    typeCoupon(db, id, noon)
    expect(commissionOf(db, id)).toMatchObject({ amount: 0, reason: 'order_excluded' })
  })

  it('follow the affiliate to whom a coupon moves the order', () => {
    const { db, buy, add } = openShop()
    makeAffiliate(db, makeUser(db, 'jonas@shop.example').id, 'jonas')
    setCouponAffiliate(db, 'WELCOME10', 'jonas', noon)
    add({ category: 'light', affiliate: 'jonas', rateBps: 2_000 })
    const { id } = buy(['lamp', 'bowl'])
    typeCoupon(db, id, noon)
    expect(referralOf(db, id)?.affiliateId).toBe(2)
    expect(commissionOf(db, id)).toMatchObject({ lines: ['20 category 360', '10 shop 90'], amount: 450 })
  })
})

describe('refunds of lines with several rates', () => {
  it('take back the share of each line, also of amounts, and give it back when they fail', () => {
    const { db, buy, add } = openShop()
    add({ category: 'light', rateBps: 2_000 })
    const { id } = buy(['lamp', 'bowl'])
    move(db, id, 'processing')
    expect(commissionOf(db, id)).toMatchObject({ lines: ['20 category 400', '10 shop 100'], amount: 500 })
    giveBack(db, id, { items: [{ line: 1, quantity: 1 }], amountMinor: 1_000 })
    expect(commissionOf(db, id)).toMatchObject({ takenBack: [200, 0], amount: 300 })
    // 10.00 of both lines, of which 10.00 each are left.
    const amount = giveBack(db, id, { amountMinor: 1_000 })
    expect(commissionOf(db, id)).toMatchObject({ takenBack: [300, 50], amount: 150 })
    expect(balanceOf(db, 1).unpaidMinor).toBe(150)
    write(db, (tx) => reverseRefund(tx, id, 1_000, cause, noon, amount))
    expect(commissionOf(db, id)).toMatchObject({ takenBack: [200, 0], amount: 300 })
    expect(balanceOf(db, 1).unpaidMinor).toBe(300)
    const kinds = entriesOf(db, referralOf(db, id)?.id ?? 0).map(({ kind, amountMinor }) => `${kind} ${amountMinor}`)
    expect(kinds).toEqual(['earned 500', 'taken_back -200', 'taken_back -150', 'earned 150'])
  })
})

it('a renewal has the rates of its own time, without those of the coupon of the first order', () => {
  const { db, buy, add, coupon, items } = openShop()
  setSetting(db, 'affiliates.renewals', 'true', noon)
  items.lamp.grants = [{ kind: 'subscription', interval: 'month', pro: false }]
  add({ coupon: 'WELCOME10', rateBps: 5_000 })
  addRate(db, { category: 'light', rateBps: 300 }, noon + dayMs)
  const first = buy(['lamp', 'bowl'], { coupons: [couponLine(coupon)] })
  expect(commissionOf(db, first.id).amount).toBe(1_500)
  const renewal = write(db, (tx) =>
    insertRenewal(tx, getOrder(tx, first.id), { amountMinor: 2_000, currency: 'EUR', by: 'test' }, noon + 30 * dayMs)
  )
  expect(commissionOf(db, renewal.id)).toMatchObject({ lines: ['3 category 60'], amount: 60 })
})
