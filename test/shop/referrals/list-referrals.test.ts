import { referralsQuery, openCursor, sealCursor, listReferrals } from '../../../src/shop/referrals/list.ts'
import { createSecretKey, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageFor } from '../../../src/platform/http/validation.ts'
import type { AffiliateRow } from '../../../src/shop/affiliates/find.ts'
import { isTermsVersion } from '../../../src/shop/affiliates/gate.ts'
import { setSetting, switchModule } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeUser } from '../../support/people.ts'
import { makeAffiliate, refer } from '../affiliates/support.ts'

const refusedCursor = expect.objectContaining({
  code: 'VALIDATION_FAILED',
  status: 422,
  details: { fieldErrors: { cursor: [expect.any(String)] } }
})
const code = (code: string, status: number) => expect.objectContaining({ code, status })

function idsOf(shop: TestShop, affiliate: AffiliateRow, limit: number, cursor?: string): [number[], string | null] {
  const page = listReferrals(shop, affiliate.userId, { limit, cursor })
  return [page.referrals.map((row) => row.id), page.nextCursor]
}

describe('the list of referrals', () => {
  it('shows an affiliate only their own referrals, newest first', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const petra = await makeAffiliate(shop, { code: 'petra' })
    refer(shop, mira.id, 1, 5_000)
    refer(shop, petra.id, 2)
    shop.clock.advance(1)
    refer(shop, mira.id, 3, 333)
    expect(listReferrals(shop, mira.userId, { limit: 20, cursor: undefined })).toEqual({
      referrals: [
        { id: 3, amountMinor: 33, currency: 'EUR', status: 'pending', createdAtUtc: '2026-01-15T12:00:00.001Z' },
        { id: 1, amountMinor: 500, currency: 'EUR', status: 'pending', createdAtUtc: '2026-01-15T12:00:00.000Z' }
      ],
      nextCursor: null
    })
  })

  it('continues after the previous page, also when new referrals arrive, and ends without a cursor', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    for (let orderId = 1; orderId <= 6; orderId += 1) refer(shop, mira.id, orderId)
    const [first, afterFirst] = idsOf(shop, mira, 3)
    expect(first).toEqual([6, 5, 4])
    refer(shop, mira.id, 7)
    const [second, afterSecond] = idsOf(shop, mira, 3, afterFirst ?? '')
    expect(second).toEqual([3, 2, 1])
    expect(afterSecond).toBeNull()
    expect(idsOf(shop, mira, 6)[1]).not.toBeNull()
    expect(idsOf(shop, mira, 7)[1]).toBeNull()
  })

  it('is read from the index on affiliate and id, without sorting', async () => {
    using shop = openTestShop()
    const plan = shop.db.sqlite
      .prepare('EXPLAIN QUERY PLAN SELECT * FROM referrals WHERE affiliate_id = 1 AND id < 5 ORDER BY id DESC LIMIT 21')
      .all()
    expect(JSON.stringify(plan)).toContain('referrals_by_affiliate (affiliate_id=? AND id<?)')
    expect(JSON.stringify(plan)).not.toContain('TEMP B-TREE')
  })

  it('accepts limit and cursor', () => {
    const refusals = (query: Record<string, string>) =>
      referralsQuery
        .safeParse(query, { error: messageFor })
        .error?.issues.map((issue) => issue.path.join('.') || issue.code)
    expect(referralsQuery.parse({})).toEqual({ limit: 20 })
    expect(referralsQuery.parse({ limit: '100', cursor: 'x' })).toEqual({ limit: 100, cursor: 'x' })
    for (const limit of ['', '0', '101', '-1', '1.5', '1e1', '0x10', '+5', ' 5', 'NaN', '9'.repeat(30)]) {
      expect(refusals({ limit })).toEqual(['limit'])
    }
  })
})

describe('a cursor', () => {
  const key = createSecretKey(randomBytes(32))

  it('contains its id and is valid only for its affiliate', () => {
    for (const id of [1, 20, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      const cursor = sealCursor(key, 7, id)
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(openCursor(key, 7, cursor)).toBe(id)
      for (const other of [8, 70, undefined]) expect(() => openCursor(key, other, cursor)).toThrow(refusedCursor)
      expect(() => openCursor(createSecretKey(randomBytes(32)), 7, cursor)).toThrow(refusedCursor)
    }
  })

  it('is refused when any bit is changed', () => {
    const cursor = sealCursor(key, 7, 12_345)
    const bytes = Buffer.from(cursor, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => openCursor(key, 7, changed.toString('base64url'))).toThrow(refusedCursor)
    }
  })

  it('is refused in any other encoding', () => {
    const cursor = sealCursor(key, 7, 12_345)
    const others = [
      `${cursor}=`,
      `${cursor}A`,
      ` ${cursor}`,
      `${cursor}\n`,
      cursor.slice(0, -1),
      `${cursor}\0`,
      '',
      `${cursor}${cursor}`
    ]
    const standard = Buffer.from(cursor, 'base64url').toString('base64')
    for (const other of standard === cursor ? others : [...others, standard]) {
      expect(() => openCursor(key, 7, other)).toThrow(refusedCursor)
    }
  })

  it('is refused when it is forged', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const petra = await makeAffiliate(shop, { code: 'petra' })
    for (let orderId = 1; orderId <= 3; orderId += 1) refer(shop, mira.id, orderId)
    const own = idsOf(shop, mira, 1)[1] ?? ''
    const base64url = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split(''))
    const forged = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary', maxLength: 64 }),
      fc.string({ unit: base64url, minLength: 32, maxLength: 32 }),
      fc.integer({ min: 0, max: 1_000_000 }).map((id) => sealCursor(shop.keys.nonce, mira.id, id)),
      fc.integer({ min: 1, max: 3 }).map((id) => sealCursor(shop.keys.cursor, petra.id, id)),
      fc.tuple(fc.nat(31), base64url).map(([at, letter]) => `${own.slice(0, at)}${letter}${own.slice(at + 1)}`),
      fc.integer().map((id) => Buffer.from(JSON.stringify({ id, affiliateId: mira.id })).toString('base64url'))
    )
    fc.assert(
      fc.property(forged, (cursor) => {
        fc.pre(cursor !== own)
        expect(() => listReferrals(shop, mira.userId, { limit: 20, cursor })).toThrow(refusedCursor)
      }),
      { numRuns: 200 }
    )
  })
})

