import { getAffiliate } from '../../src/shop/affiliates/find.ts'
import { showAffiliate } from '../../src/shop/referrals/admin.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWebApp } from '../../src/web-app.ts'
import { createApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { write } from '../../src/platform/db/database.ts'
import { startSession } from '../../src/shop/accounts/sessions.ts'
import type { AffiliateStatus } from '../../src/shop/affiliates/find.ts'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { acceptReferral, createReferral, rejectReferral, reviewReferral } from '../../src/shop/referrals/referrals.ts'
import { decideReferrals } from '../../src/shop/payouts/decide-referral.ts'
import { referralsData } from '../../src/api/answers/affiliates.ts'
import { failPayout } from '../../src/shop/payouts/fail.ts'
import { payPayouts } from '../../src/shop/payouts/pay.ts'
import { recordClicks, recordVisit } from '../../src/shop/affiliates/clicks.ts'
import { affiliateResults, getAffiliateStats } from '../../src/shop/referrals/stats.ts'
import { affiliateStatsData } from '../../src/shop/referrals/shapes.ts'
import { setSetting, switchModule } from '../../src/shop/settings/settings.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { makeUser } from '../support/people.ts'
import { oneLine } from '../shop/affiliates/support.ts'
import { setOrder } from '../shop/payouts/support.ts'

type Body = {
  data?: Record<string, unknown>
  meta?: object
  error?: { code: string; details: { fieldErrors?: object } }
}
type Answer = { status: number; headers: Headers; body: Body }

let app: App
let dataDir: string
let handle: ReturnType<typeof createWebApp>['fetch']

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'shopstead-test-'))
  const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir, SHOPSTEAD_LOG: 'silent' }
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  app = createApp(parseConfig(env), { database: 'migrated' })
  handle = createWebApp(app).fetch
})
afterEach(() => {
  app.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const dayText = (at: number) => new Date(at).toISOString().slice(0, 10)
const affiliateStats = ({ body }: Answer) => affiliateStatsData.parse(body.data)

/** A logged-in user, with an affiliate account in the state given; their calls by path, with a body for POST. */
async function user(name: string, status: AffiliateStatus | null) {
  const { id } = await makeUser(app, { email: `${name}@shop.example`, passwordHash: 'none' })
  const now = app.clock.now()
  const { token, affiliate } = write(app.db, (tx) => ({
    token: startSession(tx, { userId: id, rememberMe: false }, now).token,
    affiliate: status && createAffiliate(tx, { userId: id, code: name, status, rateBps: null }, now)
  }))
  const refer = (orderId: number, at = now, currency = 'EUR'): void =>
    write(app.db, (tx) => {
      if (affiliate === null) throw new Error('This user has no affiliate account.')
      const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign: null }, at)
      createReferral(tx, { affiliate, orderId, visitId, goods: oneLine(5_000), currency }, at)
    })
  const own = (path: string, body?: object) => call(path, body, `shopstead_session=${token}`)
  return { refer, call: own, stats: async (query: string) => affiliateStats(await own(`/stats${query}`)) }
}

