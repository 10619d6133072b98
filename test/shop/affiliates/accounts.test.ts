import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { messageFor } from '../../../src/platform/http/validation.ts'
import { write } from '../../../src/platform/db/database.ts'
import { findUserById } from '../../../src/shop/accounts/find.ts'
import type { UserRow } from '../../../src/shop/accounts/rows.ts'
import { basicRateBps, setOwnRate } from '../../../src/shop/affiliates/rates.ts'
import { toAdminAffiliate } from '../../../src/shop/referrals/admin.ts'
import { anonymiseAffiliateOf, decideAffiliate } from '../../../src/shop/affiliates/decide.ts'
import { applyAffiliates, applyAsAffiliate, createAffiliate } from '../../../src/shop/affiliates/create.ts'
import { getOwnAffiliate } from '../../../src/shop/referrals/ledger.ts'
import type { AffiliateDecision } from '../../../src/shop/mail/queue.ts'
import { findAffiliateOfUser, getAffiliate } from '../../../src/shop/affiliates/find.ts'
import { applyBody, parseRate, termsBody } from '../../../src/shop/affiliates/input.ts'
import type { ApplyInput } from '../../../src/shop/affiliates/input.ts'
import type { AffiliateRow } from '../../../src/shop/affiliates/find.ts'
import { acceptTerms } from '../../../src/shop/affiliates/gate.ts'
import { setSetting, switchModule } from '../../../src/shop/settings/settings.ts'
import { refusal } from '../../support/accounts.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeAffiliate, eventsOf } from './support.ts'

const code = (code: string) => expect.objectContaining({ code })
const person = (shop: TestShop, email: string, username?: string) =>
  makeUser(shop, { email, passwordHash: 'not a hash', ...(username === undefined ? {} : { username }) })

function apply(shop: TestShop, user: UserRow, input: ApplyInput = {}): Promise<AffiliateRow> {
  return applyAsAffiliate(shop, user, input, shop.clock.now())
}

function decide(shop: TestShop, ref: string, decision: AffiliateDecision): AffiliateRow {
  return decideAffiliate(shop.db, ref, decision, shop.clock.now())
}

function outcomeOf(shop: TestShop, decision: AffiliateDecision): string {
  try {
    return decide(shop, 'mira', decision).status
  } catch (error) {
    if (error instanceof AppError && error.code === 'TRANSITION_REFUSED') return 'refused'
    throw error
  }
}

describe('an affiliate application', () => {
  it('creates a pending account with a code from the username and the shop rate', async () => {
    using shop = openTestShop()
    const mira = await person(shop, 'mira@shop.example')
    const input = { website: 'https://mira.example/', message: 'Hello' }
    expect(await apply(shop, mira, input)).toMatchObject({ ...input, code: 'mira', status: 'pending' })
    expect(eventsOf(shop)).toEqual(['affiliate.applied'])
    expect(getOwnAffiliate(shop, mira.id, shop.clock.now())).toEqual({
      affiliate: { id: 1, code: 'mira', status: 'pending', rate: 10, termsVersion: null, termsAcceptedAt: null },
      balance: { currency: 'EUR', pendingMinor: 0, unpaidMinor: 0, paidMinor: 0 },
      link: null,
      coupons: []
    })
  })

  it('gets an unused code that is not only digits', async () => {
    using shop = openTestShop()
    await makeAffiliate(shop, { code: 'zoe-muller' })
    const codes: string[] = []
    for (const [index, username] of ['zoe.muller', 'Zoe_Muller', '12345', '---'].entries()) {
      codes.push((await apply(shop, await person(shop, `p${index}@shop.example`, username))).code)
    }
    expect(codes).toEqual(['zoe-muller-2', 'zoe-muller-3', 'partner-12345', 'partner'])
  })

  it('stores the partner opt-in with its time, also in the biography', async () => {
    using shop = openTestShop()
    const yes = await person(shop, 'yes@shop.example')
    const silent = await person(shop, 'silent@shop.example')
    await apply(shop, yes, { marketingOptIn: true })
    await apply(shop, silent, { marketingOptIn: null })
    const stored = findUserById(shop.db, yes.id)
    expect(stored).toMatchObject({ partnerOptIn: 'yes', partnerOptInAt: shop.clock.now(), marketingOptIn: 'no' })
    expect(stored?.biography?.split('\n').slice(2)).toEqual([
      'Partner marketing opt-in: yes',
      'Partner marketing opt-in at: 2026-01-15T12:00:00.000Z'
    ])
    expect(findUserById(shop.db, silent.id)).toMatchObject({ partnerOptIn: 'no', partnerOptInAt: null })
  })

  it('is refused when the user has an affiliate account in any state, and while the module is off', async () => {
    using shop = openTestShop()
    const mira = await person(shop, 'mira@shop.example')
    const petra = await person(shop, 'petra@shop.example')
    await apply(shop, mira)
    decide(shop, 'mira', 'reject')
    await expect(apply(shop, mira, { marketingOptIn: true })).rejects.toThrow(code('AFFILIATE_EXISTS'))
    expect(findUserById(shop.db, mira.id)?.partnerOptIn).toBe('no')
    switchModule(shop.db, 'affiliates', false, 0)
    await expect(apply(shop, petra)).rejects.toThrow(code('AFFILIATE_NOT_FOUND'))
    expect(() => getOwnAffiliate(shop, mira.id, shop.clock.now())).toThrow(code('AFFILIATE_NOT_FOUND'))
  })

  it('accepts a website, a message and the opt-in, and refuses unknown fields', () => {
    const refused = (body: object) =>
      applyBody.safeParse(body, { error: messageFor }).error?.issues.map((issue) => issue.path.join('.'))
    expect(applyBody.parse({ website: null })).toEqual({ website: null })
    expect(applyBody.safeParse({ status: 'active' }).error?.issues).toMatchObject([{ keys: ['status'] }])
    expect(refused({ message: 'x'.repeat(2_000), website: 'http://a.example/?b=c' })).toBeUndefined()
    expect(refused({ message: 'x'.repeat(2_001), website: 'a', marketingOptIn: 'yes' })?.sort()).toEqual([
      'marketingOptIn',
      'message',
      'website'
    ])
    for (const website of [
      'javascript:alert(1)',
      'https://a:b@c.example',
      'https://a@c.example',
      'https://:b@c.example',
      'https://a.example/\n',
      'ftp://a.example',
      ''
    ]) {
      expect(refused({ website })).toEqual(['website'])
    }
    expect(refused({ website: 'https://a.example/' })).toBeUndefined()
  })
})

