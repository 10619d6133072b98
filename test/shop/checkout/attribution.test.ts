import { expect, test } from 'vitest'
import { decideAttribution } from '../../../src/shop/orders/attribution.ts'
import type { Buyer } from '../../../src/shop/affiliates/credit.ts'
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
const guest = { coupons: [], buyer: { userId: null, emails: [] } }

function shopWithAffiliate() {
  const db = emptyShop()
  const owner = makeUser(db, 'mira@shop.example')
  return { db, owner, affiliate: makeAffiliate(db, owner.id) }
}

test('prefers a valid ref to utm values, which are stored as marketing values', () => {
  const { db, affiliate } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, ...utm, ref: 'MIRA', campaign: 'spring' }, guest, noon)).toEqual({
    ...marketing,
    sourceType: 'referral',
    utmSource: 'affiliate:mira',
    utmMedium: 'affiliate',
    utmCampaign: 'spring',
    utmContent: null,
    candidates: [{ by: 'link', named: 'MIRA', affiliateId: affiliate.id, outcome: 'credited' }],
    creditedBy: 'link',
    credit: { affiliate, campaign: 'spring' }
  })
})

test('uses utm values as the source without a ref', () => {
  const { db } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, ...utm, campaign: 'spring' }, guest, noon)).toEqual({
    ...marketing,
    sourceType: 'utm',
    utmSource: 'news',
    utmMedium: 'mail',
    utmCampaign: 'june',
    utmContent: 'top',
    candidates: [],
    creditedBy: null,
    credit: null
  })
})

test.each(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content'])('%s alone makes the source utm', (name) => {
  const { db } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, [name]: 'x' }, guest, noon).sourceType).toBe('utm')
})

test('uses typein as the source without ref and utm values, even with a campaign', () => {
  const { db } = shopWithAffiliate()
  expect(decideAttribution(db, { ...nothing, campaign: 'spring' }, guest, noon)).toEqual({
    marketingUtmSource: null,
    marketingUtmMedium: null,
    marketingUtmCampaign: null,
    marketingUtmContent: null,
    sourceType: 'typein',
    utmSource: null,
    utmMedium: null,
    utmCampaign: null,
    utmContent: null,
    candidates: [],
    creditedBy: null,
    credit: null
  })
})

test('stores an invalid ref with the reason, and uses the other values as the source', () => {
  const { db, owner } = shopWithAffiliate()
  const outcomeOf = (ref: string, buyer: Buyer = guest.buyer) => {
    const tracked = { ...nothing, ...utm, ref }
    const { candidates, sourceType, creditedBy, credit } = decideAttribution(db, tracked, { coupons: [], buyer }, noon)
    expect({ sourceType, creditedBy, credit }).toEqual({ sourceType: 'utm', creditedBy: null, credit: null })
    expect(candidates).toMatchObject([{ by: 'link', named: ref }])
    return candidates[0]?.outcome
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
