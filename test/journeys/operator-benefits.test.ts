import { describe, expect, it } from 'vitest'
import { seedDemo } from '../../src/operations/seeding/demo.ts'
import type { Browser } from '../support/browser.ts'
import { shopstead } from '../support/command-line.ts'
import { benefitCatalog } from './catalog.ts'
import { buy, me, registerUser, openShop, writeDownload } from './shop.ts'
import type { JourneyShop, Me } from './shop.ts'

const benefits = (shop: JourneyShop, ...args: string[]) => shopstead(shop.dataDir, ['benefits', ...args, '--json'])

describe('a benefit that an operator grants while the shop runs', () => {
  it('appears in /me immediately, and disappears immediately when it is revoked', async () => {
    const shop = await openShop(benefitCatalog)
    // The command line uses the real time.
    shop.clock.set(Date.now() + 60_000)
    writeDownload(shop, 'song.txt', 'la')
    const lena = await registerUser(shop, 'lena')
    const grant = (...args: string[]) => benefits(shop, 'grant', 'lena@shop.example', ...args)
    const kinds = [
      ['membership', '--plan', 'head-keeper', '--period', 'P1Y'],
      ['subscription', '--product', 'almanac', '--interval', 'month'],
      ['course', '--course', 'glazing'],
      ['download', '--product', 'song', '--file', 'song.txt'],
      ['donation', '--amount', '12.50', '--campaign', 'panes']
    ]
    for (const args of kinds) expect([args[0], (await grant(...args)).code]).toEqual([args[0], 0])
    const granted = await me(lena)
    expect(granted.flags).toMatchObject({
      hasActiveMembershipA: true,
      hasProAccess: true,
      hasActiveSubscription: true,
      hasCourseEnrollments: true
    })
    expect(granted.entitlements.donations.donations).toMatchObject([{ amount: 12.5, orderId: null, campaign: 'panes' }])
    expect(await downloadNames(lena)).toEqual(['song.txt'])
    for (const [kind = ''] of kinds) expect((await benefits(shop, 'revoke', kind, '1', '--yes')).code).toBe(0)
    const revoked = await me(lena)
    expect(revoked.flags).toMatchObject({
      hasActiveMembershipA: false,
      hasProAccess: false,
      hasActiveSubscription: false,
      hasCourseEnrollments: false
    })
    expect(revoked.entitlements.donations.donations).toEqual([])
    expect(await downloadNames(lena)).toEqual([])
    expect((await benefits(shop, 'revoke', 'course', '1', '--yes')).json).toMatchObject({
      error: { code: 'NOT_FOUND' }
    })
  })

  it('is refused with an error code and an exit code', async () => {
    const shop = await openShop(benefitCatalog)
    await registerUser(shop, 'lena')
    const refusals: [string[], number, string][] = [
      [['grant', 'unknown@shop.example', 'course', '--course', 'x'], 1, 'NOT_FOUND'],
      [['grant', 'lena@shop.example', 'membership', '--plan', 'none'], 1, 'NOT_FOUND'],
      [['grant', 'lena@shop.example', 'membership', '--plan', 'guild', '--period', 'PT1H'], 1, 'VALIDATION_FAILED'],
      [['grant', 'lena@shop.example', 'download', '--product', 'song', '--file', '../x'], 1, 'VALIDATION_FAILED'],
      [['grant', 'lena@shop.example', 'course'], 1, 'VALIDATION_FAILED'],
      [['grant', 'lena@shop.example', 'medal'], 1, 'VALIDATION_FAILED'],
      [['grant', 'lena@shop.example', 'donation', '--amount', '-1'], 1, 'VALIDATION_FAILED'],
      [['revoke', 'course', '1'], 2, 'USAGE'],
      [['revoke', 'medal', '1', '--yes'], 2, 'USAGE']
    ]
    for (const [args, code, error] of refusals) {
      const ran = await benefits(shop, ...args)
      expect([args.join(' '), ran.code, ran.json]).toEqual([
        args.join(' '),
        code,
        { error: expect.objectContaining({ code: error }) }
      ])
    }
  })

  it('is not given again by its order after an operator revoked it', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const { orderId } = await buy(shop, lena, 'glazing')
    expect((await benefits(shop, 'revoke', 'course', '1', '--yes')).code).toBe(0)
    await shopstead(shop.dataDir, ['orders', 'paid', String(orderId)])
    await shopstead(shop.dataDir, ['orders', 'reconcile'])
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(false)
  })
})

async function downloadNames(visitor: Browser): Promise<unknown[]> {
  const { data } = await visitor.get<{ downloads: { name: string }[] }>('/me/downloads')
  return data.downloads.map(({ name }) => name)
}

describe('the demo shop', () => {
  it('has users in every state', async () => {
    const shop = await openShop({ products: [] })
    await seedDemo(shop.app, shop.clock.now())
    const login = async (name: string) => {
      const visitor = shop.visitor()
      const answer = await visitor.post<Me>('/auth/login', {
        email: `${name}@shop.example`,
        password: 'harbour-lantern-42'
      })
      return { visitor, answer }
    }
    const flagsOf = async (name: string) => (await login(name)).answer.data.flags
    expect(await flagsOf('admin')).toMatchObject({ isAdmin: true })
    expect(await flagsOf('jonas')).toMatchObject({ isAffiliate: true, isAffiliateApproved: false })
    expect(await flagsOf('new')).toMatchObject({ isAffiliate: false, hasAnyCompletedStoreOrder: false })
    const { visitor: mira } = await login('mira')
    const page = await mira.get<{ referrals: object[]; nextCursor: string | null }>('/affiliates/referrals')
    expect([page.data.referrals.length, typeof page.data.nextCursor]).toEqual([20, 'string'])
    const { answer: lena } = await login('lena')
    expect(lena.data.flags).toMatchObject({ hasAnyCompletedStoreOrder: true, hasActiveSubscription: true })
    expect(lena.data.flags['hasActiveMembershipA'] || lena.data.flags['hasActiveMembershipB']).toBe(true)
    const states = new Set(lena.data.entitlements.orders.map(({ status }) => status))
    expect([...states].map(String).toSorted()).toEqual(
      ['pending', 'failed', 'on-hold', 'processing', 'completed', 'cancelled', 'refunded'].toSorted()
    )
    const { visitor: petra } = await login('petra')
    expect((await petra.get('/affiliates/referrals')).error.code).toBe('AFFILIATE_NOT_ACTIVE')
    expect((await login('closed')).answer.error.code).toBe('AUTH_ACCOUNT_DEACTIVATED')
    expect((await login('unverified')).answer.error.code).toBe('AUTH_EMAIL_NOT_VERIFIED')
  })
})
