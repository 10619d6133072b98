import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Tx } from '../../../src/platform/db/database.ts'
import { percentOf } from '../../../src/platform/money.ts'
import { takenBackMinor } from '../../../src/shop/referrals/commission.ts'
import {
  acceptReferral,
  createReferral,
  rejectReferral,
  reopenReferral,
  reduceCommission
} from '../../../src/shop/referrals/referrals.ts'
import { findAffiliateByRef, getAffiliate, listAffiliates } from '../../../src/shop/affiliates/find.ts'
import { isSelfReferral } from '../../../src/shop/affiliates/credit.ts'
import { recordVisit } from '../../../src/shop/affiliates/clicks.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { ledgerOf, makeAffiliate, oneLine, refer, referralOf, eventsOf } from '../affiliates/support.ts'

type Step = (tx: Tx, orderId: number, now: number) => void
const accept: Step = acceptReferral
const reopen: Step = reopenReferral
const reject =
  (reason: string): Step =>
  (tx, orderId, now) =>
    rejectReferral(tx, orderId, reason, now)
const refund =
  (refundedGoodsMinor: number, goodsMinor = 10_000): Step =>
  (tx, orderId, now) =>
    reduceCommission(tx, orderId, oneLine(goodsMinor, refundedGoodsMinor), now)

function take(shop: TestShop, orderId: number, ...steps: Step[]): void {
  for (const step of steps) write(shop.db, (tx) => step(tx, orderId, shop.clock.now()))
}

function payOut(shop: TestShop, orderId: number): void {
  shop.db.sqlite.prepare(`UPDATE referrals SET status = 'paid' WHERE order_id = ?`).run(orderId)
}

describe('a referral', () => {
  it('starts as pending and keeps the rate at that time', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    const referral = refer(shop, id, 1, 1_005)
    expect(referral).toMatchObject({ status: 'pending', rateBps: 1_000, amountMinor: 101, acceptedAt: null })
    setSetting(shop.db, 'affiliates.rate', '20', shop.clock.now())
    take(shop, 1, accept)
    expect(referralOf(shop, 1)).toMatchObject({ status: 'unpaid', rateBps: 1_000, amountMinor: 101 })
    expect(ledgerOf(shop, 1)).toEqual(['earned 101'])
    expect(eventsOf(shop)).toEqual(['referral.created', 'referral.accepted'])
  })

  it("uses the affiliate's own rate, also zero, instead of the shop's", async () => {
    using shop = openTestShop()
    const own = await makeAffiliate(shop, { rateBps: 1_250 })
    const none = await makeAffiliate(shop, { code: 'petra', rateBps: 0 })
    expect(refer(shop, own.id, 1).amountMinor).toBe(1_250)
    expect(refer(shop, none.id, 2).amountMinor).toBe(0)
    take(shop, 2, accept)
    expect(referralOf(shop, 2).status).toBe('unpaid')
    expect(ledgerOf(shop, 2)).toEqual([])
  })

  it('is not created for a total of zero or an inactive affiliate, but the visit is', async () => {
    using shop = openTestShop()
    const active = await makeAffiliate(shop)
    const inactive = await makeAffiliate(shop, { code: 'petra', status: 'inactive' })
    for (const [index, affiliate] of [active, inactive].entries()) {
      const orderId = index + 1
      const created = write(shop.db, (tx) => {
        const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign: null }, 0)
        const baseMinor = affiliate === active ? 0 : 500
        return createReferral(tx, { affiliate, orderId, visitId, goods: oneLine(baseMinor), currency: 'EUR' }, 0)
      })
      expect(created).toBeUndefined()
      take(shop, orderId, accept, reject('order_failed'), reopen, refund(5))
    }
    expect(eventsOf(shop)).toEqual([])
  })

  it('is unique for its order', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    const { visitId } = refer(shop, id, 1)
    const again = () =>
      write(shop.db, (tx) => {
        const affiliate = getAffiliate(tx, 'mira')
        createReferral(tx, { affiliate, orderId: 1, visitId, goods: oneLine(5), currency: 'EUR' }, 0)
      })
    expect(again).toThrow(/UNIQUE/)
  })

  it('can be rejected finally when it is created', async () => {
    using shop = openTestShop()
    const affiliate = await makeAffiliate(shop)
    write(shop.db, (tx) => {
      const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId: 1, campaign: null }, 0)
      createReferral(tx, { affiliate, orderId: 1, visitId, goods: oneLine(500), currency: 'EUR', reject: 'self' }, 0)
    })
    take(shop, 1, accept, reject('order_failed'), reopen, accept)
    expect(referralOf(shop, 1)).toMatchObject({ status: 'rejected', rejectedFor: 'self', amountMinor: 50 })
    expect(ledgerOf(shop, 1)).toEqual([])
    expect(eventsOf(shop)).toEqual(['referral.created', 'referral.rejected'])
  })

  it('stays pending while its affiliate is not active', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    refer(shop, id, 1)
    shop.db.sqlite.exec(`UPDATE affiliates SET status = 'inactive'`)
    take(shop, 1, accept)
    expect(referralOf(shop, 1).status).toBe('pending')
    expect(ledgerOf(shop, 1)).toEqual([])
  })
})

