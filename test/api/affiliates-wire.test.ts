import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { decideAffiliate } from '../../src/shop/affiliates/decide.ts'
import { getAffiliate } from '../../src/shop/affiliates/find.ts'
import { createReferral } from '../../src/shop/referrals/referrals.ts'
import { recordVisit } from '../../src/shop/affiliates/clicks.ts'
import { findUserByEmail } from '../../src/shop/accounts/find.ts'
import { switchModule } from '../../src/shop/settings/settings.ts'
import { registerUser, openShop, applySettings, order, pay } from '../journeys/shop.ts'
import type { JourneyShop } from '../journeys/shop.ts'
import { rawRequest } from '../support/raw-http.ts'
import { Browser } from '../support/browser.ts'
import type { Answer } from '../support/browser.ts'
import { shopstead } from '../support/command-line.ts'
import { oneLine } from '../shop/affiliates/support.ts'

const catalog = { products: [{ slug: 'mug', name: 'Mug', price: '20.00' }] }

type Page = { referrals: { id: number }[]; nextCursor: string | null }

/** Somebody with an active affiliate account and as many referrals, of orders that nobody made. */
async function affiliate(shop: JourneyShop, name: string, count = 0): Promise<Browser> {
  const visitor = await registerUser(shop, name)
  write(shop.app.db, (tx) => {
    const userId = findUserByEmail(tx, `${name}@shop.example`)?.id ?? 0
    createAffiliate(tx, { userId, code: name, status: 'active', rateBps: null }, shop.clock.now())
  })
  refer(shop, name, count)
  return visitor
}

let orderId = 1_000

function refer(shop: JourneyShop, code: string, count: number): void {
  const now = shop.clock.now()
  write(shop.app.db, (tx) => {
    for (let index = 0; index < count; index += 1) {
      orderId += 1
      const credited = getAffiliate(tx, code)
      const visitId = recordVisit(tx, { affiliateId: credited.id, orderId, campaign: null }, now)
      createReferral(tx, { affiliate: credited, orderId, visitId, goods: oneLine(2_000), currency: 'EUR' }, now)
    }
  })
}

const list = (visitor: Browser, query = '') => visitor.get<Page>(`/affiliates/referrals${query}`)
const ids = ({ data }: Answer<Page>) => data.referrals.map(({ id }) => id)
const refusal = ({ status, error }: Answer<unknown>) => [status, error.code]
const fields = ({ error }: Answer<unknown>) => Object.keys(error.details['fieldErrors'] ?? {})

describe('GET /affiliates/referrals', () => {
  it('answers only data, each row with exactly its five fields', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 3)
    const answer = await list(mira)
    expect(Object.keys(JSON.parse(answer.text) as object)).toEqual(['data'])
    expect(Object.keys(answer.data).toSorted()).toEqual(['nextCursor', 'referrals'])
    expect(answer.data.nextCursor).toBeNull()
    const row = { id: expect.any(Number), amountMinor: 200, currency: 'EUR', status: 'pending' }
    for (const referral of answer.data.referrals)
      expect(referral).toEqual({ ...row, createdAtUtc: '2026-01-15T12:00:00.000Z' })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const refused = await list(mira, '?limit=0')
    expect(Object.keys(JSON.parse(refused.text) as object).toSorted()).toEqual(['error', 'meta'])
  })

  it('lists twenty by default, and up to a hundred', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 101)
    expect(ids(await list(mira))).toHaveLength(20)
    expect(ids(await list(mira, '?limit=1'))).toEqual([101])
    const hundred = await list(mira, '?limit=100')
    expect(ids(hundred)).toHaveLength(100)
    expect(ids(await list(mira, `?limit=100&cursor=${hundred.data.nextCursor}`))).toEqual([1])
  })

  it('lists every row once while new ones arrive and old ones change', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 25)
    const seen: number[] = []
    let query = '?limit=4'
    for (;;) {
      const page = await list(mira, query)
      seen.push(...ids(page))
      if (page.data.nextCursor === null) break
      expect(page.data.nextCursor).toMatch(/^[A-Za-z0-9_-]+$/)
      query = `?limit=4&cursor=${page.data.nextCursor}`
      refer(shop, 'mira', 3)
      shop.clock.advance(1_000)
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => 25 - index))
  })

  it('reports on the last full page that there is no next one', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 20)
    const page = await list(mira)
    expect([ids(page).length, page.data.nextCursor]).toEqual([20, null])
  })

  it('shows each affiliate only their own referrals', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 3)
    const tove = await affiliate(shop, 'tove', 2)
    expect([ids(await list(mira)), ids(await list(tove))]).toEqual([
      [3, 2, 1],
      [5, 4]
    ])
    const { nextCursor } = (await list(mira, '?limit=1')).data
    expect(refusal(await list(tove, `?cursor=${nextCursor}`))).toEqual([422, 'VALIDATION_FAILED'])
    expect(ids(await list(mira, `?cursor=${nextCursor}`))).toEqual([2, 1])
  })

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=-1', 'limit'],
    ['?limit=1.0', 'limit'],
    ['?limit=1e1', 'limit'],
    ['?limit=0x10', 'limit'],
    ['?limit=%2B5', 'limit'],
    ['?limit=+5', 'limit'],
    ['?limit=', 'limit'],
    ['?limit', 'limit'],
    ['?limit=abc', 'limit'],
    ['?limit=%D9%A5', 'limit'],
    ['?limit=5&limit=6', 'limit'],
    ['?limit=5&%6Cimit=6', 'limit'],
    ['?cursor=', 'cursor'],
    ['?cursor=MQ', 'cursor'],
    ['?cursor=MQ&cursor=MQ', 'cursor'],
    [`?cursor=${'A'.repeat(32)}`, 'cursor'],
    [`?cursor=${'A'.repeat(5_000)}`, 'cursor'],
    ['?cursor=%FF', 'cursor'],
    ['?cursor=%00', 'cursor'],
    ['?affiliateId=2', 'affiliateId'],
    ['?affiliate_id=2', 'affiliate_id'],
    ['?userId=2', 'userId'],
    ['?scope=all', 'scope'],
    ['?customerEmail=a', 'customerEmail'],
    ['?as=lena', 'as']
  ])('rejects %s with the field %s, without the value', async (query, field) => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 1)
    const answer = await list(mira, query)
    expect([...refusal(answer), ...fields(answer)]).toEqual([422, 'VALIDATION_FAILED', field])
    expect(answer.text).not.toContain('AAAA')
  })
})

