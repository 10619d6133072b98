import { referralsQuery, statsQuery, listReferrals } from '../shop/referrals/list.ts'
import { applyAsAffiliate } from '../shop/affiliates/create.ts'
import { getOwnAffiliate } from '../shop/referrals/ledger.ts'
import { countClick } from '../shop/affiliates/clicks.ts'
import { applyBody, clickBody, termsBody } from '../shop/affiliates/input.ts'
import { linkQuery, makeLink } from '../shop/affiliates/link.ts'
import { acceptTerms } from '../shop/affiliates/gate.ts'
import { toAffiliate } from '../shop/affiliates/view.ts'
import { getAffiliateStats } from '../shop/referrals/stats.ts'
import {
  affiliateData,
  affiliateLinkData,
  clickData,
  ownAffiliateData,
  payoutsData,
  referralsData
} from './answers/affiliates.ts'
import { listOwnPayouts } from '../shop/payouts/own-payouts.ts'
import { affiliateStatsData } from '../shop/referrals/shapes.ts'
import { forEveryone, forUsers, route } from './route.ts'
import type { Route } from './route.ts'
import { cookieRef, trackingCookies } from './tracking-cookies.ts'

const refusesInactive = [
  'AFFILIATE_NOT_FOUND',
  'AFFILIATE_NOT_ACTIVE',
  'AFFILIATE_TERMS_REQUIRED',
  'CONFIG_INVALID_AFFILIATE_TERMS_VERSION'
] as const

export const affiliateRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/affiliates/referrals',
    summary: "The current affiliate's referrals, newest first",
    answers: [{ data: referralsData, meta: null }],
    refuses: refusesInactive,
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: ['limit', 'cursor'] },
    invalid: 422,
    query: referralsQuery,
    scope: 'own',
    unforeseen: 'UPSTREAM_UNAVAILABLE',
    handler: ({ shop, identity }, { query }) => ({ data: listReferrals(shop, identity.user.id, query), meta: null })
  }),
  route({
    method: 'GET',
    path: '/affiliates/payouts',
    summary: 'The payouts to the current affiliate, newest first, with what each paid for each referral',
    answers: [{ data: payoutsData }],
    refuses: ['AFFILIATE_NOT_FOUND'],
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: ['limit', 'cursor'] },
    invalid: 422,
    query: referralsQuery,
    scope: 'own',
    handler: ({ shop, identity }, { query }) => ({ data: listOwnPayouts(shop, identity.user.id, query) })
  }),
  route({
    method: 'GET',
    path: '/affiliates/me',
    summary: "The current user's affiliate account, its balance, link and coupons",
    answers: [{ data: ownAffiliateData }],
    refuses: ['AFFILIATE_NOT_FOUND'],
    ...forUsers,
    handler: ({ shop, identity, now }) => ({ data: getOwnAffiliate(shop, identity.user.id, now) })
  }),
  route({
    method: 'GET',
    path: '/affiliates/link',
    summary: "Make the current affiliate's link to a page of the shop",
    answers: [{ data: affiliateLinkData }],
    refuses: refusesInactive,
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: ['to', 'campaign'] },
    invalid: 422,
    query: linkQuery,
    scope: 'own',
    handler: ({ shop, identity }, { query }) => ({ data: { url: makeLink(shop, identity.user.id, query) } })
  }),
  route({
    method: 'GET',
    path: '/affiliates/stats',
    summary: "Clicks, orders and commissions of the current affiliate's links, day by day",
    answers: [{ data: affiliateStatsData }],
    refuses: refusesInactive,
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: ['days'] },
    invalid: 422,
    query: statsQuery,
    scope: 'own',
    handler: ({ shop, identity, now }, { query }) => ({
      data: getAffiliateStats(shop.db, identity.user.id, query.days, now)
    })
  }),
  route({
    method: 'POST',
    path: '/affiliates/clicks',
    summary: "Count a click on an affiliate's link, and say for how long a checkout may send it",
    answers: [{ data: clickData }],
    sends: { 'Set-Cookie': 'The affiliate of the link, for the next checkout.' },
    refuses: [],
    ...forEveryone,
    session: 'optional',
    body: clickBody,
    handler: async ({ shop, request, identity, addressKey, now }, { body }) => {
      const { ref, campaign = '' } = body
      const sent = request.headers.get('cookie')
      const current = body.current ?? cookieRef(sent)
      const counted = await countClick(
        shop,
        { ref, campaign, current, userId: identity?.user.id ?? null, addressKey },
        now
      )
      const cookies = counted === null ? [] : trackingCookies(shop, { ref: counted.code, campaign }, sent, 'click')
      return { data: { accepted: true as const, trackingDays: counted?.days ?? null }, cookies }
    }
  }),
  route({
    method: 'POST',
    path: '/affiliates/apply',
    summary: 'Apply to become an affiliate',
    answers: [{ data: affiliateData }],
    refuses: ['AFFILIATE_NOT_FOUND', 'AFFILIATE_EXISTS', 'RATE_LIMITED'],
    ...forUsers,
    body: applyBody,
    handler: async ({ shop, identity, now }, { body }) => {
      const affiliate = await applyAsAffiliate(shop, identity.user, body, now)
      return { data: { affiliate: toAffiliate(shop.db, affiliate, now) } }
    }
  }),
  route({
    method: 'POST',
    path: '/affiliates/terms',
    summary: 'Accept the current affiliate terms',
    answers: [{ data: affiliateData }],
    refuses: ['AFFILIATE_NOT_FOUND', 'CONFIG_INVALID_AFFILIATE_TERMS_VERSION', 'RATE_LIMITED'],
    ...forUsers,
    body: termsBody,
    handler: async ({ shop, identity, now }, { body }) => {
      const affiliate = await acceptTerms(shop, identity.user.id, body.version, now)
      return { data: { affiliate: toAffiliate(shop.db, affiliate, now) } }
    }
  })
]
