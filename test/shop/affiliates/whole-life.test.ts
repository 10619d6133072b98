import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { acceptAsOperator } from '../../../src/shop/payouts/decide-referral.ts'
import { payPayouts } from '../../../src/shop/payouts/pay.ts'
import { accountSummary } from '../../../src/shop/entitlements/entitlements.ts'
import { getOrderView } from '../../../src/shop/orders/view.ts'
import { confirmPayment, recordRefund } from '../../../src/shop/orders/transition.ts'
import type { OrderStatus } from '../../../src/shop/orders/states.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import {
  credited,
  draft,
  line,
  makeAffiliate,
  makeProduct,
  makeUser,
  move,
  place,
  referralOf
} from '../orders/support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

type Step = (db: Db, orderId: number) => void

const cause = { by: 'test', reason: 'a test' }
const to =
  (status: OrderStatus): Step =>
  (db, orderId) =>
    void move(db, orderId, status)
const paidLate: Step = (db, orderId) => void write(db, (tx) => confirmPayment(tx, orderId, cause, noon))
const refund =
  (amountMinor: number): Step =>
  (db, orderId) =>
    void write(db, (tx) => recordRefund(tx, orderId, amountMinor, cause, noon))
const payOut: Step = (db) => void payPayouts(db, { by: 'lena' }, noon + 40 * 86_400_000)

/** What the order shows and the sum of the ledger, for an order of 20.00 with a rate of 10 percent. */
type Outcome = { order: OrderStatus; referral: string; converted: boolean; amountMinor: number; ledgerMinor: number }
const outcome = (
  order: OrderStatus,
  referral: string,
  converted: boolean,
  amountMinor: number,
  ledgerMinor: number
) => ({
  order,
  referral,
  converted,
  amountMinor,
  ledgerMinor
})

const pending = (order: OrderStatus, amountMinor = 200): Outcome => outcome(order, 'pending', false, amountMinor, 0)
const rejected = (order: OrderStatus, amountMinor = 200, ledgerMinor = 0): Outcome =>
  outcome(order, 'rejected', false, amountMinor, ledgerMinor)
const earned = (order: OrderStatus, amountMinor = 200): Outcome =>
  outcome(order, 'unpaid', true, amountMinor, amountMinor)

const lives: { life: string; steps: Step[]; auto: Outcome; manual: Outcome }[] = [
  { life: 'created', steps: [], auto: pending('pending'), manual: pending('pending') },
  { life: 'paid', steps: [to('processing')], auto: earned('processing'), manual: pending('processing') },
  {
    life: 'completed',
    steps: [to('processing'), to('completed')],
    auto: earned('completed'),
    manual: pending('completed')
  },
  { life: 'failed', steps: [to('failed')], auto: rejected('failed'), manual: rejected('failed') },
  {
    life: 'failed, then paid',
    steps: [to('failed'), to('processing')],
    auto: earned('processing'),
    manual: pending('processing')
  },
  {
    life: 'failed, tried again, then paid',
    steps: [to('failed'), to('pending'), to('processing')],
    auto: earned('processing'),
    manual: pending('processing')
  },
  { life: 'cancelled', steps: [to('cancelled')], auto: rejected('cancelled'), manual: rejected('cancelled') },
  {
    life: 'cancelled, then paid late',
    steps: [to('cancelled'), paidLate],
    auto: earned('processing'),
    manual: pending('processing')
  },
  {
    life: 'paid, then cancelled',
    steps: [to('processing'), to('cancelled')],
    auto: rejected('cancelled'),
    manual: rejected('cancelled')
  },
  {
    life: 'refunded',
    steps: [to('completed'), refund(2_000)],
    auto: rejected('refunded', 0),
    manual: rejected('refunded', 0)
  },
  {
    life: 'half refunded',
    steps: [to('completed'), refund(1_000)],
    auto: earned('completed', 100),
    manual: pending('completed', 100)
  },
  {
    life: 'refunded by halves',
    steps: [to('completed'), refund(1_000), refund(1_000)],
    auto: rejected('refunded', 0),
    manual: rejected('refunded', 0)
  },
  {
    life: 'paid out',
    steps: [to('completed'), payOut],
    auto: outcome('completed', 'paid', true, 200, 0),
    manual: pending('completed')
  },
  {
    life: 'half refunded after the payout',
    steps: [to('completed'), payOut, refund(1_000)],
    auto: outcome('completed', 'paid', true, 100, -100),
    manual: pending('completed', 100)
  },
  {
    life: 'refunded after the payout',
    steps: [to('completed'), payOut, refund(2_000)],
    auto: rejected('refunded', 0, -200),
    manual: rejected('refunded', 0)
  },
  {
    life: 'dispute lost',
    steps: [to('completed'), to('on-hold'), to('refunded')],
    auto: rejected('refunded', 0),
    manual: rejected('refunded', 0)
  },
  {
    life: 'dispute won',
    steps: [to('completed'), to('on-hold'), to('completed')],
    auto: earned('completed'),
    manual: pending('completed')
  }
]