describe('the acceptance of the terms', () => {
  it('needs a version of 1 to 100 characters', () => {
    expect(termsBody.safeParse({ version: 'x'.repeat(100) }).success).toBe(true)
    for (const version of ['', 'x'.repeat(101), 1, undefined])
      expect(termsBody.safeParse({ version }).success).toBe(false)
  })

  it('is stored once, with its version and time', async () => {
    using shop = openTestShop()
    const { userId } = await makeAffiliate(shop, { status: 'pending' })
    setSetting(shop.db, 'affiliates.termsVersion', '2026-01-31', 0)
    const accept = (version: string) => acceptTerms(shop, userId, version, shop.clock.now())
    const first = await accept('2026-01-31')
    expect(first).toMatchObject({ termsVersion: '2026-01-31', termsAcceptedAt: shop.clock.now() })
    shop.clock.advance(1_000)
    expect(await accept('2026-01-31')).toEqual(first)
    expect(eventsOf(shop)).toEqual(['affiliate.terms_accepted'])
    await expect(accept('2025-01-31')).rejects.toThrow(
      refusal('VALIDATION_FAILED', { fieldErrors: { version: [expect.stringMatching(/\.$/)] } })
    )
    const event = shop.db.sqlite.prepare("SELECT payload FROM events WHERE type = 'affiliate.terms_accepted'")
    expect(JSON.parse(String(event.pluck().get()))).toEqual({ affiliateId: first.id, version: '2026-01-31' })
  })

  it('needs configured terms and an affiliate account', async () => {
    using shop = openTestShop()
    const { userId } = await makeAffiliate(shop)
    const accept = (version: string, id = userId) => acceptTerms(shop, id, version, 0)
    for (const version of ['', 'draft']) {
      setSetting(shop.db, 'affiliates.termsVersion', version, 0)
      setSetting(shop.db, 'affiliates.termsGating', 'false', 0)
      await expect(accept(version)).rejects.toThrow(code('VALIDATION_FAILED'))
      setSetting(shop.db, 'affiliates.termsGating', 'true', 0)
      await expect(accept(version)).rejects.toThrow(code('CONFIG_INVALID_AFFILIATE_TERMS_VERSION'))
    }
    await expect(accept('draft', 99)).rejects.toThrow(code('AFFILIATE_NOT_FOUND'))
    expect(findAffiliateOfUser(shop.db, userId)?.termsVersion).toBeNull()
  })
})

