import { setEmail } from '../../src/shop/customers/correct-account.ts'
import { expect, it, onTestFinished } from 'vitest'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { getAffiliate } from '../../src/shop/affiliates/find.ts'
import { explainOrder } from '../../src/shop/orders/explain.ts'
import { listAdminReferrals } from '../../src/shop/referrals/admin.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, fieldErrors, mug } from './checkout-support.ts'

const spellings = [
  'mira@\u017Fhop.example',
  'MIRA@SHOP.EXAMPLE',
  '\uFF4D\uFF49\uFF52\uFF41@shop.example',
  'mira@\uFF33\uFF28\uFF2F\uFF30.example'
]

async function openShop(): Promise<RunningShop> {
  // Stripe takes only ASCII letters before the @.
  const shop = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'manual' } })
  onTestFinished(() => shop.stop())
  return shop
}

it('allows one account for a mailbox, in any spelling of its address', async () => {
  const shop = await openShop()
  expect((await shop.visitor().register({ email: 'mira@shop.example' })).status).toBe(201)
  for (const email of spellings)
    expect(await shop.visitor().register({ email })).toMatchObject({
      status: 400,
      error: { code: 'AUTH_REGISTRATION_FAILED' }
    })
})

it('accepts each spelling of the address at login, also of its domain', async () => {
  const shop = await openShop()
  await makeUser(shop.app, { email: 'lena@m\u00FCnchen.example' })
  for (const email of ['lena@xn--mnchen-3ya.example', 'LENA@MU\u0308NCHEN.example'])
    expect((await shop.visitor().post('/auth/login', { email, password: goodPassword })).status).toBe(200)
})

it('counts registrations and recovery messages of a mailbox together', async () => {
  const shop = await openShop()
  setSetting(shop.app.db, 'limits.register_email', '2/3600', 0)
  setSetting(shop.app.db, 'limits.recovery_email', '2/3600', 0)
  await makeUser(shop.app, { email: 'mira@shop.example' })
  const registered = []
  for (const email of spellings.slice(0, 3)) {
    registered.push((await shop.visitor().register({ email })).status)
    await shop.visitor().post('/auth/forgot-password', { email })
  }
  expect(registered).toEqual([400, 400, 429])
  // Each link ends the one before, and the mailer deletes the email of an ended link.
  expect(shop.app.db.sqlite.prepare('SELECT count(*) FROM email_tokens').pluck().get()).toBe(2)
})

it('credits no affiliate for an order with any spelling of their own address', async () => {
  const shop = await openShop()
  const { id: userId } = await makeUser(shop.app, { email: 'mira@shop.example' })
  createAffiliate(shop.app.db, { userId, code: 'mira', status: 'active', rateBps: null }, 0)
  for (const email of spellings)
    expect((await checkOut(shop.visitor(), { items: [mug], customer: { email } }, { query: '?ref=mira' })).status).toBe(
      200
    )
  expect(listAdminReferrals(shop.app.db, { limit: 10 })).toEqual([])
})

it('keeps the referral of a plus address of the affiliate for a review', async () => {
  const shop = await openShop()
  const { db } = shop.app
  const { id: userId } = await makeUser(shop.app, { email: 'mira@shop.example' })
  createAffiliate(db, { userId, code: 'mira', status: 'active', rateBps: null }, 0)
  for (const email of ['Mira+x@shop.example', 'lena@shop.example'])
    await checkOut(shop.visitor(), { items: [mug], customer: { email } }, { query: '?ref=mira' })
  const { id: affiliateId } = getAffiliate(db, 'mira')
  const notes = listAdminReferrals(db, { affiliateId, limit: 10 }).map(({ orderId, review }) => [orderId, review])
  expect(notes).toEqual([
    [2, undefined],
    [1, ['plus_address']]
  ])
  expect(explainOrder(db, 1).referral).toContainEqual(expect.objectContaining({ rule: 'review' }))
  expect(explainOrder(db, 2).referral).not.toContainEqual(expect.objectContaining({ rule: 'review' }))
})

it('rejects the referral of a guest order that moves into the account of its own affiliate', async () => {
  const shop = await openShop()
  const { db } = shop.app
  const affiliate = await makeUser(shop.app, { email: 'mira@shop.example' })
  createAffiliate(db, { userId: affiliate.id, code: 'mira', status: 'active', rateBps: null }, 0)
  for (const email of ['mira.okafor@gmail.com', 'lena@shop.example'])
    await checkOut(shop.visitor(), { items: [mug], customer: { email } }, { query: '?ref=mira' })
  const statuses = () => listAdminReferrals(db, { limit: 10 }).map(({ orderId, status }) => [orderId, status])
  const pending = [
    [2, 'pending'],
    [1, 'pending']
  ]
  expect(statuses()).toEqual(pending)
  setEmail(shop.app, affiliate.id, { email: 'mira.okafor@gmail.com', isVerified: true }, shop.app.clock.now())
  expect(statuses()).toEqual([pending[0], [1, 'rejected']])
})

it("notes a Gmail address that differs from the affiliate's by dots and domain", async () => {
  const shop = await openShop()
  const { db } = shop.app
  const { id: userId } = await makeUser(shop.app, { email: 'mira@gmail.com' })
  createAffiliate(db, { userId, code: 'mira', status: 'active', rateBps: null }, 0)
  await checkOut(shop.visitor(), { items: [mug], customer: { email: 'm.i.ra@googlemail.com' } }, { query: '?ref=mira' })
  expect(listAdminReferrals(db, { limit: 10 }).map(({ review }) => review)).toEqual([['plus_address']])
})

it('rejects a domain that cannot exist with a field error', async () => {
  const shop = await openShop()
  for (const email of ['mira@xn--shop-.example', 'mira@xn--hop-pua.example']) {
    const answer = await shop.visitor().register({ email })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['email']])
  }
})