function live(autoAccept: boolean, steps: readonly Step[]) {
  const db = emptyShop()
  setSetting(db, 'affiliates.autoAccept', String(autoAccept), noon)
  const mira = makeUser(db, 'mira@shop.example')
  const affiliate = makeAffiliate(db, mira.id)
  const lines = [line(makeProduct(db), { quantity: 1, unitPriceMinor: 2_000 })]
  const { id } = place(db, draft(lines, { attribution: credited(affiliate, 'spring') }))
  for (const step of steps) step(db, id)
  return { db, id, mira, affiliate }
}

function outcomeOf(db: Db, orderId: number): Outcome {
  const view = getOrderView(db, orderId)
  const referral = referralOf(db, orderId)
  const ledgerMinor = db.sqlite.prepare('SELECT coalesce(sum(amount_minor), 0) FROM commission_entries').pluck().get()
  if (referral === undefined) throw new Error('The order has no referral.')
  expect(view).toMatchObject({
    affiliateRef: 'mira',
    affiliateCampaign: 'spring',
    affiliateReferralCreated: true,
    affiliateVisitId: 1,
    affiliateReferralId: referral.id
  })
  return {
    order: view.status,
    referral: referral.status,
    converted: view.affiliateVisitConverted === true,
    amountMinor: referral.amountMinor,
    ledgerMinor: Number(ledgerMinor)
  }
}

describe.each(lives)('an order with a referral: $life', ({ steps, auto, manual }) => {
  it('has the right referral when referrals are accepted automatically', () => {
    const { db, id } = live(true, steps)
    expect(outcomeOf(db, id)).toEqual(auto)
  })

  it('has the right referral when operators accept referrals', () => {
    const { db, id } = live(false, steps)
    expect(outcomeOf(db, id)).toEqual(manual)
  })

  it('does not change the status of the affiliate', () => {
    const { db, mira, affiliate } = live(true, steps)
    const { entitlements } = accountSummary(db, mira, { isLoggedIn: true }, noon)
    expect(entitlements.affiliate).toEqual({ id: affiliate.id, isActive: true, status: 'active' })
  })
})

describe('the acceptance of a referral by an operator', () => {
  const accept = (db: Db, orderId: number) => acceptAsOperator(db, referralOf(db, orderId)?.id ?? 0, noon)

  it.each([
    { life: 'created', steps: [] },
    { life: 'failed', steps: [to('failed')] },
    { life: 'on hold', steps: [to('on-hold')] },
    { life: 'refunded', steps: [to('completed'), refund(2_000)] }
  ])('is refused while the order is $life', ({ steps }) => {
    const { db, id } = live(false, steps)
    expect(() => accept(db, id)).toThrow(expect.objectContaining({ code: 'TRANSITION_REFUSED' }))
    expect(outcomeOf(db, id).converted).toBe(false)
  })

  it('converts the visit of a paid order', () => {
    const { db, id } = live(false, [to('processing'), refund(500)])
    accept(db, id)
    expect(outcomeOf(db, id)).toEqual(earned('processing', 150))
  })
})
