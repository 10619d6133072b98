import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { explainOrder } from '../../../src/shop/orders/explain.ts'
import { payOrder, recordRefund } from '../../../src/shop/orders/transition.ts'
import { creditMissedOrder, giveBonus } from '../../../src/shop/payouts/by-hand.ts'
import { showPayout } from '../../../src/shop/payouts/find.ts'
import { isIban, readPayees } from '../../../src/shop/payouts/payouts-csv.ts'
import { failPayout } from '../../../src/shop/payouts/fail.ts'
import { payoutsCsv } from '../../../src/shop/payouts/payouts-csv.ts'
import { isPayable, planPayouts } from '../../../src/shop/payouts/plan.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeAffiliate } from '../affiliates/support.ts'
import { draft, line, makeProduct, place } from '../orders/support.ts'
import { earn, pay, payAfterHold } from './support.ts'

const give = (shop: TestShop, amountMinor: number) =>
  giveBonus(shop.db, 'mira', { amountMinor, reason: 'thank you' }, shop.clock.now())

it('a bonus is due at once, is a line of the payout, and is due again when the payout fails', async () => {
  using shop = openTestShop()
  const { id } = await makeAffiliate(shop)
  expect(() => give(shop, 0)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  give(shop, 2_500)
  give(shop, -500)
  expect(balanceOf(shop.db, id)).toMatchObject({ unpaidMinor: 2_000, paidMinor: 0 })
  expect(pay(shop)).toMatchObject([{ payout: { amountMinor: 2_000 } }])
  expect(showPayout(shop.db, 1).lines).toEqual([{ referralId: null, orderId: null, amountMinor: 2_000 }])
  expect(planPayouts(shop.db, shop.clock.now())).toEqual([])
  failPayout(shop.db, 1, { reason: 'account closed', by: 'lena' }, shop.clock.now())
  expect(balanceOf(shop.db, id)).toMatchObject({ unpaidMinor: 2_000, paidMinor: 0 })
  expect(pay(shop)).toMatchObject([{ payout: { id: 2, amountMinor: 2_000 } }])
  expect(balanceOf(shop.db, id)).toMatchObject({ unpaidMinor: 0, paidMinor: 2_000 })
})

it('a payout below the minimum waits', async () => {
  using shop = openTestShop()
  const { id } = await makeAffiliate(shop)
  setSetting(shop.db, 'affiliates.minPayout', '15', 0)
  earn(shop, id, 1)
  expect(payAfterHold(shop)).toEqual([])
  expect(planPayouts(shop.db, shop.clock.now())).toMatchObject([{ amountMinor: 1_000, belowMinimum: true }])
  earn(shop, id, 2, 5_000)
  expect(payAfterHold(shop)).toMatchObject([{ payout: { amountMinor: 1_500 } }])
})

it('a missed order is credited once, after its refunds, and never to its own buyer', async () => {
  using shop = openTestShop()
  await makeAffiliate(shop)
  const bought = (email: string) => place(shop.db, draft([line(makeProduct(shop.db))], { email })).id
  const [order, own] = [bought('lena@shop.example'), bought('mira@shop.example')]
  write(shop.db, (tx) => {
    payOrder(tx, order, { by: 'gateway', reason: 'paid' }, 0)
    recordRefund(tx, order, 1_000, { by: 'operator', reason: 'a gift' }, 0)
  })
  const credit = (id: number) =>
    creditMissedOrder(shop.db, id, { ref: 'mira', reason: 'the link was lost' }, shop.clock.now())
  expect(credit(order)).toMatchObject({ status: 'unpaid', amountMinor: 25 })
  expect(explainOrder(shop.db, order).lines.join('\n')).toContain('credited the affiliate after the order was placed')
  expect(() => credit(order)).toThrow('has an affiliate already')
  expect(() => credit(own)).toThrow('is one of the affiliate')
  expect(explainOrder(shop.db, own).referral).toMatchObject([{ outcome: 'none' }])
})

it('the file for the bank has the checked account of each affiliate', async () => {
  using shop = openTestShop()
  await makeAffiliate(shop)
  give(shop, 500)
  const plans = planPayouts(shop.db, shop.clock.now())
  const csv = (text: string) => {
    const lines = plans.filter(isPayable).map((plan) => ({ plan, payout: null }))
    return payoutsCsv(shop.db, lines, readPayees(Buffer.from(`code,holder,iban\n${text}`)))
  }
  expect(csv('MIRA,Mira Okafor,DE89 3704 0044 0532 0130 00')).toContain('Mira Okafor,DE89370400440532013000')
  for (const wrong of [
    'mira,Mira,DE88370400440532013000',
    'mira,,DE89370400440532013000',
    'jonas,J,GB82WEST12345698765432'
  ])
    expect(() => csv(wrong)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  expect(['GB82WEST12345698765432', 'GB82 WEST 1234', 'NO9386011117947'].map(isIban)).toEqual([true, false, true])
})
