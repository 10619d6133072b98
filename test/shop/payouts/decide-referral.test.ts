import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { acceptAsOperator, rejectAsOperator } from '../../../src/shop/payouts/decide-referral.ts'
import { rejectReferral, reopenReferral } from '../../../src/shop/referrals/referrals.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { ledgerOf, makeAffiliate, refer, referralOf } from '../affiliates/support.ts'
import { earn, payAfterHold, setOrder } from './support.ts'

const refused = expect.objectContaining({ code: 'TRANSITION_REFUSED' })

describe('an operator', () => {
  const accept = (shop: TestShop, id: number, paid: boolean) => {
    setOrder(shop, 1, paid ? 'processing' : 'pending')
    return acceptAsOperator(shop.db, id, shop.clock.now())
  }
  const reject = (shop: TestShop, id: number, reason = '') => rejectAsOperator(shop.db, id, reason, shop.clock.now())

  it('accepts a pending referral once its order is paid', async () => {
    using shop = openTestShop()
    const { id } = refer(shop, (await makeAffiliate(shop)).id, 1)
    expect(() => accept(shop, id, false)).toThrow(refused)
    expect(() => accept(shop, id, false)).toThrow(`Referral ${id} belongs to an order that is not paid.`)
    expect(accept(shop, id, true)).toMatchObject({ status: 'unpaid', acceptedAt: shop.clock.now() })
    expect(accept(shop, id, false).status).toBe('unpaid')
    expect(ledgerOf(shop, 1)).toEqual(['earned 1000'])
    expect(() => accept(shop, 99, true)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })

  it('cannot accept a finally rejected referral, or one of an inactive affiliate', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const { id } = refer(shop, mira.id, 1)
    write(shop.db, (tx) => rejectReferral(tx, 1, 'nothing_to_pay', 0))
    expect(() => accept(shop, id, true)).toThrow(refused)
    expect(() => accept(shop, id, true)).toThrow(`Referral ${id} was rejected (nothing_to_pay).`)
    shop.db.sqlite.exec('UPDATE referrals SET rejected_for = NULL')
    expect(() => accept(shop, id, true)).toThrow(`Referral ${id} was rejected (no reason recorded).`)
    const second = refer(shop, mira.id, 2)
    setOrder(shop, 2, 'processing')
    shop.db.sqlite.exec(`UPDATE affiliates SET status = 'inactive'`)
    const details = { from: 'pending', to: 'unpaid' }
    const message = `Referral ${second.id} belongs to an affiliate who is not active.`
    expect(() => accept(shop, second.id, true)).toThrow(expect.objectContaining({ details, message }))
  })

  it('does not change a paid referral by accepting it', async () => {
    using shop = openTestShop()
    const { id } = await makeAffiliate(shop)
    earn(shop, id, 1)
    payAfterHold(shop)
    const before = referralOf(shop, 1)
    expect(accept(shop, before.id, false)).toEqual(before)
    expect(ledgerOf(shop, 1)).toEqual(['earned 1000', 'paid_out -1000'])
  })

  it('can reject a referral without a reason', async () => {
    using shop = openTestShop()
    const { id } = refer(shop, (await makeAffiliate(shop)).id, 1)
    expect(reject(shop, id, '  ').rejectedFor).toBe('operator')
    expect(accept(shop, id, true).status).toBe('unpaid')
  })

  it('can reject a referral with a reason and accept it later; the order does not reopen it', async () => {
    using shop = openTestShop()
    const { id } = refer(shop, (await makeAffiliate(shop)).id, 1)
    accept(shop, id, true)
    expect(reject(shop, id, ' bought by a friend ')).toMatchObject({
      status: 'rejected',
      rejectedFor: 'operator: bought by a friend'
    })
    write(shop.db, (tx) => reopenReferral(tx, 1, 0))
    expect(referralOf(shop, 1).status).toBe('rejected')
    expect(accept(shop, id, true)).toMatchObject({ status: 'unpaid', rejectedFor: null })
    expect(ledgerOf(shop, 1)).toEqual(['earned 1000', 'taken_back -1000', 'earned 1000'])
  })
})
