import { describe, expect, test } from 'vitest'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { getOrderView } from '../../src/shop/orders/view.ts'
import { switchModule } from '../../src/shop/settings/settings.ts'
import type { Answer } from '../support/browser.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, freeSheet, handoff, mug, set, shopFor } from './checkout-support.ts'

/** Mira is active, Petra is not; Lena buys, and so do guests. */
async function shopWithAffiliates(options: Parameters<typeof shopFor>[0] = {}): Promise<RunningShop> {
  const shop = await shopFor({ ...options, settings: { 'limits.checkout_ip': 'off', ...options.settings } })
  await makeUser(shop.app, { email: 'lena@shop.example', billingEmail: 'lena.office@shop.example' })
  const people = [
    ['mira', 'active'],
    ['petra', 'inactive'],
    ['jonas', 'pending'],
    ['rolf', 'rejected'],
    ['lena-sells', 'active']
  ] as const
  for (const [code, status] of people) {
    const email = code === 'lena-sells' ? undefined : `${code}@shop.example`
    const billingEmail = `${code}.office@shop.example`
    const userId = email === undefined ? 1 : (await makeUser(shop.app, { email, billingEmail })).id
    createAffiliate(shop.app.db, { userId, code, status, rateBps: null }, shop.app.clock.now())
  }
  return shop
}

function seen(shop: RunningShop, orderId: number | string) {
  const view = getOrderView(shop.app.db, Number(orderId))
  const { affiliateRef: ref, affiliateCampaign: campaign, affiliateReferralCreated: referred } = view
  return {
    affiliate: [ref, campaign, referred, view.affiliateVisitConverted],
    visit: view.affiliateVisitId,
    order: [
      view.orderAttributionSourceType,
      view.orderAttributionUtmSource,
      view.orderAttributionUtmMedium,
      view.orderAttributionUtmCampaign,
      view.orderAttributionUtmContent
    ],
    marketing: [view.marketingUtmSource, view.marketingUtmMedium, view.marketingUtmCampaign, view.marketingUtmContent]
  }
}

type Utm = { utm_source?: string; utm_medium?: string; utm_campaign?: string; utm_content?: string }
type Kept = [string | null, string | null, string | null, string | null]

const utms: Record<string, { sent: Utm; kept: Kept }> = {
  none: { sent: {}, kept: [null, null, null, null] },
  some: { sent: { utm_source: 'mail', utm_content: 'top' }, kept: ['mail', null, null, 'top'] },
  all: {
    sent: { utm_source: 'mail', utm_medium: 'letter', utm_campaign: 'früh ling', utm_content: '50%' },
    kept: ['mail', 'letter', 'früh ling', '50%']
  },
  invalid: {
    sent: { utm_source: 'a\u0007b', utm_medium: '\u0000', utm_campaign: '\u0085x' },
    kept: [null, null, null, null]
  },
  'one of them invalid': { sent: { utm_source: 'a\nb', utm_medium: ' letter ' }, kept: [null, 'letter', null, null] },
  whitespace: { sent: { utm_source: ' ', utm_medium: '\t', utm_campaign: '' }, kept: [null, null, null, null] },
  'too long': {
    sent: { utm_source: 'x'.repeat(201), utm_medium: '🏮'.repeat(200) },
    kept: [null, '🏮'.repeat(200), null, null]
  }
}