describe('a decision about an affiliate', () => {
  const table: [AffiliateRow['status'], AffiliateDecision, AffiliateRow['status'] | 'refused'][] = [
    ['pending', 'approve', 'active'],
    ['pending', 'reject', 'rejected'],
    ['pending', 'deactivate', 'refused'],
    ['active', 'approve', 'active'],
    ['active', 'reject', 'refused'],
    ['active', 'deactivate', 'inactive'],
    ['inactive', 'approve', 'active'],
    ['inactive', 'reject', 'refused'],
    ['inactive', 'deactivate', 'inactive'],
    ['rejected', 'approve', 'active'],
    ['rejected', 'reject', 'rejected'],
    ['rejected', 'deactivate', 'refused']
  ]
  it.each(table)('moves the status %s with %s to %s', async (status, decision, outcome) => {
    using shop = openTestShop()
    await makeAffiliate(shop, { status })
    expect(outcomeOf(shop, decision)).toBe(outcome)
  })

  it('emits an event and queues an email, once', async () => {
    using shop = openTestShop()
    await makeAffiliate(shop, { status: 'pending' })
    decide(shop, 'mira', 'reject')
    decide(shop, 'mira', 'reject')
    decide(shop, 'MIRA', 'approve')
    decide(shop, '1', 'deactivate')
    expect(eventsOf(shop)).toEqual([
      'affiliate.rejected',
      'affiliate.changed',
      'affiliate.approved',
      'affiliate.changed',
      'affiliate.changed'
    ])
    const mails = shop.db.sqlite.prepare('SELECT template, recipient, data FROM mails ORDER BY id').all()
    expect(mails).toEqual([
      { template: 'affiliate_decision', recipient: 'mira@shop.example', data: '{"affiliateId":1,"decision":"reject"}' },
      {
        template: 'affiliate_decision',
        recipient: 'mira@shop.example',
        data: '{"affiliateId":1,"decision":"approve"}'
      },
      {
        template: 'affiliate_decision',
        recipient: 'mira@shop.example',
        data: '{"affiliateId":1,"decision":"deactivate"}'
      }
    ])
  })
})

describe('an affiliate that an operator creates', () => {
  const create = (shop: TestShop, userId: number, code: string) =>
    createAffiliate(shop.db, { userId, code, status: 'active', rateBps: 1_250 }, 0)

  it('has the given code and rate', async () => {
    using shop = openTestShop()
    const { id } = await person(shop, 'mira@shop.example')
    expect(create(shop, id, ' Mira ')).toMatchObject({ code: 'Mira', codeKey: 'mira' })
    expect(getOwnAffiliate(shop, id, shop.clock.now()).affiliate.rate).toBe(12.5)
    expect(eventsOf(shop)).toEqual(['affiliate.applied', 'affiliate.rate_changed', 'affiliate.approved'])
  })

  it('has an account and a valid code that no other affiliate has', async () => {
    using shop = openTestShop()
    const mira = await person(shop, 'mira@shop.example')
    const petra = await person(shop, 'petra@shop.example')
    create(shop, mira.id, 'mira')
    expect(() => create(shop, mira.id, 'other')).toThrow(code('AFFILIATE_EXISTS'))
    expect(() => create(shop, petra.id, 'MIRA')).toThrow(code('CONFLICT'))
    for (const bad of ['', ' ', '123', 'a b', 'a\u0007', 'x'.repeat(101)]) {
      expect(() => create(shop, petra.id, bad)).toThrow(
        refusal('VALIDATION_FAILED', { fieldErrors: { code: [expect.stringMatching(/\.$/)] } })
      )
    }
    for (const [index, good] of ['x'.repeat(100), '1a', '🏮'.repeat(100)].entries()) {
      const { id } = await person(shop, `p${index}@shop.example`)
      expect(create(shop, id, good).code).toBe(good)
    }
  })

  it('causes the events of its initial status', async () => {
    using shop = openTestShop()
    const createWith = async (status: 'pending' | 'active' | 'rejected') => {
      const { id: userId } = await person(shop, `${status}@shop.example`)
      return createAffiliate(shop.db, { userId, code: status, status, rateBps: null }, 0).id
    }
    const pending = await createWith('pending')
    const active = await createWith('active')
    const rejected = await createWith('rejected')
    const events = shop.db.sqlite
      .prepare<[], { type: string; payload: string }>("SELECT type, payload FROM events WHERE type LIKE 'affiliate.%'")
      .all()
    expect(events.map(({ type, payload }) => [type, JSON.parse(payload)])).toEqual([
      ['affiliate.applied', { affiliateId: pending }],
      ['affiliate.applied', { affiliateId: active }],
      ['affiliate.approved', { affiliateId: active }],
      ['affiliate.applied', { affiliateId: rejected }],
      ['affiliate.rejected', { affiliateId: rejected }]
    ])
  })

  it('is shown with its own rate, or null', async () => {
    using shop = openTestShop()
    const mira = create(shop, (await person(shop, 'mira@shop.example')).id, 'mira')
    const shown = toAdminAffiliate(shop.db, mira, shop.clock.now())
    expect(shown).toMatchObject({ code: 'mira', email: 'mira@shop.example', ownRate: 12.5 })
    setOwnRate(shop.db, 'mira', { rateBps: null }, shop.clock.now())
    expect(toAdminAffiliate(shop.db, mira, shop.clock.now()).ownRate).toBeNull()
  })

  it('has a rate in percent with at most two decimals', () => {
    expect(['0', '10', '12.5', '12.34', '100'].map(parseRate)).toEqual([0, 1_000, 1_250, 1_234, 10_000])
    for (const bad of ['', '-1', '100.01', '1e1', '12.345', 'ten', '10%'])
      expect(() => parseRate(bad)).toThrow(
        refusal('VALIDATION_FAILED', { fieldErrors: { rate: [expect.stringMatching(/\.$/)] } })
      )
  })
})

