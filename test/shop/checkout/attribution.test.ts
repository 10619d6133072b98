import { expect, test } from 'vitest'
import { decideAttribution } from '../../../src/shop/checkout/checkout.ts'
import type { CheckoutQuery } from '../../../src/shop/checkout/input.ts'
import { switchModule } from '../../../src/shop/settings/settings.ts'
import { makeAffiliate, makeUser } from '../orders/support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'

const nothing: CheckoutQuery = {
  ref: null,
  campaign: null,
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_content: null
}
const utm = { utm_source: 'news', utm_medium: 'mail', utm_campaign: 'june', utm_content: 'top' }
const marketing = {
  marketingUtmSource: 'news',
  marketingUtmMedium: 'mail',
  marketingUtmCampaign: 'june',
  marketingUtmContent: 'top'
}
const guest = { userId: null, emails: [] }

function shopWithAffiliate() {
  const db = emptyShop()
  const owner = makeUser(db, 'mira@shop.example')
  return { db, owner, affiliate: makeAffiliate(db, owner.id) }
}

test('prefers a valid ref to utm values, which are stored as marketing values', () => {
  const { db, affiliate } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, ...utm, ref: 'MIRA', campaign: 'spring' }, guest)).toEqual({
    ...marketing,
    sourceType: 'referral',
    utmSource: 'affiliate:mira',
    utmMedium: 'affiliate',
    utmCampaign: 'spring',
    utmContent: null,
    refSent: 'MIRA',
    refOutcome: 'credited',
    credit: { affiliate, campaign: 'spring' }
  })
})

test('uses utm values as the source without a ref', () => {
  const { db } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, ...utm, campaign: 'spring' }, guest)).toEqual({
    ...marketing,
    sourceType: 'utm',
    utmSource: 'news',
    utmMedium: 'mail',
    utmCampaign: 'june',
    utmContent: 'top',
    refSent: null,
    refOutcome: 'none',
    credit: null
  })
})

test.each(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content'])('%s alone makes the source utm', (name) => {
  const { db } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, [name]: 'x' }, guest).sourceType).toBe('utm')
})

test('uses typein as the source without ref and utm values, even with a campaign', () => {
  const { db } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, campaign: 'spring' }, guest)).toEqual({
    marketingUtmSource: null,
    marketingUtmMedium: null,
    marketingUtmCampaign: null,
    marketingUtmContent: null,
    sourceType: 'typein',
    utmSource: null,
    utmMedium: null,
    utmCampaign: null,
    utmContent: null,
    refSent: null,
    refOutcome: 'none',
    credit: null
  })
})

test('stores an invalid ref with the reason, and uses the other values as the source', () => {
  const { db, owner } = shopWithAffiliate()
  const outcomeOf = (ref: string, buyer: Parameters<typeof decideAttribution>[2] = guest) => {
    const { refOutcome, refSent, sourceType, credit } = decideAttribution(db, { ...nothing, ...utm, ref }, buyer)
    expect({ refSent, sourceType, credit }).toEqual({ refSent: ref, sourceType: 'utm', credit: null })
    return refOutcome
  }
  expect(outcomeOf('nobody')).toBe('unknown')
  expect(outcomeOf('mira', { userId: owner.id, emails: [] })).toBe('self')
  expect(outcomeOf('mira', { userId: null, emails: [null, 'Mira@Shop.example'] })).toBe('self')
  db.sqlite.prepare("UPDATE users SET status = 'deactivated'").run()
  expect(outcomeOf('mira')).toBe('not_active')
  db.sqlite.prepare("UPDATE users SET status = 'active'").run()
  for (const status of ['pending', 'inactive', 'rejected']) {
    db.sqlite.prepare('UPDATE affiliates SET status = ?').run(status)
    expect(outcomeOf('mira')).toBe('not_active')
  }
  switchModule(db, 'affiliates', false, noon)
  expect(outcomeOf('mira')).toBe('module_off')
})