const lives: {
  name: string
  steps: Step[]
  status: string
  amountMinor: number
  ledger: string[]
  events: string[]
}[] = [
  {
    name: 'accepted twice',
    steps: [accept, accept],
    status: 'unpaid',
    amountMinor: 1_000,
    ledger: ['earned 1000'],
    events: ['accepted']
  },
  {
    name: 'failed',
    steps: [reject('order_failed')],
    status: 'rejected',
    amountMinor: 1_000,
    ledger: [],
    events: ['rejected']
  },
  {
    name: 'failed, then paid',
    steps: [reject('order_failed'), reopen, accept],
    status: 'unpaid',
    amountMinor: 1_000,
    ledger: ['earned 1000'],
    events: ['rejected', 'accepted']
  },
  {
    name: 'failed, then paid without auto-accept',
    steps: [reject('order_failed'), reopen],
    status: 'pending',
    amountMinor: 1_000,
    ledger: [],
    events: ['rejected']
  },
  {
    name: 'cancelled, then paid late',
    steps: [reject('order_cancelled'), reopen, accept],
    status: 'unpaid',
    amountMinor: 1_000,
    ledger: ['earned 1000'],
    events: ['rejected', 'accepted']
  },
  {
    name: 'accepted, then cancelled twice',
    steps: [accept, reject('order_cancelled'), reject('order_cancelled')],
    status: 'rejected',
    amountMinor: 1_000,
    ledger: ['earned 1000', 'taken_back -1000'],
    events: ['accepted', 'rejected']
  },
  {
    name: 'accepted, failed, paid again',
    steps: [accept, reject('order_failed'), reopen, accept],
    status: 'unpaid',
    amountMinor: 1_000,
    ledger: ['earned 1000', 'taken_back -1000', 'earned 1000'],
    events: ['accepted', 'rejected', 'accepted']
  },
  {
    name: 'refunded in two parts',
    steps: [accept, refund(2_500), refund(5_000)],
    status: 'unpaid',
    amountMinor: 500,
    ledger: ['earned 1000', 'taken_back -250', 'taken_back -250'],
    events: ['accepted']
  },
  {
    name: 'refunded in part, reported twice',
    steps: [accept, refund(2_500), refund(2_500)],
    status: 'unpaid',
    amountMinor: 750,
    ledger: ['earned 1000', 'taken_back -250'],
    events: ['accepted']
  },
  {
    name: 'refunded in part before it is accepted',
    steps: [refund(2_500), accept],
    status: 'unpaid',
    amountMinor: 750,
    ledger: ['earned 750'],
    events: ['accepted']
  },
  {
    name: 'refunded in part, then in full',
    steps: [accept, refund(2_500), reject('order_refunded')],
    status: 'rejected',
    amountMinor: 0,
    ledger: ['earned 1000', 'taken_back -250', 'taken_back -750'],
    events: ['accepted', 'rejected']
  },
  {
    name: 'refunded, then reduced',
    steps: [accept, reject('order_refunded'), refund(10_000)],
    status: 'rejected',
    amountMinor: 0,
    ledger: ['earned 1000', 'taken_back -1000'],
    events: ['accepted', 'rejected']
  },
  {
    name: 'cancelled after it was paid, then refunded',
    steps: [accept, reject('order_cancelled'), refund(10_000)],
    status: 'rejected',
    amountMinor: 0,
    ledger: ['earned 1000', 'taken_back -1000'],
    events: ['accepted', 'rejected']
  },
  {
    name: 'rejected as a self-referral after it failed',
    steps: [reject('order_failed'), reject('self'), reopen, accept],
    status: 'rejected',
    amountMinor: 1_000,
    ledger: [],
    events: ['rejected']
  },
  {
    name: 'rejected as a self-referral, then refunded',
    steps: [reject('self'), reject('order_refunded'), reopen],
    status: 'rejected',
    amountMinor: 0,
    ledger: [],
    events: ['rejected']
  },
  {
    name: 'reopened without a rejection',
    steps: [accept, reopen],
    status: 'unpaid',
    amountMinor: 1_000,
    ledger: ['earned 1000'],
    events: ['accepted']
  }
]

