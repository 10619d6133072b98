import { expect, it } from 'vitest'
import { eq } from 'drizzle-orm'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { users } from '../../../src/shop/accounts/schema.ts'
import { explainOrder } from '../../../src/shop/orders/explain.ts'
import type { NewOrder } from '../../../src/shop/orders/create-order.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { acceptAsOperator, decideReferrals } from '../../../src/shop/payouts/decide-referral.ts'
import { referralsInReview } from '../../../src/shop/payouts/held.ts'
import { planPayouts } from '../../../src/shop/payouts/plan.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { emailKey } from '../../../src/platform/text.ts'
import { credited, draft, line, makeAffiliate, makeProduct, makeUser, place, referralOf } from '../orders/support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

const home = { address1: 'Quay 7', postcode: '20457', city: 'Hamburg', country: 'DE' }

function shopOfMira() {
  const db = emptyShop()
  const mira = makeUser(db, 'mira@shop.example')
  const person = { displayName: 'Mira Okafor', billingPhone: '+49 40 555 0100', address: home }
  db.orm.update(users).set(person).where(eq(users.id, mira.id)).run()
  const affiliate = makeAffiliate(db, mira.id)
  const buy = (changes: Partial<NewOrder>) => {
    const { id } = place(db, draft([line(makeProduct(db))], { attribution: credited(affiliate), ...changes }))
    return write(db, (tx) => payOrder(tx, id, { by: 'gateway', reason: 'paid' }, noon)).id
  }
  return { db, affiliate, buy }
}

const stateOf = (db: Db, orderId: number) => {
  const { status, review } = referralOf(db, orderId) ?? {}
  return [status, review]
}

it('a referral with signs of the affiliate waits for a review, and never becomes due by time', () => {
  const { db, buy } = shopOfMira()
  const cases: [Partial<NewOrder>, string[] | null][] = [
    [{}, null],
    [{ email: 'mira+lamp@shop.example' }, ['plus_address']],
    [{ contact: { firstName: 'MIRA', lastName: 'Okafor', phone: '+49 (40) 5550100' } }, ['same_person']],
    [{ contact: { firstName: 'Mira', lastName: 'Okafor' } }, null],
    [
      { contact: { firstName: 'Lena' }, shippingAddress: { ...home, address1: 'quay 7', phone: '+49405550100' } },
      ['same_person']
    ],
    [{ email: null }, ['no_email']]
  ]
  for (const [changes, review] of cases)
    expect(stateOf(db, buy(changes))).toEqual([review === null ? 'unpaid' : 'pending', review])
  expect(planPayouts(db, noon + 400 * 86_400_000)).toMatchObject([{ earnedMinor: 250, heldMinor: 0 }])
  expect(referralsInReview(db)).toHaveLength(4)
  expect(explainOrder(db, 2).referral).toContainEqual(expect.objectContaining({ rule: 'review' }))
})

it('an affiliate who has not verified the email waits for a review where the shop asks for that', () => {
  const { db, affiliate, buy } = shopOfMira()
  const verify = (emailVerifiedAt: number | null) =>
    db.orm.update(users).set({ emailVerifiedAt }).where(eq(users.id, affiliate.userId)).run()
  verify(null)
  expect(stateOf(db, buy({}))).toEqual(['unpaid', null])
  setSetting(db, 'registration.emailVerification', 'true', noon)
  const id = buy({})
  expect(stateOf(db, id)).toEqual(['pending', ['unverified_affiliate']])
  expect(explainOrder(db, id).lines.join()).toContain('has not verified the email of the account')
  verify(noon)
  expect(stateOf(db, buy({}))).toEqual(['unpaid', null])
})

it('an operator accepts or rejects all of them at once', () => {
  const { db, buy } = shopOfMira()
  const [first, second] = [buy({ email: null }), buy({ email: 'mira+a@shop.example' })]
  const ids = referralsInReview(db).map(({ id }) => id)
  expect(() => decideReferrals(db, [...ids, 99], { accept: true }, noon)).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' })
  )
  expect(referralsInReview(db)).toHaveLength(2)
  decideReferrals(db, ids, { accept: true }, noon)
  expect([first, second].map((id) => referralOf(db, id)?.status)).toEqual(['unpaid', 'unpaid'])
  expect(referralsInReview(db)).toEqual([])
})

it("the referral of the affiliate's own order can be accepted once its email was corrected", () => {
  const { db, buy } = shopOfMira()
  const id = buy({ email: 'mira@shop.example' })
  const { id: referralId = 0, rejectedFor } = referralOf(db, id) ?? {}
  expect(rejectedFor).toBe('self')
  expect(() => acceptAsOperator(db, referralId, noon)).toThrow(expect.objectContaining({ code: 'TRANSITION_REFUSED' }))
  const email = 'lena@shop.example'
  db.orm
    .update(orders)
    .set({ email, emailKey: emailKey(email) })
    .where(eq(orders.id, id))
    .run()
  expect(acceptAsOperator(db, referralId, noon)).toMatchObject({ status: 'unpaid', rejectedFor: null })
})
