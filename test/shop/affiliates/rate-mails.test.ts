import { asc } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { users } from '../../../src/shop/accounts/schema.ts'
import { decideAffiliate } from '../../../src/shop/affiliates/decide.ts'
import { addRate, endRate, setOwnRate } from '../../../src/shop/affiliates/rates.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { composeEmail } from '../../../src/shop/mailer/compose.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeProduct } from '../orders/support.ts'
import { makeAffiliate } from './support.ts'

/** Noon in Berlin; the day begins at 22:00 UTC of the day before. */
const now = Date.UTC(2026, 5, 15, 10)

async function openShop(): Promise<TestShop> {
  const shop = openTestShop()
  shop.clock.set(now)
  setSetting(shop.db, 'shop.name', 'Tin Lantern', now)
  setSetting(shop.db, 'shop.timeZone', 'Europe/Berlin', now)
  await makeAffiliate(shop)
  return shop
}

/** The subjects and first sentences of the emails since the last look. */
function newMails({ db, ...shop }: TestShop): string[] {
  const rows = db.orm.select().from(mails).orderBy(asc(mails.id)).all()
  db.orm.delete(mails).run()
  return rows.map((row) => {
    const { subject, opening } = composeEmail({ db, ...shop }, row, now)
    return `${row.recipient}: ${subject}: ${opening[0] ?? ''}`
  })
}

it('an affiliate reads from which day on they have another rate, in their language', async () => {
  using shop = await openShop()
  const set = (rateBps: number | null, from?: string) => setOwnRate(shop.db, 'mira', { rateBps, from }, now)
  set(1_250, '2026-07-01')
  expect(newMails(shop)).toEqual([
    'mira@shop.example: Your commission rate at Tin Lantern: From 1 July 2026 on, you earn a commission of 12.5 % at Tin Lantern.'
  ])
  shop.db.orm.update(users).set({ language: 'de' }).run()
  set(1_300, '2026-07-01')
  expect(newMails(shop)).toEqual([
    'mira@shop.example: Ihr Provisionssatz bei Tin Lantern: Ab 1. Juli 2026 beträgt Ihre Provision bei Tin Lantern 13 %.'
  ])
  shop.db.orm.update(users).set({ language: 'fr' }).run()
  endRate(shop.db, 2, now)
  expect(newMails(shop)).toEqual([
    'mira@shop.example: Votre taux de commission chez Tin Lantern: À partir du 1 juillet 2026, votre commission chez Tin Lantern est de 10 %.'
  ])
})

it('a rate that stays the same, one of a product, and one of an account that is not active cause no email', async () => {
  using shop = await openShop()
  makeProduct(shop.db, { slug: 'lamp' })
  setOwnRate(shop.db, 'mira', { rateBps: 1_000 }, now)
  setOwnRate(shop.db, 'mira', { rateBps: null }, now)
  addRate(shop.db, { product: 'lamp', affiliate: 'mira', rateBps: 500 }, now)
  endRate(shop.db, 2, now)
  decideAffiliate(shop.db, 'mira', 'deactivate', now)
  newMails(shop)
  setOwnRate(shop.db, 'mira', { rateBps: 2_000 }, now)
  expect(newMails(shop)).toEqual([])
})
