import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { creditMissedOrder } from '../../../src/shop/payouts/by-hand.ts'
import { acceptAsOperator, rejectAsOperator } from '../../../src/shop/payouts/decide-referral.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { explainOrder } from '../../../src/shop/orders/explain.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import { reverseRefund } from '../../../src/shop/orders/transition.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import type { SettingKey } from '../../../src/shop/settings/definitions.ts'
import { keysOf } from '../../../src/platform/typed.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import {
  credited,
  draft,
  giveBack,
  line,
  makeAffiliate,
  makeProduct,
  makeUser,
  move,
  place,
  referralOf,
  typein
} from './support.ts'

const dayMs = 86_400_000
const cause = { by: 'test', reason: 'a test' }

/** Mira earns 10 %. `buy` places an order of so many major units, with her link, and pays it. */
function openShop(settings: Partial<Record<SettingKey, string>>) {
  const db = emptyShop()
  for (const key of keysOf(settings)) setSetting(db, key, settings[key] ?? '', noon)
  const affiliate = makeAffiliate(db, makeUser(db, 'mira@shop.example').id)
  const product = makeProduct(db)
  let buyers = 0
  const draftOf = (major: number, changes: Parameters<typeof draft>[1] = {}) =>
    draft([line(product, { unitPriceMinor: major * 100 })], {
      email: `buyer${(buyers += 1)}@shop.example`,
      attribution: credited(affiliate),
      ...changes
    })
  const buy = (major: number, changes: Parameters<typeof draft>[1] = {}, now = noon): number => {
    const { id } = place(db, draftOf(major, changes), now)
    move(db, id, 'processing', {}, now)
    return id
  }
  return { db, product, draftOf, buy }
}

const earned = (db: Db, ...ids: number[]) => ids.map((id) => referralOf(db, id)?.amountMinor)

it('an order earns at most the cap by order, also after a partial refund, and less once its goods are worth less', () => {
  const { db, buy } = openShop({ 'affiliates.orderCap': '50' })
  const [large, small] = [buy(1_000), buy(400)]
  expect(earned(db, large, small)).toEqual([5_000, 4_000])
  expect(explainOrder(db, large).lines.join()).toContain('€100.00 of its lines, at most €50.00 (affiliates.orderCap)')
  const id = giveBack(db, large, { amountMinor: 50_000 })
  expect(earned(db, large)).toEqual([5_000])
  giveBack(db, large, { amountMinor: 10_000 })
  expect(earned(db, large)).toEqual([4_000])
  write(db, (tx) => reverseRefund(tx, large, 50_000, cause, noon, id))
  expect(earned(db, large)).toEqual([5_000])
  expect(balanceOf(db, 1).unpaidMinor).toBe(9_000)
})

it('an order keeps the caps of the time when it was placed', () => {
  const { db, draftOf } = openShop({ 'affiliates.orderCap': '50', 'affiliates.monthCap': '60' })
  const { id } = place(db, draftOf(1_000))
  for (const key of ['affiliates.orderCap', 'affiliates.monthCap'] as const) setSetting(db, key, '1', noon)
  move(db, id, 'processing')
  expect(earned(db, id)).toEqual([5_000])
})

it('the orders of a month earn at most the cap by month, and what a rejection frees is there for the next', () => {
  const { db, buy } = openShop({ 'affiliates.monthCap': '100' })
  const [first, second, third] = [buy(600), buy(600), buy(600)]
  expect(earned(db, first, second, third)).toEqual([6_000, 4_000, 0])
  expect(referralOf(db, third)).toMatchObject({ status: 'unpaid' })
  expect(explainOrder(db, second).lines.join()).toContain('at most €100.00 (affiliates.monthCap) → €40.00 was left')
  expect(earned(db, buy(600, {}, noon + 31 * dayMs))).toEqual([6_000])
  const referral = referralOf(db, first)?.id ?? 0
  rejectAsOperator(db, referral, '', noon)
  expect(earned(db, buy(300))).toEqual([3_000])
  acceptAsOperator(db, referral, noon)
  expect(earned(db, first)).toEqual([3_000])
  expect(balanceOf(db, 1).unpaidMinor).toBe(10_000 + 6_000)
})