describe('the endpoint GET /affiliates/referrals', () => {
  it('checks session, parameters, account, state, configuration and terms, in this order', async () => {
    const shop = await openShop(catalog, { 'affiliates.termsGating': 'true', 'affiliates.termsVersion': 'soon' })
    const visitor = shop.visitor()
    const lena = await registerUser(shop, 'lena')
    const mira = await registerUser(shop, 'mira')
    await mira.post('/affiliates/apply', {})
    const decide = (decision: 'approve' | 'deactivate') =>
      decideAffiliate(shop.app.db, 'mira', decision, shop.clock.now())
    const bad = '?limit=0&affiliateId=1'
    expect(refusal(await list(visitor, bad))).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(refusal(await list(lena, bad))).toEqual([422, 'VALIDATION_FAILED'])
    expect(refusal(await list(lena))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    expect(refusal(await list(mira, bad))).toEqual([422, 'VALIDATION_FAILED'])
    expect(refusal(await list(mira))).toEqual([403, 'AFFILIATE_NOT_ACTIVE'])
    decide('approve')
    expect(refusal(await list(mira))).toEqual([500, 'CONFIG_INVALID_AFFILIATE_TERMS_VERSION'])
    decide('deactivate')
    expect(refusal(await list(mira))).toEqual([403, 'AFFILIATE_NOT_ACTIVE'])
    decide('approve')
    applySettings(shop, { 'affiliates.termsVersion': '2026-02-30' })
    expect(refusal(await list(mira))).toEqual([500, 'CONFIG_INVALID_AFFILIATE_TERMS_VERSION'])
    applySettings(shop, { 'affiliates.termsVersion': '2026-02-28' })
    expect(refusal(await list(mira))).toEqual([403, 'AFFILIATE_TERMS_REQUIRED'])
    expect(refusal(await mira.post('/affiliates/terms', { version: '2026-02-27' }))).toEqual([422, 'VALIDATION_FAILED'])
    expect((await mira.post('/affiliates/terms', { version: '2026-02-28' })).status).toBe(200)
    expect((await list(mira)).status).toBe(200)
    applySettings(shop, { 'affiliates.termsVersion': '1.10.0-rc.1' })
    expect(refusal(await list(mira))).toEqual([403, 'AFFILIATE_TERMS_REQUIRED'])
    applySettings(shop, { 'affiliates.termsGating': 'false' })
    expect((await list(mira)).status).toBe(200)
    switchModule(shop.app.db, 'affiliates', false, 0)
    expect(refusal(await list(mira))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
  })

  it('is UPSTREAM_UNAVAILABLE when anything else fails, without details', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 1)
    for (const table of ['referrals', 'affiliates', 'sessions']) {
      shop.app.db.sqlite.exec(`ALTER TABLE ${table} RENAME TO elsewhere`)
      const answer = await list(mira)
      shop.app.db.sqlite.exec(`ALTER TABLE elsewhere RENAME TO ${table}`)
      expect([table, ...refusal(answer), answer.error.details]).toEqual([table, 500, 'UPSTREAM_UNAVAILABLE', {}])
      expect(answer.text).not.toMatch(/sql|table|elsewhere/i)
      expect((await list(mira)).status).toBe(200)
    }
  })

  it('accepts only GET and HEAD', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 1)
    const posted = await mira.post('/affiliates/referrals', {})
    expect([...refusal(posted), posted.headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'GET, HEAD'])
    const cookie = `Cookie: ${[...mira.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}`
    const head = await rawRequest(shop.url, 'HEAD', '/api/v1/affiliates/referrals', [cookie])
    expect([head.status, head.body]).toEqual([200, ''])
  })

  it('works through the proxy with its nonce; the proxy drops other parameters', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira', 3)
    const site = new Browser(`${shop.url}/api/secure`)
    for (const [name, value] of mira.cookies) site.cookies.set(name, value)
    expect(refusal(await list(site))).toEqual([403, 'CSRF_FAILED'])
    const nonce = { 'x-nonce': await site.nonce() }
    const page = await site.get<Page>('/affiliates/referrals?limit=2&affiliateId=9', nonce)
    expect([page.status, Object.keys(JSON.parse(page.text) as object), ids(page)]).toEqual([200, ['data'], [3, 2]])
    const next = await site.get<Page>(`/affiliates/referrals?cursor=${page.data.nextCursor}`, nonce)
    expect(ids(next)).toEqual([1])
    expect(refusal(await site.get('/affiliates/referrals?limit=0', nonce))).toEqual([422, 'VALIDATION_FAILED'])
  })
})