describe('the affiliate account of an erased user', () => {
  const erase = (shop: TestShop, userId: number) =>
    write(shop.db, (tx) => anonymiseAffiliateOf(tx, userId, shop.clock.now()))

  it('is deactivated and contains no personal data', async () => {
    using shop = openTestShop()
    const { id, userId } = await makeAffiliate(shop, { website: 'https://mira.example', message: 'I am Mira' })
    erase(shop, userId)
    const code = `erased ${id}`
    const closed = { status: 'inactive', code, codeKey: code, website: null, message: null }
    expect(findAffiliateOfUser(shop.db, userId)).toMatchObject(closed)
    erase(shop, userId)
    expect(eventsOf(shop)).toEqual([])
  })

  it('gets a unique code when another affiliate has a similar one', async () => {
    using shop = openTestShop()
    await makeAffiliate(shop, { code: 'erased-2' })
    const { id, userId } = await makeAffiliate(shop)
    expect(id).toBe(2)
    erase(shop, userId)
    expect(findAffiliateOfUser(shop.db, userId)).toMatchObject({ status: 'inactive', code: 'erased 2' })
  })

  it('is rejected without an email when the application is pending', async () => {
    using shop = openTestShop()
    const { userId } = await makeAffiliate(shop, { status: 'pending' })
    erase(shop, userId)
    expect(findAffiliateOfUser(shop.db, userId)?.status).toBe('rejected')
    expect(eventsOf(shop)).toEqual(['affiliate.rejected'])
    expect(shop.db.sqlite.prepare('SELECT count(*) FROM mails').pluck().get()).toBe(0)
    erase(shop, 99)
  })
})

describe('affiliates of an import file', () => {
  const entry = { code: 'mira', user: 'mira@shop.example', status: 'active' as const, coupons: [], rateBps: 1_500 }

  it('are created and updated, and the same file again changes nothing', async () => {
    using shop = openTestShop()
    await person(shop, 'mira@shop.example')
    const seed = (changes: object = {}) => write(shop.db, (tx) => applyAffiliates(tx, [{ ...entry, ...changes }], 0))
    expect(seed()).toEqual({ created: 1, updated: 0, unchanged: 0 })
    expect(seed()).toEqual({ created: 0, updated: 0, unchanged: 1 })
    expect(seed({ status: 'pending' })).toEqual({ created: 0, updated: 0, unchanged: 1 })
    expect(seed({ rateBps: undefined, code: 'Mira' })).toEqual({ created: 0, updated: 1, unchanged: 0 })
    expect(getAffiliate(shop.db, 'mira')).toMatchObject({ code: 'Mira', status: 'active' })
    expect(basicRateBps(shop.db, 1, shop.clock.now())).toBe(1_500)
  })

  it('are refused when the account does not exist or the code belongs to another account', async () => {
    using shop = openTestShop()
    await makeAffiliate(shop, { code: 'petra' })
    await person(shop, 'mira@shop.example')
    const path = { details: { fieldErrors: { 'affiliates.0.user': [expect.any(String)] } } }
    for (const bad of [
      { ...entry, user: 'unknown@shop.example' },
      { ...entry, code: 'petra' }
    ]) {
      expect(() => write(shop.db, (tx) => applyAffiliates(tx, [bad], 0))).toThrow(expect.objectContaining(path))
    }
  })
})