it('a refund that failed earns again only what the month has left', () => {
  const { db, buy } = openShop({ 'affiliates.monthCap': '100' })
  const first = buy(1_000)
  const failing = giveBack(db, first, { amountMinor: 100_000 })
  const second = buy(700)
  write(db, (tx) => reverseRefund(tx, first, 100_000, cause, noon, failing))
  expect(earned(db, first, second)).toEqual([3_000, 7_000])
  expect(balanceOf(db, 1).unpaidMinor).toBe(10_000)
})

it('only the first paid order of a customer earns with affiliates.newCustomers, by account and by email', () => {
  const { db, draftOf, buy } = openShop({ 'affiliates.newCustomers': 'true' })
  const ada = makeUser(db, 'ada@shop.example')
  const [first, second] = [
    place(db, draftOf(100, { email: 'ada@shop.example' })),
    place(db, draftOf(100, { userId: ada.id }))
  ]
  expect([first, second].map(({ id }) => referralOf(db, id)?.status)).toEqual(['pending', 'pending'])
  move(db, second.id, 'processing')
  move(db, first.id, 'processing')
  expect(referralOf(db, second.id)).toMatchObject({ status: 'unpaid', amountMinor: 1_000 })
  expect(referralOf(db, first.id)).toMatchObject({ status: 'rejected', rejectedFor: 'known_customer' })
  expect(explainOrder(db, first.id).lines.join()).toContain('the buyer has paid an order before')
  expect(referralOf(db, buy(100, { email: 'ADA@shop.example' }))?.rejectedFor).toBe('known_customer')
  expect(referralOf(db, buy(100))?.status).toBe('unpaid')
  expect(balanceOf(db, 1).unpaidMinor).toBe(2_000)
  acceptAsOperator(db, referralOf(db, first.id)?.id ?? 0, noon)
  expect(balanceOf(db, 1).unpaidMinor).toBe(3_000)
})

it('a pending order keeps the rule of its time, and an operator credits a known customer by hand', () => {
  const { db, draftOf, buy } = openShop({})
  const email = 'ada@shop.example'
  buy(100, { email })
  const { id } = place(db, draftOf(100, { email }))
  setSetting(db, 'affiliates.newCustomers', 'true', noon)
  move(db, id, 'processing')
  expect(referralOf(db, id)?.status).toBe('unpaid')
  const order = place(db, { ...draftOf(100, { email }), attribution: typein })
  move(db, order.id, 'processing')
  creditMissedOrder(db, order.id, { ref: 'mira', reason: 'lost link' }, noon)
  expect(referralOf(db, order.id)?.status).toBe('unpaid')
})

it.each([
  ['month', '3', [1_000, 1_000, 1_000, undefined]],
  ['year', '24', [1_000, 1_000, undefined, undefined]],
  ['month', '0', [1_000, 1_000, 1_000, 1_000]]
] as const)('renewals by the %s earn for %s months', (interval, months, expected) => {
  const { db, product, draftOf } = openShop({
    'affiliates.renewals': 'true',
    'affiliates.renewalMonths': months,
    'affiliates.newCustomers': 'true'
  })
  const grants = [{ kind: 'subscription', interval, pro: false }] as const
  const sold = draft([line(product, { unitPriceMinor: 10_000, grants: [...grants] })], {
    attribution: draftOf(1).attribution,
    email: 'ada@shop.example'
  })
  const first = place(db, sold)
  move(db, first.id, 'processing')
  const renewals = expected.map((_, index) =>
    write(db, (tx) => {
      const payment = { amountMinor: 10_000, currency: 'EUR', by: 'test' }
      return insertRenewal(tx, getOrder(tx, first.id), payment, noon + (index + 1) * 30 * dayMs).id
    })
  )
  for (const id of renewals) move(db, id, 'completed')
  expect(earned(db, ...renewals)).toEqual(expected)
  const last = explainOrder(db, renewals.at(-1) ?? 0).lines.join()
  expect(last.includes('affiliates.renewalMonths')).toBe(expected.at(-1) === undefined)
})
