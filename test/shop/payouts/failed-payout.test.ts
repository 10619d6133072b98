import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { listAdminPayouts, showPayout } from '../../../src/shop/payouts/find.ts'
import { decideReferrals } from '../../../src/shop/payouts/decide-referral.ts'
import { failPayout } from '../../../src/shop/payouts/fail.ts'
import { countOfOtherMode, planPayouts } from '../../../src/shop/payouts/plan.ts'
import { createAttempt, updateAttempt } from '../../../src/shop/payments/attempts.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { reduceCommission, rejectReferral } from '../../../src/shop/referrals/referrals.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { ledgerOf, makeAffiliate, oneLine, referralOf } from '../affiliates/support.ts'
import { earn, pay, payAfterHold, setOrder } from './support.ts'

const fail = (shop: TestShop, id: number) =>
  failPayout(shop.db, id, { reason: 'account closed', by: 'lena' }, shop.clock.now())

function refund(shop: TestShop, orderId: number, refundedGoodsMinor: number): void {
  write(shop.db, (tx) => reduceCommission(tx, orderId, oneLine(10_000, refundedGoodsMinor), shop.clock.now()))
}

/** Makes an order that a card paid in live or test mode. */
function payByCard(shop: TestShop, orderId: number, livemode: boolean): void {
  write(shop.db, (tx) => {
    const now = shop.clock.now()
    const attempt = createAttempt(
      tx,
      getOrder(tx, orderId),
      { gateway: 'stripe', kind: 'checkout_session', livemode },
      now
    )
    updateAttempt(tx, attempt.id, { outcome: 'paid', objectId: `cs_${orderId}` }, now)
  })
}