/** What is sent as ref, and whether it counts; `buyer` says which of the two can be himself by it. */
const refs: Record<string, { sent?: string; credited: boolean; fields?: object; only?: 'guest' | 'customer' }> = {
  none: { credited: false },
  valid: { sent: 'mira', credited: true },
  'valid in another case, with blanks': { sent: ' MiRa ', credited: true },
  'valid by id': { sent: '1', credited: true },
  unknown: { sent: 'nobody', credited: false },
  inactive: { sent: 'petra', credited: false },
  pending: { sent: 'jonas', credited: false },
  rejected: { sent: 'rolf', credited: false },
  'too long': { sent: 'x'.repeat(101), credited: false },
  'himself by account': { sent: 'lena-sells', credited: false, only: 'customer' },
  'himself by his account’s email': {
    sent: 'mira',
    credited: false,
    only: 'guest',
    fields: { customer: { email: 'MIRA@shop.example' } }
  },
  'himself by his billing email': {
    sent: 'mira',
    credited: false,
    fields: { billingAddress: { email: 'mira.office@shop.example' } }
  },
  'himself by the email that he types while logged in': {
    sent: 'mira',
    credited: false,
    only: 'customer',
    fields: { customer: { email: 'mira@shop.example' } }
  }
}

test('stores what rules 4 to 8 require for each ref with each utm, of a guest and of a customer', async () => {
  const shop = await shopWithAffiliates()
  set(shop, withoutHoldLimits)
  const customer = shop.visitor()
  await customer.post('/auth/login', { email: 'lena@shop.example', password: goodPassword })
  let cases = 0
  for (const [refName, ref] of Object.entries(refs)) {
    for (const [utmName, utm] of Object.entries(utms)) {
      for (const [who, visitor] of [
        ['guest', shop.visitor()],
        ['customer', customer]
      ] as const) {
        if (ref.only !== undefined && ref.only !== who) continue
        const sent = { ...utm.sent, campaign: 'spring', ...(ref.sent === undefined ? {} : { ref: ref.sent }) }
        const isKnown = visitor.cookies.has('shopstead_ref')
        const answer = await checkOut(
          visitor,
          { items: [mug], ...ref.fields },
          { query: `?${new URLSearchParams(sent).toString()}` }
        )
        const { visit, ...stamped } = seen(shop, answer.data.orderId)
        const any = utm.kept.some((value) => value !== null)
        expect({ case: [refName, utmName, who], hasVisit: visit !== null, ...stamped }).toEqual({
          case: [refName, utmName, who],
          hasVisit: ref.credited,
          affiliate: ref.credited ? ['mira', 'spring', true, false] : ['', '', false, null],
          order: ref.credited
            ? ['referral', 'affiliate:mira', 'affiliate', 'spring', `visit:${visit}`]
            : [any ? 'utm' : 'typein', ...utm.kept],
          marketing: utm.kept
        })
        expect(trackingCookies(answer).length).toBe(ref.credited && !isKnown ? 2 : 0)
        cases += 1
      }
    }
  }
  expect(cases).toBe((10 * 2 + 3) * 7)
})