describe('a user who lists referrals', () => {
  const query = { limit: 20, cursor: undefined }

  it('needs an affiliate account and an enabled module', async () => {
    using shop = openTestShop()
    const mira = await makeAffiliate(shop)
    const customer = await makeUser(shop, { email: 'new@shop.example', passwordHash: 'not a hash' })
    expect(() => listReferrals(shop, customer.id, query)).toThrow(code('AFFILIATE_NOT_FOUND', 404))
    switchModule(shop.db, 'affiliates', false, 0)
    expect(() => listReferrals(shop, mira.userId, query)).toThrow(code('AFFILIATE_NOT_FOUND', 404))
  })

  it.each(['pending', 'inactive', 'rejected'] as const)('is refused while the affiliate is %s', async (status) => {
    using shop = openTestShop()
    const { userId } = await makeAffiliate(shop, { status })
    expect(() => listReferrals(shop, userId, query)).toThrow(code('AFFILIATE_NOT_ACTIVE', 403))
  })

  it('must have accepted the current terms when the shop requires it', async () => {
    using shop = openTestShop()
    const set = (key: 'affiliates.termsGating' | 'affiliates.termsVersion', value: string) =>
      setSetting(shop.db, key, value, 0)
    const { userId } = await makeAffiliate(shop, { termsVersion: '1.0.0', termsAcceptedAt: 0 })
    const list = () => listReferrals(shop, userId, query)
    set('affiliates.termsVersion', 'draft')
    expect(list).not.toThrow()
    set('affiliates.termsGating', 'true')
    expect(list).toThrow(code('CONFIG_INVALID_AFFILIATE_TERMS_VERSION', 500))
    set('affiliates.termsVersion', '2026-01-31')
    expect(list).toThrow(code('AFFILIATE_TERMS_REQUIRED', 403))
    set('affiliates.termsVersion', '1.0.0')
    expect(list).not.toThrow()
  })

  it('passes the checks in order: parameters, account, status, configuration', async () => {
    using shop = openTestShop()
    const cursor = 'forged'
    const { userId } = await makeAffiliate(shop, { status: 'inactive' })
    setSetting(shop.db, 'affiliates.termsGating', 'true', 0)
    expect(() => listReferrals(shop, userId, query)).toThrow(code('AFFILIATE_NOT_ACTIVE', 403))
    switchModule(shop.db, 'affiliates', false, 0)
    expect(() => listReferrals(shop, userId, query)).toThrow(code('AFFILIATE_NOT_FOUND', 404))
    expect(() => listReferrals(shop, userId, { ...query, cursor })).toThrow(refusedCursor)
    expect(() => listReferrals(shop, 99, { ...query, cursor })).toThrow(refusedCursor)
  })
})

describe('a terms version', () => {
  it.each([
    '2026-01-31',
    '2024-02-29',
    '1.0.0',
    '0.0.1',
    '1.2.3-rc.1+build.5',
    '10.20.30',
    // From the list of semver.org.
    '1.1.2-prerelease+meta',
    '1.1.2+meta-valid',
    '1.0.0-alpha.beta.1',
    '1.0.0-alpha0.valid',
    '1.0.0-alpha.0valid',
    '1.0.0-0A.is.legal',
    '1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay',
    '2.0.0+build.1848',
    '1.2.3----RC-SNAPSHOT.12.9.1--.12+788',
    '1.0.0+0.build.1-rc.10000aaa-kk-0.1',
    '1.0.0-10',
    '1.0.0-0.100.20'
  ])('can be %s', (version) => {
    expect(isTermsVersion(version)).toBe(true)
  })
  it.each([
    '',
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-1-1',
    '1.0',
    'v1.0.0',
    '01.0.0',
    '1.0.0 ',
    '2026-01-31T00:00',
    'draft',
    '1.0.0-01',
    '1.2.3-0123.0123',
    '1.1.2+.123',
    '1.0.0-alpha_beta',
    '1.0.0-alpha..1',
    '1.0.0-rc.',
    '1.2.3+',
    '1.2.3-',
    '1.2.3+a_b',
    '9.8.7-whatever+meta+meta',
    '1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788',
    '+2026-01-31'
  ])('cannot be "%s"', (version) => {
    expect(isTermsVersion(version)).toBe(false)
  })
})