describe('a payout whose money came back', () => {
  it('makes its commissions due again, and leaves the other payouts as they are', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const jonas = await makeAffiliate(shop, { code: 'jonas' })
    earn(shop, mira.id, 1)
    earn(shop, mira.id, 2, 5_000)
    earn(shop, jonas.id, 3)
    payAfterHold(shop, { reference: 'run 7' })
    fail(shop, 1)
    expect(referralOf(shop, 1).status).toBe('unpaid')
    expect(referralOf(shop, 3).status).toBe('paid')
    expect(balanceOf(shop.db, mira.id)).toMatchObject({ unpaidMinor: 1_500, paidMinor: 0 })
    expect(balanceOf(shop.db, jonas.id)).toMatchObject({ unpaidMinor: 0, paidMinor: 1_000 })
    expect(
      listAdminPayouts(shop.db, { limit: 9 }).map(({ id, state, failureReason }) => [id, state, failureReason])
    ).toEqual([
      [2, 'paid', null],
      [1, 'failed', 'account closed']
    ])
    expect(pay(shop)).toMatchObject([{ payout: { id: 3, affiliateId: mira.id, amountMinor: 1_500 } }])
    expect(ledgerOf(shop, 1)).toEqual(['earned 1000', 'paid_out -1000', 'paid_out 1000', 'paid_out -1000'])
    expect(showPayout(shop.db, 1)).toMatchObject({
      payout: { affiliateCode: 'mira', paidBy: 'lena', reference: 'run 7', state: 'failed' },
      lines: [
        { referralId: 1, orderId: 1, amountMinor: 1_000 },
        { referralId: 2, orderId: 2, amountMinor: 500 }
      ]
    })
  })

  it('fails once', async () => {
    using shop = openTestShop()
    earn(shop, (await makeAffiliate(shop)).id, 1)
    payAfterHold(shop)
    fail(shop, 1)
    expect(() => fail(shop, 1)).toThrow(expect.objectContaining({ code: 'CONFLICT' }))
    expect(() => fail(shop, 2)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
    expect(ledgerOf(shop, 1)).toEqual(['earned 1000', 'paid_out -1000', 'paid_out 1000'])
  })

  it('owes nothing for an order that was refunded meanwhile', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    earn(shop, id, 2)
    payAfterHold(shop)
    write(shop.db, (tx) => rejectReferral(tx, 1, 'order_refunded', shop.clock.now()))
    refund(shop, 2, 4_000)
    fail(shop, 1)
    expect([referralOf(shop, 1).status, referralOf(shop, 2).status]).toEqual(['rejected', 'unpaid'])
    expect(balanceOf(shop.db, id)).toMatchObject({ unpaidMinor: 600, paidMinor: 0 })
    expect(pay(shop)).toMatchObject([{ payout: { amountMinor: 600 } }])
  })

  it('opens the debts again that it set off', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    write(shop.db, (tx) => rejectReferral(tx, 1, 'fraud', shop.clock.now()))
    earn(shop, id, 2, 30_000)
    payAfterHold(shop)
    fail(shop, 2)
    expect(referralOf(shop, 1).status).toBe('rejected')
    expect(planPayouts(shop.db, shop.clock.now())).toMatchObject([{ earnedMinor: 3_000, setOffMinor: -1_000 }])
  })

  it('owes at once what a later payout set off for a refunded order', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    setOrder(shop, 1, 'refunded')
    write(shop.db, (tx) => rejectReferral(tx, 1, 'order_refunded', shop.clock.now()))
    earn(shop, id, 2, 30_000)
    expect(payAfterHold(shop)).toMatchObject([{ payout: { id: 2, amountMinor: 2_000 } }])
    fail(shop, 1)
    expect(pay(shop)).toMatchObject([{ payout: { id: 3, amountMinor: 1_000 } }])
    expect(balanceOf(shop.db, id)).toMatchObject({ unpaidMinor: 0, paidMinor: 3_000 })
  })

  it('sets a debt off at once that comes back with a referral accepted again', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    decideReferrals(shop.db, [1], { accept: false, reason: '' }, shop.clock.now())
    earn(shop, id, 2, 30_000)
    payAfterHold(shop)
    fail(shop, 1)
    pay(shop)
    refund(shop, 1, 9_000)
    decideReferrals(shop.db, [1], { accept: true }, shop.clock.now())
    fail(shop, 2)
    // 30.00 is due again. Payout 3 paid 10.00 for the referral, which earns 1.00.
    expect(referralOf(shop, 1)).toMatchObject({ status: 'unpaid', amountMinor: 100 })
    expect(planPayouts(shop.db, shop.clock.now())).toMatchObject([{ earnedMinor: 3_000, setOffMinor: -900 }])
  })

  it('cannot be changed or deleted in the database', async () => {
    using shop = openTestShop()
    earn(shop, (await makeAffiliate(shop)).id, 1)
    payAfterHold(shop)
    fail(shop, 1)
    const writes = [
      'UPDATE payouts SET affiliate_id = 2',
      "UPDATE payouts SET payee = '{}'",
      'UPDATE payouts SET payee = NULL, amount_minor = 1',
      'DELETE FROM payouts',
      "UPDATE payout_failures SET reason = ''",
      'DELETE FROM payout_failures'
    ]
    for (const sql of writes) expect(() => shop.db.sqlite.exec(sql)).toThrow('append-only')
  })
})

it('a payout never includes card payments of the other mode', async () => {
  using shop = openTestShop()
  const { id } = await makeAffiliate(shop)
  for (const [orderId, totalMinor] of [
    [1, 10_000],
    [2, 20_000],
    [3, 40_000]
  ] as const)
    earn(shop, id, orderId, totalMinor)
  payByCard(shop, 1, false)
  payByCard(shop, 2, true)
  const due = (livemode: boolean) => planPayouts(shop.db, shop.clock.now() + 9e9, { livemode })
  expect(due(true)).toMatchObject([{ earnedMinor: 6_000 }])
  expect(due(false)).toMatchObject([{ earnedMinor: 5_000 }])
  expect([true, false, undefined].map((livemode) => countOfOtherMode(shop.db, livemode))).toEqual([1, 1, 0])
})
