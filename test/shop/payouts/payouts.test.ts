import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { acceptAsOperator, rejectAsOperator } from '../../../src/shop/payouts/decide-referral.ts'
import { payoutsCsv } from '../../../src/shop/payouts/payouts-csv.ts'
import { planPayouts } from '../../../src/shop/payouts/plan.ts'
import { balanceOf, entriesOf } from '../../../src/shop/referrals/ledger.ts'
import { referralsCsv } from '../../../src/shop/referrals/admin.ts'
import {
  acceptReferral,
  rejectReferral,
  reopenReferral,
  reduceCommission
} from '../../../src/shop/referrals/referrals.ts'
import type { ReferralRow } from '../../../src/shop/referrals/store.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { ledgerOf, makeAffiliate, oneLine, refer, referralOf, eventsOf } from '../affiliates/support.ts'
import { dayMs, earn, pay, payAfterHold, setOrder } from './support.ts'

function refundAll(shop: TestShop, orderId: number): void {
  write(shop.db, (tx) => rejectReferral(tx, orderId, 'order_refunded', shop.clock.now()))
}

/** Rejects the referral of a paid order as an operator. */
function rejectManually(shop: TestShop, orderId: number): void {
  rejectAsOperator(shop.db, referralOf(shop, orderId).id, 'a mistake', shop.clock.now())
}

function acceptManually(shop: TestShop, orderId: number): ReferralRow {
  return acceptAsOperator(shop.db, referralOf(shop, orderId).id, shop.clock.now())
}

function sums(shop: TestShop) {
  return planPayouts(shop.db, shop.clock.now()).map((plan) => [
    plan.affiliateId,
    plan.earnedMinor,
    plan.setOffMinor,
    plan.heldMinor,
    plan.amountMinor
  ])
}

describe('a payout run', () => {
  it('pays a referral only after the hold', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    shop.clock.advance(30 * dayMs - 1)
    expect(sums(shop)).toEqual([[id, 0, 0, 1_000, 0]])
    expect(pay(shop)).toEqual([])
    earn(shop, id, 2)
    shop.clock.advance(1)
    expect(sums(shop)).toEqual([[id, 1_000, 0, 1_000, 1_000]])
    setSetting(shop.db, 'affiliates.payoutHoldDays', '0', 0)
    expect(sums(shop)).toEqual([[id, 2_000, 0, 0, 2_000]])
  })

  it('marks referrals as paid, writes payout and ledger, and pays each referral once', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const petra = await makeAffiliate(shop, { code: 'petra' })
    earn(shop, mira.id, 1)
    earn(shop, mira.id, 2, 5_000)
    earn(shop, petra.id, 3)
    refer(shop, mira.id, 4)
    shop.clock.advance(30 * dayMs)
    expect(
      pay(shop, { reference: 'SEPA-7' }).map(({ payout }) => [payout.affiliateId, payout.amountMinor, payout.reference])
    ).toEqual([
      [mira.id, 1_500, 'SEPA-7'],
      [petra.id, 1_000, 'SEPA-7']
    ])
    expect([1, 2, 3, 4].map((orderId) => referralOf(shop, orderId).status)).toEqual(['paid', 'paid', 'paid', 'pending'])
    expect(ledgerOf(shop, 2)).toEqual(['earned 500', 'paid_out -500'])
    expect(balanceOf(shop.db, mira.id)).toEqual({
      currency: 'EUR',
      pendingMinor: 1_000,
      unpaidMinor: 0,
      paidMinor: 1_500
    })
    expect(eventsOf(shop).filter((type) => type === 'referral.paid')).toHaveLength(3)
    expect(pay(shop)).toEqual([])
    expect(sums(shop)).toEqual([])
  })

  it('can be for one affiliate', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const petra = await makeAffiliate(shop, { code: 'petra' })
    earn(shop, mira.id, 1)
    earn(shop, petra.id, 2)
    expect(payAfterHold(shop, { affiliateId: petra.id })).toHaveLength(1)
    expect(sums(shop)).toEqual([[mira.id, 1_000, 0, 0, 1_000]])
  })

  it('sets off refunds after an earlier payout, and carries the remaining debt', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    refundAll(shop, 1)
    expect(referralOf(shop, 1)).toMatchObject({ status: 'rejected', amountMinor: 0 })
    expect(balanceOf(shop.db, id)).toMatchObject({ unpaidMinor: -1_000, paidMinor: 1_000 })

    earn(shop, id, 2, 4_000)
    shop.clock.advance(30 * dayMs)
    expect(sums(shop)).toEqual([[id, 400, -1_000, 0, -600]])
    expect(pay(shop)).toEqual([])
    expect(referralOf(shop, 2).status).toBe('unpaid')

    earn(shop, id, 3, 9_000)
    expect(payAfterHold(shop).map(({ payout }) => payout.amountMinor)).toEqual([300])
    expect(ledgerOf(shop, 1)).toEqual(['earned 1000', 'paid_out -1000', 'taken_back -1000', 'paid_out 1000'])
    expect(balanceOf(shop.db, id)).toEqual({ currency: 'EUR', pendingMinor: 0, unpaidMinor: 0, paidMinor: 1_300 })
    expect([2, 3].map((orderId) => referralOf(shop, orderId).status)).toEqual(['paid', 'paid'])
  })

  it('does not pay again for an order that failed after the payout and was paid later', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    write(shop.db, (tx) => {
      rejectReferral(tx, 1, 'order_failed', shop.clock.now())
      reopenReferral(tx, 1, shop.clock.now())
      acceptReferral(tx, 1, shop.clock.now())
    })
    shop.clock.advance(30 * dayMs)
    expect(sums(shop)).toEqual([])
    expect(pay(shop)).toEqual([])
    expect(referralOf(shop, 1).status).toBe('paid')
  })

  it('emits no second event for a paid referral that an operator rejects and accepts again', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    rejectManually(shop, 1)
    expect(acceptManually(shop, 1)).toMatchObject({ status: 'paid', rejectedFor: null })
    earn(shop, id, 2)
    expect(payAfterHold(shop).map(({ payout }) => payout.amountMinor)).toEqual([1_000])
    expect(eventsOf(shop).filter((type) => type === 'referral.paid')).toHaveLength(2)
  })

  it('pays a referral again that was rejected after the payout, set off, and accepted again', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    rejectManually(shop, 1)
    earn(shop, id, 2, 30_000)
    expect(payAfterHold(shop).map(({ payout }) => payout.amountMinor)).toEqual([2_000])
    expect(acceptManually(shop, 1).status).toBe('unpaid')
    expect(payAfterHold(shop).map(({ payout }) => payout.amountMinor)).toEqual([1_000])
  })

  it('keeps a referral paid that earns less when it is accepted again', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    rejectManually(shop, 1)
    write(shop.db, (tx) => reduceCommission(tx, 1, oneLine(10_000, 5_000), shop.clock.now()))
    expect(acceptManually(shop, 1)).toMatchObject({ status: 'paid', amountMinor: 500 })
    expect(sums(shop)).toEqual([[id, 0, -500, 0, -500]])
  })
})

