import { asc } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { users } from '../../../src/shop/accounts/schema.ts'
import { decideAffiliate } from '../../../src/shop/affiliates/decide.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { composeEmail } from '../../../src/shop/mailer/compose.ts'
import type { Email } from '../../../src/shop/mailer/email.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { giveBonus } from '../../../src/shop/payouts/by-hand.ts'
import { decideReferrals } from '../../../src/shop/payouts/decide-referral.ts'
import { failPayout } from '../../../src/shop/payouts/fail.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeAffiliate, refer } from '../affiliates/support.ts'
import { earn, pay, payAfterHold, setOrder } from './support.ts'

/** Every queued email, composed, with its recipient. */
function sentBy({ db, ...shop }: TestShop): (Email & { to: string })[] {
  const rows = db.orm.select().from(mails).orderBy(asc(mails.id)).all()
  return rows.map((row) => ({ to: row.recipient, ...composeEmail({ db, ...shop }, row, shop.clock.now()) }))
}

/** A German affiliate and an English one. */
async function shopOfTwo() {
  const shop = openTestShop()
  setSetting(shop.db, 'shop.name', 'Tin Lantern', 0)
  const mira = await makeAffiliate(shop)
  shop.db.orm.update(users).set({ language: 'de' }).run()
  const jonas = await makeAffiliate(shop, { code: 'jonas' })
  return { shop, mira, jonas }
}

it('a payout and its failure are told with the statement, in the language of the affiliate', async () => {
  const { shop, mira } = await shopOfTwo()
  earn(shop, mira.id, 1)
  payAfterHold(shop, { reference: 'SEPA 7' })
  failPayout(shop.db, 1, { reason: 'Konto erloschen', by: 'lena' }, shop.clock.now())
  const [paid, failed] = sentBy(shop)
  expect(paid).toMatchObject({
    to: 'mira@shop.example',
    subject: 'Tin Lantern hat Ihnen 10,00\u00a0€ ausgezahlt',
    facts: [{ value: '1' }, { value: '14. Februar 2026' }, { value: 'SEPA 7' }],
    action: { url: expect.stringMatching(/\/account\/payout\/1\.[\w.-]+$/) }
  })
  expect(failed).toMatchObject({
    opening: [expect.stringContaining('kam zu uns zurück'), 'Grund: Konto erloschen'],
    closing: [expect.stringContaining('wieder fällig')]
  })
  shop[Symbol.dispose]()
})

it('a command about many referrals sends each affiliate one email, and none about what was decided before', async () => {
  const { shop, mira, jonas } = await shopOfTwo()
  setSetting(shop.db, 'affiliates.autoAccept', 'false', 0)
  for (let orderId = 1; orderId <= 33; orderId += 1) {
    setOrder(shop, orderId, 'processing')
    refer(shop, orderId === 33 ? jonas.id : mira.id, orderId)
  }
  const ids = Array.from({ length: 33 }, (_, index) => index + 1)
  const accept = () => decideReferrals(shop.db, ids, { accept: true }, shop.clock.now())
  accept()
  accept()
  const told = sentBy(shop)
  expect(told.map(({ to, opening }) => [to, opening])).toEqual([
    ['mira@shop.example', ['Wir haben 32 Ihrer Empfehlungen geprüft und angenommen.']],
    ['jonas@shop.example', ['We have checked and accepted one referral of yours.']]
  ])
  expect(told[0]?.table?.lines).toHaveLength(30)
  expect(told[0]?.closing).toEqual(['Und 2 weitere.'])
  decideReferrals(shop.db, [33], { accept: false, reason: 'A colleague' }, shop.clock.now())
  expect(sentBy(shop)[2]).toMatchObject({
    opening: ['We have rejected one referral of yours. It earns no commission.', 'Reason: A colleague'],
    table: { lines: [{ label: 'Referral 33, order 33' }] }
  })
  shop[Symbol.dispose]()
})

it('an amount by hand and the end of the account are told, but nothing to an erased account', async () => {
  const { shop, jonas } = await shopOfTwo()
  const { db } = shop
  const bonus = (amountMinor: number) => giveBonus(db, 'jonas', { amountMinor, reason: 'film' }, shop.clock.now())
  bonus(2_500)
  bonus(-500)
  decideAffiliate(db, 'jonas', 'deactivate', shop.clock.now())
  expect(sentBy(shop).map(({ opening }) => opening)).toEqual([
    ['We have added €25.00 to what we owe you.', 'Reason: film'],
    ['We have taken €5.00 from what we owe you.', 'Reason: film'],
    [
      'We have deactivated your affiliate account at Tin Lantern. New orders earn no commission.',
      'You keep what you have earned.'
    ]
  ])
  pay(shop)
  db.orm.delete(mails).run()
  erasePerson(db, jonas.userId, shop.clock.now())
  failPayout(db, 1, { reason: 'closed', by: 'lena' }, shop.clock.now())
  expect(sentBy(shop)).toEqual([])
  shop[Symbol.dispose]()
})

it('a shop whose site sends its own emails sends none', async () => {
  const { shop } = await shopOfTwo()
  setSetting(shop.db, 'emails.off', '["affiliate_bonus"]', 0)
  giveBonus(shop.db, 'jonas', { amountMinor: 100, reason: 'film' }, shop.clock.now())
  expect(sentBy(shop)).toEqual([])
  shop[Symbol.dispose]()
})