async function call(path: string, body?: object, cookie?: string): Promise<Answer> {
  const response = await handle(
    new Request(`http://localhost:3000/api/v1/affiliates${path}`, {
      headers: {
        ...(cookie === undefined ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' })
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
    })
  )
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
}

const refusal = ({ status, body }: Answer) => [status, body.error?.code]
const fields = ({ body }: Answer) => Object.keys(body.error?.details.fieldErrors ?? {})

describe('GET /affiliates/referrals', () => {
  it('answers only data, page by page', async () => {
    const mira = await user('mira', 'active')
    for (const orderId of [1, 2, 3]) mira.refer(orderId)
    const first = await mira.call('/referrals?limit=2')
    expect([first.status, Object.keys(first.body), first.headers.get('cache-control')]).toEqual([
      200,
      ['data'],
      'no-store'
    ])
    expect(first.body.data?.referrals).toEqual([
      {
        id: 3,
        amountMinor: 500,
        currency: 'EUR',
        status: 'pending',
        createdAtUtc: expect.stringMatching(/^\d{4}-.*Z$/)
      },
      expect.objectContaining({ id: 2 })
    ])
    const second = await mira.call(`/referrals?limit=2&cursor=${String(first.body.data?.nextCursor)}`)
    expect(second.body).toEqual({ data: { referrals: [expect.objectContaining({ id: 1 })], nextCursor: null } })
  })

  it('runs the checks in the documented order', async () => {
    const petra = await user('petra', 'inactive')
    const newcomer = await user('new', null)
    const mira = await user('mira', 'active')
    setSetting(app.db, 'affiliates.termsGating', 'true', 0)
    expect(refusal(await call('/referrals?limit=0'))).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(refusal(await newcomer.call('/referrals?limit=0'))).toEqual([422, 'VALIDATION_FAILED'])
    expect(refusal(await newcomer.call('/referrals?cursor=forged'))).toEqual([422, 'VALIDATION_FAILED'])
    expect(refusal(await newcomer.call('/referrals'))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    expect(refusal(await petra.call('/referrals'))).toEqual([403, 'AFFILIATE_NOT_ACTIVE'])
    expect(refusal(await mira.call('/referrals'))).toEqual([500, 'CONFIG_INVALID_AFFILIATE_TERMS_VERSION'])
    setSetting(app.db, 'affiliates.termsVersion', '2026-01-31', 0)
    expect(refusal(await mira.call('/referrals'))).toEqual([403, 'AFFILIATE_TERMS_REQUIRED'])
    expect((await mira.call('/terms', { version: '2026-01-31' })).status).toBe(200)
    expect((await mira.call('/referrals')).status).toBe(200)
    switchModule(app.db, 'affiliates', false, 0)
    expect(refusal(await mira.call('/referrals'))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
  })

  it('names the parameter that it rejects', async () => {
    const mira = await user('mira', 'active')
    const refused = [
      'limit=101',
      'limit=',
      'limit=1e1',
      'limit=5&limit=5',
      'cursor=',
      'cursor=AAAA',
      'affiliateId=1',
      'affiliate=mira',
      'userId=2',
      'email=a@b.example'
    ]
    for (const query of refused) {
      const answer = await mira.call(`/referrals?${query}`)
      expect([query, ...refusal(answer)]).toEqual([query, 422, 'VALIDATION_FAILED'])
      expect(fields(answer)).toEqual([query.slice(0, query.indexOf('='))])
    }
  })

  it("refuses another affiliate's cursor", async () => {
    const mira = await user('mira', 'active')
    const petra = await user('petra', 'active')
    for (const orderId of [1, 2]) mira.refer(orderId)
    const { nextCursor } = (await mira.call('/referrals?limit=1')).body.data ?? {}
    const answer = await petra.call(`/referrals?cursor=${String(nextCursor)}`)
    expect([...refusal(answer), ...fields(answer)]).toEqual([422, 'VALIDATION_FAILED', 'cursor'])
  })

  it('answers UPSTREAM_UNAVAILABLE when anything else fails, without details', async () => {
    const mira = await user('mira', 'active')
    app.db.sqlite.exec('ALTER TABLE referrals RENAME TO elsewhere')
    const answer = await mira.call('/referrals')
    expect(refusal(answer)).toEqual([500, 'UPSTREAM_UNAVAILABLE'])
    expect(JSON.stringify(answer.body)).not.toMatch(/SQL|table|elsewhere/i)
  })
})

describe('GET /affiliates/stats', () => {
  const dayMs = 86_400_000

  it('counts clicks and accepted orders by days of the shop', async () => {
    const mira = await user('mira', 'active')
    setSetting(app.db, 'shop.timeZone', 'America/Los_Angeles', 0)
    const evening = Date.parse('2026-01-15T23:30:00-08:00')
    mira.refer(1, evening)
    write(app.db, (tx) => acceptReferral(tx, 1, evening + 3_600_000))
    write(app.db, (tx) => recordClicks(tx, 1, { clicks: 5 }, evening))
    write(app.db, (tx) => recordClicks(tx, 1, { clicks: 2 }, evening + 3_600_000))
    const owner = app.db.sqlite.prepare<[], number>('SELECT user_id FROM affiliates').pluck().get() ?? 0
    const { days } = getAffiliateStats(app.db, owner, 1, evening)
    expect(days).toMatchObject([{ day: '2026-01-15', clicks: 5, orders: 1 }])
    expect(affiliateResults(app.db, { from: '2026-01-15', to: '2026-01-15', currency: 'EUR' })).toMatchObject([
      { clicks: 5, orders: 1 }
    ])
    expect(affiliateResults(app.db, { from: '2026-01-16', to: '2026-01-16', currency: 'EUR' })).toMatchObject([
      { clicks: 2, orders: 0 }
    ])
  })

  it('counts clicks and accepted orders by UTC day without a time zone', async () => {
    const mira = await user('mira', 'active')
    const today = Math.floor(app.clock.now() / dayMs) * dayMs
    for (const [orderId, ago] of [0, 0, 2, 6, 7].entries()) {
      mira.refer(orderId + 1, today - ago * dayMs)
      if (orderId !== 1) write(app.db, (tx) => acceptReferral(tx, orderId + 1, today))
    }
    mira.refer(9, today - 2 * dayMs, 'JPY')
    write(app.db, (tx) => acceptReferral(tx, 9, today))
    write(app.db, (tx) => rejectReferral(tx, 3, 'order_refunded', today))
    write(app.db, (tx) => recordClicks(tx, 1, { clicks: 5 }, today))
    write(app.db, (tx) => recordClicks(tx, 1, { clicks: 2 }, today - 1))
    write(app.db, (tx) => recordClicks(tx, 1, { clicks: 40 }, today - 7 * dayMs))
    const { from, to, days, totals } = await mira.stats('?days=7')
    expect([from, to]).toEqual([dayText(today - 6 * dayMs), dayText(today)])
    expect(days.map(({ day, clicks, orders }) => [day, clicks, orders])).toEqual([
      [dayText(today - 6 * dayMs), 0, 1],
      [dayText(today - 5 * dayMs), 0, 0],
      [dayText(today - 4 * dayMs), 0, 0],
      [dayText(today - 3 * dayMs), 0, 0],
      [dayText(today - 2 * dayMs), 0, 1],
      [dayText(today - dayMs), 2, 0],
      [dayText(today), 5, 1]
    ])
    expect(days[4]?.commissions).toEqual([{ currency: 'JPY', amountMinor: 500 }])
    const commissions = [
      { currency: 'EUR', amountMinor: 1_000 },
      { currency: 'JPY', amountMinor: 500 }
    ]
    expect(totals).toEqual({ clicks: 7, orders: 3, conversionPercent: 42.9, commissions })
    const all = await mira.stats('?days=366')
    expect([all.days.length, all.totals.clicks, all.totals.orders]).toEqual([366, 47, 4])
  })

  it('has a conversion of zero without clicks, and of at most a hundred', async () => {
    const mira = await user('mira', 'active')
    const empty = { clicks: 0, orders: 0, commissions: [], conversionPercent: 0 }
    const stats = await mira.stats('')
    expect([stats.days.length, stats.totals]).toEqual([90, empty])
    mira.refer(1)
    write(app.db, (tx) => acceptReferral(tx, 1, app.clock.now()))
    expect((await mira.stats('?days=1')).totals).toMatchObject({ clicks: 0, orders: 1, conversionPercent: 0 })
    mira.refer(2)
    write(app.db, (tx) => acceptReferral(tx, 2, app.clock.now()))
    write(app.db, (tx) => recordClicks(tx, 1, { clicks: 1 }, app.clock.now()))
    expect((await mira.stats('?days=1')).totals).toMatchObject({ clicks: 1, orders: 2, conversionPercent: 100 })
  })

  it('refuses as the list of referrals does', async () => {
    const mira = await user('mira', 'active')
    for (const query of ['days=0', 'days=367', 'days=1.5', 'days=', 'days=7&days=7', 'affiliateId=2'])
      expect([query, ...refusal(await mira.call(`/stats?${query}`))]).toEqual([query, 422, 'VALIDATION_FAILED'])
    expect(refusal(await call('/stats'))).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(refusal(await (await user('new', null)).call('/stats'))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    expect(refusal(await (await user('petra', 'inactive')).call('/stats'))).toEqual([403, 'AFFILIATE_NOT_ACTIVE'])
  })
})

describe('POST /affiliates/clicks', () => {
  const clicks = () => app.db.sqlite.prepare('SELECT affiliate_id AS id, day, clicks FROM affiliate_clicks').all()

  it('adds a click to the number of the day', async () => {
    await user('mira', 'active')
    for (const ref of ['mira', ' MIRA ', '1'])
      expect((await call('/clicks', { ref })).body.data).toEqual({ accepted: true, trackingDays: 30 })
    expect(clicks()).toEqual([{ id: 1, day: dayText(app.clock.now()), clicks: 3 }])
  })

  it('counts each campaign of a link, and those that strangers make up only up to 50 a day', async () => {
    const mira = await user('mira', 'active')
    for (const campaign of ['spring', 'spring', undefined]) await call('/clicks', { ref: 'mira', campaign })
    const seen = [
      { campaign: 'spring', clicks: 2 },
      { campaign: null, clicks: 1 }
    ]
    expect((await mira.call('/stats')).body.data).toMatchObject({ totals: { clicks: 3 }, campaigns: seen })
    setSetting(app.db, 'limits.click_ip', 'off', 0)
    for (let made = 0; made < 60; made += 1) await call('/clicks', { ref: 'mira', campaign: `made up ${made}` })
    expect(clicks()).toHaveLength(50)
    expect((await mira.call('/stats')).body.data).toMatchObject({ totals: { clicks: 63 } })
    const { campaigns } = showAffiliate(app.db, getAffiliate(app.db, 'mira'), app.clock.now())
    expect(campaigns).toHaveLength(50)
    expect(campaigns[0]).toMatchObject({ campaign: null, clicks: 13, visits: 0 })
  })

  it('counts nothing and sets no cookie for a ref that would not count at a checkout', async () => {
    const mira = await user('mira', 'active')
    await user('petra', 'inactive')
    await user('jonas', 'pending')
    for (const ref of ['petra', 'jonas', 'unknown', '999', 'x'.repeat(5_000)])
      expect((await call('/clicks', { ref })).body.data).toEqual({ accepted: true, trackingDays: null })
    expect((await mira.call('/clicks', { ref: 'mira' })).body.data).toEqual({ accepted: true, trackingDays: null })
    switchModule(app.db, 'affiliates', false, 0)
    expect((await call('/clicks', { ref: 'mira' })).body.data).toEqual({ accepted: true, trackingDays: null })
    expect(fields(await call('/clicks', { ref: '' }))).toEqual(['ref'])
    expect(clicks()).toEqual([])
  })

  it('counts no more clicks of an address than the limit allows, and they start the days all the same', async () => {
    await user('mira', 'active')
    setSetting(app.db, 'limits.click_ip', '2/3600', 0)
    for (let count = 0; count < 5; count += 1)
      expect((await call('/clicks', { ref: 'mira' })).body.data).toEqual({ accepted: true, trackingDays: 30 })
    expect(clicks()).toMatchObject([{ clicks: 2 }])
  })
})

describe('becoming an affiliate', () => {
  it('starts with one application', async () => {
    const lena = await user('lena', null)
    expect(refusal(await call('/apply', {}))).toEqual([401, 'NOT_AUTHENTICATED'])
    const affiliate = { id: 1, code: 'lena', status: 'pending', rate: 10, termsVersion: null, termsAcceptedAt: null }
    const applied = await lena.call('/apply', {
      website: 'https://lena.example',
      marketingOptIn: true
    })
    expect([applied.status, applied.body.data]).toEqual([200, { affiliate }])
    expect(refusal(await lena.call('/apply', {}))).toEqual([409, 'AFFILIATE_EXISTS'])
    expect(fields(await lena.call('/apply', { website: 'lena' }))).toEqual(['website'])
    const balance = { currency: 'EUR', pendingMinor: 0, unpaidMinor: 0, paidMinor: 0 }
    expect((await lena.call('/me')).body.data).toEqual({ affiliate, balance, link: null, coupons: [] })
    expect(refusal(await (await user('new', null)).call('/me'))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
  })

  it('continues with the current version of the terms', async () => {
    const mira = await user('mira', 'active')
    setSetting(app.db, 'affiliates.termsVersion', '1.2.0', 0)
    for (const body of [{}, { version: '1.1.0' }, { version: 1 }])
      expect(fields(await mira.call('/terms', body))).toEqual(['version'])
    expect((await mira.call('/terms', { version: '1.2.0' })).body.data).toMatchObject({
      affiliate: { termsVersion: '1.2.0' }
    })
  })
})

describe('GET /affiliates/payouts', () => {
  it('shows an affiliate only their own payouts, page by page, also while the account is not active', async () => {
    const mira = await user('mira', 'active')
    const petra = await user('petra', 'active')
    const now = app.clock.now()
    for (const [who, orderId] of [
      [mira, 1],
      [petra, 2],
      [mira, 3]
    ] as const) {
      setOrder(app, orderId, 'processing')
      who.refer(orderId)
      write(app.db, (tx) => acceptReferral(tx, orderId, now))
      payPayouts(app.db, { by: 'lena', reference: `run ${orderId}` }, now + 31 * 86_400_000)
    }
    const first = await mira.call('/payouts?limit=1')
    expect(first.body.data?.payouts).toEqual([
      {
        id: 3,
        amountMinor: 500,
        currency: 'EUR',
        state: 'paid',
        reference: 'run 3',
        createdAtUtc: expect.stringMatching(/Z$/),
        failedAtUtc: null,
        lines: [{ referralId: 3, orderId: 3, amountMinor: 500 }],
        statement: {
          pdfUrl: expect.stringMatching(/^http.*\/account\/payout\/3\.[\w.-]+$/),
          csvUrl: expect.stringMatching(/\/account\/payout\/3\.[\w.-]+\?format=csv$/)
        }
      }
    ])
    failPayout(app.db, 1, { reason: 'account closed', by: 'lena' }, now)
    const second = await mira.call(`/payouts?limit=1&cursor=${String(first.body.data?.nextCursor)}`)
    expect(second.body.data).toMatchObject({ payouts: [{ id: 1, state: 'failed' }], nextCursor: null })
    const lines = (referralId: number) => [{ referralId, orderId: referralId, amountMinor: 500 }]
    expect((await mira.call('/payouts')).body.data?.payouts).toMatchObject([{ lines: lines(3) }, { lines: lines(1) }])
    expect(fields(await petra.call(`/payouts?cursor=${String(first.body.data?.nextCursor)}`))).toEqual(['cursor'])
    expect(refusal(await (await user('new', null)).call('/payouts'))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    expect((await (await user('jonas', 'pending')).call('/payouts')).body.data).toEqual({
      payouts: [],
      nextCursor: null
    })
  })
})

describe('GET /affiliates/link', () => {
  it('makes a link to a page of the shop, wherever its site is', async () => {
    const mira = await user('mira', 'active')
    const link = async (query: string) => (await mira.call(`/link${query}`)).body.data?.['url']
    const home = app.publicUrl()
    expect((await mira.call('/me')).body.data).toMatchObject({ link: `${home}/?ref=mira`, coupons: [] })
    expect(await link('')).toBe(`${home}/?ref=mira`)
    expect(await link('?to=/products/a%3Fcolor%3Dred&campaign=%20spring%20sale')).toBe(
      `${home}/products/a?color=red&ref=mira&campaign=spring+sale`
    )
    expect(await link(`?to=${encodeURIComponent(`${home}/x?ref=jonas&campaign=old#top`)}`)).toBe(
      `${home}/x?ref=mira#top`
    )
    setSetting(app.db, 'store.productUrl', 'https://www.site.example/p/{slug}', 0)
    expect(await link('?to=/p/lantern')).toBe('https://www.site.example/p/lantern?ref=mira')
    expect(await link(`?to=${home}/p`)).toBe(`${home}/p?ref=mira`)
  })

  it('makes none to another site', async () => {
    const mira = await user('mira', 'active')
    const pages = [
      'https://evil.example/',
      '//evil.example/x',
      '/\\evil.example',
      'javascript:alert(1)',
      `${app.publicUrl().replace('//', '//a:b@')}/`,
      `${app.publicUrl()}.evil.example/`,
      `/${'x'.repeat(2000)}`
    ]
    for (const to of pages)
      expect([to, fields(await mira.call(`/link?to=${encodeURIComponent(to)}`))]).toEqual([to, ['to']])
    expect(fields(await mira.call(`/link?campaign=${'x'.repeat(201)}`))).toEqual(['campaign'])
    expect(refusal(await (await user('jonas', 'pending')).call('/link'))).toEqual([403, 'AFFILIATE_NOT_ACTIVE'])
  })
})

describe('the reason of a referral', () => {
  it("says why it is not accepted, with the shop's own words", async () => {
    const mira = await user('mira', 'active')
    const now = app.clock.now()
    for (let orderId = 1; orderId <= 6; orderId += 1) {
      setOrder(app, orderId, 'processing')
      mira.refer(orderId)
    }
    write(app.db, (tx) => {
      rejectReferral(tx, 1, 'self', now)
      rejectReferral(tx, 2, 'order_refunded', now)
      reviewReferral(tx, 3, ['same_card'], now)
      acceptReferral(tx, 4, now)
    })
    decideReferrals(app.db, [5], { accept: false, reason: ' A colleague ' }, now)
    decideReferrals(app.db, [6], { accept: false, reason: '' }, now)
    const { body } = await mira.call('/referrals')
    const rows = referralsData.parse(body.data).referrals.toReversed()
    expect(rows.map(({ status, reason, note }) => [status, reason, note])).toEqual([
      ['rejected', 'self', undefined],
      ['rejected', 'order_refunded', undefined],
      ['pending', 'review', undefined],
      ['unpaid', undefined, undefined],
      ['rejected', 'shop', 'A colleague'],
      ['rejected', 'shop', undefined]
    ])
  })
})