describe('becoming an affiliate', () => {
  it('starts with an application that the operator decides about, and appears in the biography', async () => {
    const shop = await openShop(catalog)
    const lena = await registerUser(shop, 'lena')
    expect(refusal(await shop.visitor().post('/affiliates/apply', {}))).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(refusal(await lena.get('/affiliates/me'))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    expect(refusal(await lena.post('/affiliates/terms', { version: '1.0.0' }))).toEqual([404, 'AFFILIATE_NOT_FOUND'])
    for (const [body, field] of [
      [{ website: 'javascript:alert(1)' }, 'website'],
      [{ website: 'https://a:b@lena.example' }, 'website'],
      [{ website: 'https://lena.example/\u009b' }, 'website'],
      [{ website: 7 }, 'website'],
      [{ message: 'x'.repeat(2_001) }, 'message'],
      [{ marketingOptIn: 'yes' }, 'marketingOptIn'],
      [{ status: 'active' }, 'status'],
      [{ rate: 90 }, 'rate'],
      [[], '_body']
    ] as const) {
      const answer = await lena.post('/affiliates/apply', body)
      expect([...refusal(answer), ...fields(answer)]).toEqual([422, 'VALIDATION_FAILED', field])
    }
    const applied = await lena.post('/affiliates/apply', {
      website: null,
      message: null,
      marketingOptIn: true
    })
    const affiliateOf = { id: 1, code: 'lena', status: 'pending', rate: 10, termsVersion: null, termsAcceptedAt: null }
    expect([applied.status, applied.data]).toEqual([200, { affiliate: affiliateOf }])
    expect(refusal(await lena.post('/affiliates/apply', {}))).toEqual([409, 'AFFILIATE_EXISTS'])
    const shown = await shopstead(shop.dataDir, ['users', 'show', 'lena@shop.example', '--json'])
    expect(String(shown.json['biography']).split('\n')).toEqual([
      'Customer marketing opt-in: no',
      'Customer marketing opt-in at: -',
      'Partner marketing opt-in: yes',
      'Partner marketing opt-in at: 2026-01-15T12:00:00.000Z'
    ])
    const approved = await shopstead(shop.dataDir, ['affiliates', 'approve', 'LENA', '--json'])
    expect(approved.json).toMatchObject({ affiliate: { code: 'lena', status: 'active' } })
    const answer = await lena.get<{ affiliate: object; balance: object }>('/affiliates/me')
    expect(answer.data).toEqual({
      affiliate: { ...affiliateOf, status: 'active' },
      balance: { currency: 'EUR', pendingMinor: 0, unpaidMinor: 0, paidMinor: 0 },
      link: `${shop.app.publicUrl()}/?ref=lena`,
      coupons: []
    })
    expect(Object.keys(answer.meta ?? {})).toContain('request_id')
  })

  it('requires the terms to be accepted again after each new version', async () => {
    const shop = await openShop(catalog, { 'affiliates.termsVersion': '1.0.0' })
    const mira = await affiliate(shop, 'mira')
    for (const body of [{}, { version: null }, { version: '' }, { version: '0.9.0' }, { version: '1.0.0 ' }]) {
      const refused = await mira.post('/affiliates/terms', body)
      expect([...refusal(refused), ...fields(refused)]).toEqual([422, 'VALIDATION_FAILED', 'version'])
    }
    const accepted = await mira.post('/affiliates/terms', { version: '1.0.0' })
    const at = '2026-01-15T12:00:00.000Z'
    expect(accepted.data).toMatchObject({ affiliate: { termsVersion: '1.0.0', termsAcceptedAt: at } })
    shop.clock.advance(60_000)
    expect((await mira.post('/affiliates/terms', { version: '1.0.0' })).data).toEqual(accepted.data)
  })
})

describe('the operator with a running shop', () => {
  it('plans, approves and exports a payout run, and the affiliate sees it immediately', async () => {
    const shop = await openShop(catalog)
    const mira = await affiliate(shop, 'mira')
    const lena = await registerUser(shop, 'lena')
    await pay(lena, await order(shop, lena, 'mug', { query: '?ref=mira&campaign==cmd()' }))
    const run = (...args: string[]) => shopstead(shop.dataDir, ['referrals', ...args, '--json'])

    const dry = join(shop.dataDir, 'dry.csv')
    const planned = await run('pay', '--dry-run', '--csv', dry)
    expect(planned.json).toMatchObject({ payouts: [{ affiliateCode: 'mira', amountMinor: 200 }] })
    expect(readFileSync(dry, 'utf8')).toMatch(/mira,A buyer,mira@shop\.example,2\.00,EUR,1/)
    expect((await mira.get('/affiliates/me')).data).toMatchObject({ balance: { unpaidMinor: 200, paidMinor: 0 } })

    const unasked = await run('pay')
    expect([unasked.code, unasked.json]).toEqual([2, expect.objectContaining({ error: expect.anything() })])
    // The file is there already, so nothing is paid.
    expect((await run('pay', '--yes', '--csv', dry)).code).toBe(1)
    expect((await mira.get('/affiliates/me')).data).toMatchObject({ balance: { unpaidMinor: 200, paidMinor: 0 } })

    const file = join(shop.dataDir, 'payouts.csv')
    const paid = await run('pay', '--yes', '--csv', file, '--reference', '=SUM(A1)')
    expect([paid.code, existsSync(file)]).toEqual([0, true])
    expect(readFileSync(file, 'utf8')).toContain(`'=SUM(A1)`)
    expect((await mira.get('/affiliates/me')).data).toMatchObject({ balance: { unpaidMinor: 0, paidMinor: 200 } })
    expect((await list(mira)).data.referrals).toMatchObject([{ status: 'paid', amountMinor: 200 }])
    expect((await run('pay', '--yes')).json).toEqual({ payouts: [] })

    const exported = join(shop.dataDir, 'referrals.csv')
    await run('export', '--out', exported)
    expect(readFileSync(exported, 'utf8')).toContain(`'=cmd()`)
    const shown = await shopstead(shop.dataDir, ['affiliates', 'show', 'mira', '--json'])
    expect(shown.json).toMatchObject({
      visits: { visits: 1, conversions: 1, conversionRate: 100 },
      balance: { paidMinor: 200 },
      campaigns: [{ campaign: '=cmd()', visits: 1, conversions: 1, earnedMinor: 200 }]
    })
  })

  it('accepts paid orders by hand, and gets the reason for a refusal', async () => {
    const shop = await openShop(catalog, { 'affiliates.autoAccept': 'false' })
    const mira = await affiliate(shop, 'mira')
    const lena = await registerUser(shop, 'lena')
    const placed = await order(shop, lena, 'mug', { query: '?ref=mira' })
    const accept = () => shopstead(shop.dataDir, ['referrals', 'accept', '1', '--json'])
    const refused = await accept()
    expect([refused.code, refused.json]).toEqual([
      1,
      {
        error: {
          code: 'TRANSITION_REFUSED',
          message: expect.stringContaining('not paid'),
          details: { from: 'pending', to: 'unpaid' }
        }
      }
    ])
    await pay(lena, placed)
    expect((await accept()).json).toMatchObject({ referral: { status: 'unpaid', amountMinor: 200 } })
    expect((await list(mira)).data.referrals).toMatchObject([{ status: 'unpaid' }])
    const listed = await shopstead(shop.dataDir, ['referrals', 'list', '--affiliate', 'mira', '--json'])
    expect(listed.json).toEqual({
      referrals: [
        {
          id: 1,
          affiliateCode: 'mira',
          orderId: placed.orderId,
          visitId: 1,
          amountMinor: 200,
          currency: 'EUR',
          status: 'unpaid',
          createdAtUtc: '2026-01-15T12:00:00.000Z'
        }
      ]
    })
    const explained = await shopstead(shop.dataDir, ['orders', 'explain', String(placed.orderId)])
    expect(explained.stdout).toMatch(/ref: ref=mira → credited/)
    expect(explained.stdout).toMatch(/visit converted: .* → true/)
  })
})