describe('a payout run and its amounts', () => {
  it('subtracts a partial refund from an unpaid referral', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    write(shop.db, (tx) => reduceCommission(tx, 1, oneLine(10_000, 2_500), 0))
    expect(payAfterHold(shop).map(({ payout }) => payout.amountMinor)).toEqual([750])
  })

  it('holds the commission of an order that is no longer paid or is disputed', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    earn(shop, id, 2)
    shop.clock.advance(30 * dayMs)
    setOrder(shop, 2, 'on-hold')
    expect(sums(shop)).toEqual([[id, 1_000, 0, 1_000, 1_000]])
    pay(shop)
    expect(referralOf(shop, 2).status).toBe('unpaid')
  })

  it('pays only the approved amounts', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    earn(shop, id, 2)
    shop.clock.advance(30 * dayMs)
    const approved = planPayouts(shop.db, shop.clock.now())
    refundAll(shop, 1)
    expect(() => pay(shop, { approved })).toThrow(expect.objectContaining({ code: 'CONFLICT' }))
    expect(referralOf(shop, 2).status).toBe('unpaid')
    expect(pay(shop, { approved: planPayouts(shop.db, shop.clock.now()) })).toHaveLength(1)
  })

  it('ignores affiliates without an amount when it compares with the approved plan', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const petra = await makeAffiliate(shop, { code: 'petra' })
    earn(shop, mira.id, 1)
    earn(shop, petra.id, 2)
    const approved = planPayouts(shop.db, shop.clock.now())
    expect(approved.map(({ amountMinor }) => amountMinor)).toEqual([0, 0])
    expect(pay(shop, { approved })).toEqual([])
    shop.clock.advance(30 * dayMs)
    refundAll(shop, 2)
    const shown = planPayouts(shop.db, shop.clock.now())
    expect(pay(shop, { approved: shown }).map(({ payout }) => payout.affiliateId)).toEqual([mira.id])
  })

  it('accepts an approved plan that contains a held amount', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const petra = await makeAffiliate(shop, { code: 'petra' })
    earn(shop, mira.id, 1)
    shop.clock.advance(30 * dayMs)
    earn(shop, petra.id, 2)
    const approved = planPayouts(shop.db, shop.clock.now())
    expect(approved.map(({ amountMinor }) => amountMinor)).toEqual([1_000, 0])
    expect(pay(shop, { approved }).map(({ plan }) => plan)).toEqual(approved.slice(0, 1))
  })

  it('records payments and set-offs in the ledger, and the payout in its events', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    shop.clock.advance(30 * dayMs)
    const [first] = pay(shop)
    refundAll(shop, 1)
    earn(shop, id, 2, 30_000)
    shop.clock.advance(30 * dayMs)
    const [second] = pay(shop)
    expect([first, second].map((paid) => paid?.payout.amountMinor)).toEqual([1_000, 2_000])
    const entries = [1, 2].map((orderId) =>
      entriesOf(shop.db, referralOf(shop, orderId).id).map(({ reason, amountMinor }) => [reason, amountMinor])
    )
    expect(entries).toEqual([
      [
        ['accepted', 1_000],
        ['payout 1', -1_000],
        ['order_refunded', -1_000],
        ['set off in payout 2', 1_000]
      ],
      [
        ['accepted', 3_000],
        ['payout 2', -3_000]
      ]
    ])
    const events = shop.db.sqlite.prepare("SELECT payload FROM events WHERE type = 'referral.paid' ORDER BY id")
    const payloads = events
      .pluck()
      .all()
      .map((payload) => JSON.parse(String(payload)) as unknown)
    expect(payloads).toMatchObject([
      { affiliateId: id, orderId: 1, amountMinor: 1_000, currency: 'EUR', payoutId: 1 },
      { affiliateId: id, orderId: 2, amountMinor: 3_000, currency: 'EUR', payoutId: 2 }
    ])
    expect(referralOf(shop, 1).status).toBe('rejected')
  })

  it('marks a referral without commission as paid, without a ledger entry', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1, 1)
    earn(shop, id, 2)
    payAfterHold(shop)
    expect(referralOf(shop, 1)).toMatchObject({ status: 'paid', amountMinor: 0 })
    expect(ledgerOf(shop, 1)).toEqual([])
  })

  it('sets off a debt immediately, and holds commissions that are not due', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    write(shop.db, (tx) => reduceCommission(tx, 1, oneLine(10_000, 5_000), shop.clock.now()))
    earn(shop, id, 2)
    setOrder(shop, 2, 'on-hold')
    expect(sums(shop)).toEqual([[id, 0, -500, 1_000, -500]])
    shop.clock.advance(30 * dayMs)
    expect(sums(shop)).toEqual([[id, 0, -500, 1_000, -500]])
    setOrder(shop, 2, 'completed')
    expect(sums(shop)).toEqual([[id, 1_000, -500, 0, 500]])
  })
})

