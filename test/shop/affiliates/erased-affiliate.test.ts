import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { findUserByEmail } from '../../../src/shop/accounts/find.ts'
import { createAffiliate, freeCode } from '../../../src/shop/affiliates/create.ts'
import { decideAffiliate } from '../../../src/shop/affiliates/decide.ts'
import type { AffiliateRow } from '../../../src/shop/affiliates/find.ts'
import { confirmEmail } from '../../../src/shop/customers/verify-email.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { planPayouts } from '../../../src/shop/payouts/plan.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { rejectReferral } from '../../../src/shop/referrals/referrals.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { earn, pay, payAfterHold } from '../payouts/support.ts'
import { makeAffiliate } from './support.ts'

const later = (shop: TestShop) => shop.clock.now() + 60 * 86_400_000
const erase = (shop: TestShop, { userId }: AffiliateRow) => erasePerson(shop.db, userId, shop.clock.now())

/** Registers the email again and approves the application. */
async function comeBack(shop: TestShop, email = 'Mira@Shop.example'): Promise<AffiliateRow> {
  const { id: userId } = await makeUser(shop, { email, passwordHash: 'none' })
  const code = freeCode(shop.db, 'mira')
  createAffiliate(shop.db, { userId, code, status: 'pending', rateBps: null }, shop.clock.now())
  return decideAffiliate(shop.db, code, 'approve', shop.clock.now())
}

/** An affiliate who was paid 10.00 for an order that was refunded after the payout. */
async function indebted(shop: TestShop): Promise<AffiliateRow> {
  const mira = await makeAffiliate(shop)
  earn(shop, mira.id, 1)
  payAfterHold(shop)
  write(shop.db, (tx) => rejectReferral(tx, 1, 'order_refunded', shop.clock.now()))
  return mira
}

describe('an erased affiliate', () => {
  it('still owes what they owed when the same mailbox is approved again', async () => {
    using shop = openTestShop()
    erase(shop, await indebted(shop))
    const again = await comeBack(shop)
    expect(balanceOf(shop.db, again.id)).toMatchObject({ unpaidMinor: -1_000 })
    earn(shop, again.id, 2, 30_000)
    expect(planPayouts(shop.db, later(shop))).toMatchObject([
      { affiliateId: again.id, earnedMinor: 3_000, setOffMinor: -1_000, amountMinor: 2_000 }
    ])
    expect(payAfterHold(shop)).toMatchObject([{ payout: { affiliateId: again.id, amountMinor: 2_000 } }])
    expect(balanceOf(shop.db, again.id)).toMatchObject({ unpaidMinor: 0 })
    expect(pay(shop)).toEqual([])
  })

  it('does not pass a debt to another mailbox', async () => {
    using shop = openTestShop()
    erase(shop, await indebted(shop))
    const other = await comeBack(shop, 'mira@elsewhere.example')
    expect(balanceOf(shop.db, other.id)).toMatchObject({ unpaidMinor: 0 })
  })

  it('is never paid, and the verified mailbox is when it comes back', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    earn(shop, mira.id, 1)
    erase(shop, mira)
    const plan = () => planPayouts(shop.db, later(shop))
    expect(plan()).toMatchObject([{ amountMinor: 0, held: [{ amountMinor: 1_000, reason: 'account_erased' }] }])
    expect(payAfterHold(shop)).toEqual([])
    const again = await comeBack(shop)
    expect(plan()).toMatchObject([{ amountMinor: 0, held: [{ reason: 'email_unverified' }] }])
    confirmEmail(shop.db, findUserByEmail(shop.db, 'mira@shop.example')?.id ?? 0, shop.clock.now())
    expect(plan()).toMatchObject([{ affiliateId: again.id, amountMinor: 1_000 }])
  })

  it('keeps the code from everybody else', async () => {
    using shop = openTestShop()
    erase(shop, await makeAffiliate(shop))
    const { id: userId } = await makeUser(shop, { email: 'jonas@shop.example', passwordHash: 'none' })
    const take = (code: string) =>
      createAffiliate(shop.db, { userId, code, status: 'active', rateBps: null }, shop.clock.now())
    expect(() => take('MIRA')).toThrow(expect.objectContaining({ code: 'CONFLICT' }))
    expect(freeCode(shop.db, 'mira')).toBe('mira-2')
    expect(take('jonas').code).toBe('jonas')
  })
})