describe('a referral in the life of its order', () => {
  it.each(lives)(
    'is $status with the ledger $ledger when it was $name',
    async ({ steps, status, amountMinor, ledger, events }) => {
      using shop = openTestShop()
      refer(shop, (await makeAffiliate(shop)).id, 1)
      take(shop, 1, ...steps)
      expect(referralOf(shop, 1)).toMatchObject({ status, amountMinor })
      expect(ledgerOf(shop, 1)).toEqual(ledger)
      expect(eventsOf(shop)).toEqual(['referral.created', ...events.map((event) => `referral.${event}`)])
    }
  )

  it('stays paid when part of its order is refunded after the payout, and is rejected when all of it is', async () => {
    using shop = openTestShop()
    refer(shop, (await makeAffiliate(shop)).id, 1)
    take(shop, 1, accept)
    payOut(shop, 1)
    take(shop, 1, refund(2_500))
    expect(referralOf(shop, 1)).toMatchObject({ status: 'paid', amountMinor: 750 })
    take(shop, 1, reject('order_refunded'))
    expect(referralOf(shop, 1)).toMatchObject({ status: 'rejected', amountMinor: 0, rejectedFor: 'order_refunded' })
    expect(ledgerOf(shop, 1)).toEqual(['earned 1000', 'taken_back -250', 'taken_back -750'])
  })

  it('can be missing: an order without a referral causes no events', () => {
    using shop = openTestShop()
    take(shop, 7, accept, reject('order_failed'), reopen, refund(1))
    expect(eventsOf(shop)).toEqual([])
  })
})

describe('the ledger', () => {
  it('refuses updates and deletions', async () => {
    using shop = openTestShop()
    refer(shop, (await makeAffiliate(shop)).id, 1)
    take(shop, 1, accept)
    expect(() => shop.db.sqlite.exec('UPDATE commission_entries SET amount_minor = 1')).toThrow(/append-only/)
    expect(() => shop.db.sqlite.exec('DELETE FROM commission_entries')).toThrow(/append-only/)
  })

  it('takes back the same for several refunds as for one refund of their sum, and everything for a full refund', () => {
    const order = fc.record({
      totalMinor: fc.integer({ min: 1, max: 100_000_000 }),
      rateBps: fc.integer({ min: 0, max: 10_000 })
    })
    fc.assert(
      fc.property(
        order,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
        ({ totalMinor, rateBps }, parts) => {
          const refunds = [...parts.map((part) => Math.floor(part * totalMinor)).sort((a, b) => a - b), totalMinor]
          const whole = percentOf(totalMinor, rateBps)
          const left = refunds.map(
            (refundedGoodsMinor) =>
              whole -
              takenBackMinor({ commissionMinor: whole, goodsMinor: totalMinor, refundedMinor: refundedGoodsMinor })
          )
          for (const [index, net] of left.entries()) {
            expect(net).toBeGreaterThanOrEqual(0)
            expect(net).toBeLessThanOrEqual(left[index - 1] ?? whole)
            expect(Math.abs(whole - net - (whole * (refunds[index] ?? 0)) / totalMinor)).toBeLessThanOrEqual(0.5 + 1e-6)
          }
          expect(left.at(-1)).toBe(0)
        }
      )
    )
  })
})

describe('an affiliate', () => {
  it('is found by code, ignoring case, or by id', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop, { code: 'Mira' })
    for (const ref of ['mira', ' MIRA ', String(id)]) expect(findAffiliateByRef(shop.db, ref)?.id).toBe(id)
    for (const ref of ['', '0', '-1', '99', '1.0', '0x1', 'mir', '1e0'])
      expect(findAffiliateByRef(shop.db, ref)).toBeUndefined()
    expect(() => getAffiliate(shop.db, 'unknown')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
    expect([...listAffiliates(shop.db, { status: 'active' }, ({ code }) => code)]).toEqual(['Mira'])
    expect([...listAffiliates(shop.db, { status: 'pending' }, ({ code }) => code)]).toEqual([])
  })

  it('is recognised as the buyer by account, account email or billing email', () => {
    const affiliate = { userId: 7 }
    const user = { email: 'mira@shop.example', billingEmail: 'Office@Mira.example' }
    const other = { userId: 8, emails: ['b@shop.example'] }
    expect(isSelfReferral(affiliate, user, other)).toBe(false)
    expect(isSelfReferral(affiliate, user, { userId: null, emails: [] })).toBe(false)
    expect(isSelfReferral(affiliate, user, { ...other, userId: 7 })).toBe(true)
    expect(isSelfReferral(affiliate, user, { userId: null, emails: ['x@y.example', 'mira@shop.example'] })).toBe(true)
    expect(isSelfReferral(affiliate, user, { userId: null, emails: [null, undefined, ' office@MIRA.example '] })).toBe(
      true
    )
    expect(isSelfReferral(affiliate, { ...user, billingEmail: null }, other)).toBe(false)
  })
})