describe('the file of payouts', () => {
  it('is written before the commit, so that nothing is paid when it cannot be written', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    const saved: string[] = []
    const fails = () => {
      throw new Error('the disk is full')
    }
    expect(() => payAfterHold(shop, { saveCsv: fails })).toThrow('the disk is full')
    expect(referralOf(shop, 1).status).toBe('unpaid')
    const paid = pay(shop, { saveCsv: (csv) => void saved.push(csv) })
    expect(saved).toEqual([payoutsCsv(shop.db, paid)])
  })
})

describe('the CSV files', () => {
  it('have decimal amounts and escape formulas', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop, { code: '@mira' })
    shop.db.sqlite.prepare(`UPDATE users SET display_name = '=cmd|"/c calc"!A1, Inc'`).run()
    earn(shop, mira.id, 1, 12_345)
    shop.clock.advance(30 * dayMs)
    const paid = pay(shop, { reference: '+49' })
    expect(payoutsCsv(shop.db, paid)).toBe(
      'payout,affiliate,name,email,amount,currency,referrals,reference,created_at\n' +
        `1,'@mira,"'=cmd|""/c calc""!A1, Inc",'@mira@shop.example,12.35,EUR,1,'+49,2026-02-14T12:00:00.000Z\n`
    )
    expect([...referralsCsv(shop.db, { affiliateId: mira.id })].join('')).toBe(
      'referral,affiliate,order,visit,campaign,status,amount,currency,rate_percent,rejected_for,created_at,accepted_at\n' +
        `1,'@mira,1,1,,paid,12.35,EUR,10,,2026-01-15T12:00:00.000Z,2026-01-15T12:00:00.000Z\n`
    )
    expect([...referralsCsv(shop.db, { status: 'pending' })]).toHaveLength(1)
  })
})