describe('attribution', () => {
  test('uses only the query, not cookies and not the body', async () => {
    const shop = await shopWithAffiliates()
    const visitor = shop.visitor({ cookie: 'shopstead_ref=mira; shopstead_campaign=spring' })
    const answer = await checkOut(visitor)
    expect(seen(shop, answer.data.orderId).order).toEqual(['typein', null, null, null, null])
    expect((await checkOut(visitor, { items: [mug], ref: 'mira' })).status).toBe(422)
  })

  test('is stored before the payment, so a declined order has it too, with its referral rejected', async () => {
    const shop = await shopWithAffiliates()
    const body = { items: [mug], ...handoff, paymentToken: 'pm_card_chargeDeclined' }
    expect((await checkOut(shop.visitor(), body, { query: '?ref=mira&utm_source=mail' })).status).toBe(402)
    expect(seen(shop, 1)).toMatchObject({ affiliate: ['mira', '', true, false], marketing: ['mail', null, null, null] })
    expect(shop.app.db.sqlite.prepare('SELECT status FROM referrals').pluck().all()).toEqual(['rejected'])
  })

  test('is converted for a paid order once its referral is accepted', async () => {
    const shop = await shopWithAffiliates({ settings: { 'affiliates.autoAccept': 'false' } })
    const body = { items: [mug], ...handoff, customer: { email: 'lena@shop.example' } }
    const pay = async () => (await checkOut(shop.visitor(), body, { query: '?ref=mira' })).data.orderId
    expect(seen(shop, await pay()).affiliate).toEqual(['mira', '', true, false])
    set(shop, { 'affiliates.autoAccept': 'true' })
    expect(seen(shop, await pay()).affiliate).toEqual(['mira', '', true, true])
  })

  test('has a visit and no referral for an order that costs nothing', async () => {
    const shop = await shopWithAffiliates()
    const answer = await checkOut(shop.visitor(), { items: [freeSheet] }, { query: '?ref=mira' })
    expect(seen(shop, answer.data.orderId)).toMatchObject({ affiliate: ['mira', '', false, false], visit: 1 })
  })

  test('ignores a ref when the affiliate module is off', async () => {
    const shop = await shopWithAffiliates()
    switchModule(shop.app.db, 'affiliates', false, shop.app.clock.now())
    const answer = await checkOut(shop.visitor(), { items: [mug] }, { query: '?ref=mira&utm_medium=letter' })
    expect(seen(shop, answer.data.orderId).order).toEqual(['utm', null, 'letter', null, null])
    expect(trackingCookies(answer)).toEqual([])
  })

  test('ignores unknown parameters', async () => {
    const shop = await shopWithAffiliates()
    const answer = await checkOut(shop.visitor(), { items: [mug] }, { query: '?utm_term=x&utm_id=1&gclid=2' })
    expect(seen(shop, answer.data.orderId).order[0]).toBe('typein')
  })
})

/** The Set-Cookie headers besides that of the checkout's own cookie. */
function trackingCookies({ headers }: Answer<unknown>): string[] {
  return headers.getSetCookie().filter((line) => !/^(__Host-)?shopstead_checkout=/.test(line))
}

describe('tracking cookies', () => {
  test("are set for the site's script, for 30 days, and only for a valid ref", async () => {
    const shop = await shopWithAffiliates()
    const answer = await checkOut(shop.visitor(), { items: [mug] }, { query: '?ref=MIRA&campaign=früh%20ling%3B' })
    expect(trackingCookies(answer)).toEqual([
      'shopstead_ref=mira; Path=/; SameSite=Lax; Max-Age=2592000',
      'shopstead_campaign=fr%C3%BCh%20ling%3B; Path=/; SameSite=Lax; Max-Age=2592000'
    ])
    const without = await checkOut(shop.visitor(), { items: [mug] }, { query: '?ref=mira' })
    expect(trackingCookies(without).map((line) => line.split('=')[0])).toEqual(['shopstead_ref'])
  })

  test('last as long as the setting, and are Secure when the shop uses https', async () => {
    const shop = await shopWithAffiliates({
      env: { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' },
      settings: { 'affiliates.cookieDays': '7' }
    })
    const answer = await checkOut(shop.visitor(), { items: [mug] }, { query: '?ref=mira' })
    expect(trackingCookies(answer)).toEqual(['shopstead_ref=mira; Path=/; SameSite=Lax; Max-Age=604800; Secure'])
  })

  test('begin with the click, and an order does not extend them', async () => {
    const shop = await shopWithAffiliates()
    const visitor = shop.visitor()
    const click = await visitor.post('/affiliates/clicks', { ref: ' MIRA', campaign: 'spring' })
    expect(trackingCookies(click)).toEqual([
      'shopstead_ref=mira; Path=/; SameSite=Lax; Max-Age=2592000',
      'shopstead_campaign=spring; Path=/; SameSite=Lax; Max-Age=2592000'
    ])
    expect(trackingCookies(await checkOut(visitor, { items: [mug] }, { query: '?ref=mira' }))).toEqual([])
    expect(trackingCookies(await visitor.post('/affiliates/clicks', { ref: 'gone' }))).toEqual([])
  })
})
