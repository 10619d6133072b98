import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import type { AffiliateRow } from '../../src/shop/affiliates/find.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { insertOrder } from '../../src/shop/orders/create-order.ts'
import { getAffiliate } from '../../src/shop/affiliates/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { shopstead } from '../support/command-line.ts'
import { makeUser } from '../support/people.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'
import { credited, draft, line, makeProduct } from '../shop/orders/support.ts'

const run = (shop: TestShop, ...args: string[]) => shopstead(shop.dataDir, args)
const json = (shop: TestShop, ...args: string[]) => shopstead(shop.dataDir, [...args, '--json'])

async function withAffiliate(shop: TestShop): Promise<AffiliateRow> {
  await makeUser(shop, { email: 'mira@shop.example', passwordHash: 'none' })
  await json(shop, 'affiliates', 'create', '--user', 'mira@shop.example', '--code', 'mira', '--status', 'active')
  return getAffiliate(shop.db, 'mira')
}

/** An order of 20.00 that came by the affiliate; paid long ago unless told otherwise. */
function order(shop: TestShop, affiliate: AffiliateRow, paid = true, longAgo = Date.UTC(2026, 0, 1)): number {
  const lines = [line(makeProduct(shop.db), { unitPriceMinor: 2_000 })]
  return write(shop.db, (tx) => {
    const { id } = insertOrder(tx, draft(lines, { attribution: credited(affiliate, 'spring') }), longAgo)
    if (paid) moveOrder(tx, id, 'completed', { by: 'test', reason: 'a test' }, longAgo)
    return id
  })
}

describe('affiliates on the command line', () => {
  it('are created, decided about, listed and shown', async () => {
    using shop = openTestShop()
    await makeUser(shop, { email: 'mira@shop.example', passwordHash: 'none' })
    const created = await json(
      shop,
      'affiliates',
      'create',
      '--user',
      'mira@shop.example',
      '--code',
      'Mira',
      '--rate',
      '12.5'
    )
    expect(created).toMatchObject({
      code: 0,
      json: { affiliate: { id: 1, code: 'Mira', status: 'pending', rate: 12.5, email: 'mira@shop.example' } }
    })
    expect((await json(shop, 'affiliates', 'approve', 'mira')).json).toMatchObject({
      affiliate: { status: 'active' }
    })
    order(shop, getAffiliate(shop.db, 'mira'), true, Date.now())
    expect((await json(shop, 'affiliates', 'show', '1')).json).toMatchObject({
      visits: { visits: 1, conversions: 1, conversionRate: 100, earnedMinor: 250 },
      campaigns: [{ campaign: 'spring', visits: 1 }],
      balance: { unpaidMinor: 250 }
    })
    expect((await run(shop, 'affiliates', 'show', 'mira')).stdout).toContain('Visits: 1, 1 converted (100 %)')
    expect((await json(shop, 'affiliates', 'deactivate', 'mira', '--yes')).json).toMatchObject({
      affiliate: { status: 'inactive' }
    })
    expect((await json(shop, 'affiliates', 'list', '--status', 'inactive')).json).toMatchObject({
      affiliates: [{ code: 'Mira' }]
    })
    expect((await json(shop, 'affiliates', 'list', '--status', 'active')).json).toEqual({ affiliates: [] })
  })

  it('name the referrals that wait for a decision when an affiliate is approved again', async () => {
    using shop = openTestShop()
    const affiliate = await withAffiliate(shop)
    const id = order(shop, affiliate, false)
    await json(shop, 'affiliates', 'deactivate', 'mira', '--yes')
    write(shop.db, (tx) => moveOrder(tx, id, 'completed', { by: 'test', reason: 'a test' }, Date.UTC(2026, 0, 1)))
    const waiting = [{ currency: 'EUR', referrals: 1, amountMinor: 200 }]
    expect((await json(shop, 'affiliates', 'approve', 'mira')).json).toMatchObject({ waiting })
    expect((await json(shop, 'affiliates', 'show', 'mira')).json).toMatchObject({ waiting })
    expect((await run(shop, 'payouts', 'plan')).stdout).toContain('mira: 1 referral of paid orders, €2.00')
    await json(shop, 'referrals', 'accept', '1')
    expect((await json(shop, 'affiliates', 'show', 'mira')).json).toMatchObject({ waiting: [] })
  })

  it('are erased with an open balance only if the operator confirms that', async () => {
    using shop = openTestShop()
    const { userId } = await withAffiliate(shop)
    order(shop, getAffiliate(shop.db, 'mira'))
    const refused = await run(shop, 'users', 'erase', 'mira@shop.example', '--yes')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('The shop owes this affiliate €2.00') })
    const erased = await json(shop, 'users', 'erase', 'mira@shop.example', '--yes', '--despite-balance')
    expect(erased).toMatchObject({ code: 0, json: { status: 'erased', user: { id: userId } } })
    expect((await run(shop, 'payouts', 'plan')).stdout).toContain('held: the account is erased')
  })

  it('show the conversion rate rounded to two decimals, half up', async () => {
    using shop = openTestShop()
    const affiliate = await withAffiliate(shop)
    const rates: unknown[] = []
    for (const isPaid of [true, false, true]) {
      order(shop, affiliate, isPaid)
      const { json: shown } = await json(shop, 'affiliates', 'show', 'mira')
      rates.push((shown as { visits: { conversionRate: number } }).visits.conversionRate)
    }
    expect(rates).toEqual([100, 50, 66.67])
  })

  it('refuse what cannot be, with its exit code', async () => {
    using shop = openTestShop()
    await withAffiliate(shop)
    const refusals: [string[], number, string][] = [
      [['affiliates', 'approve', 'nobody'], 1, 'NOT_FOUND'],
      [['affiliates', 'reject', 'mira'], 1, 'TRANSITION_REFUSED'],
      [['affiliates', 'create', '--user', 'mira@shop.example', '--code', 'x', '--rate', '101'], 1, 'VALIDATION_FAILED'],
      [['affiliates', 'list', '--status', 'happy'], 2, 'USAGE'],
      [['referrals', 'show', 'mira'], 2, 'USAGE']
    ]
    const outcomes = await Promise.all(refusals.map(([args]) => json(shop, ...args)))
    expect(outcomes).toMatchObject(refusals.map(([, code, error]) => ({ code, json: { error: { code: error } } })))
  })
})

describe('referrals on the command line', () => {
  it('are listed, shown, accepted once their order is paid, and rejected', async () => {
    using shop = openTestShop()
    const mira = await withAffiliate(shop)
    setSetting(shop.db, 'affiliates.autoAccept', 'false', 0)
    const paid = order(shop, mira)
    const open = order(shop, mira, false)
    const row = { affiliateCode: 'mira', amountMinor: 200, currency: 'EUR', createdAtUtc: '2026-01-01T00:00:00.000Z' }
    expect((await json(shop, 'referrals', 'list', '--affiliate', 'mira', '--status', 'pending')).json).toEqual({
      referrals: [
        { ...row, id: 2, orderId: open, visitId: 2, status: 'pending' },
        { ...row, id: 1, orderId: paid, visitId: 1, status: 'pending' }
      ]
    })
    expect((await json(shop, 'referrals', 'accept', '1')).json).toMatchObject({
      referral: { status: 'unpaid' },
      entries: [{ kind: 'earned', amountMinor: 200 }]
    })
    expect(await json(shop, 'referrals', 'accept', '2')).toMatchObject({
      code: 1,
      json: { error: { code: 'TRANSITION_REFUSED' } }
    })
    expect((await json(shop, 'referrals', 'reject', '2', '--reason', 'fraud', '--yes')).json).toMatchObject({
      referral: { status: 'rejected', rejectedFor: 'operator: fraud' }
    })
    expect((await run(shop, 'referrals', 'show', '1')).stdout).toContain('Referral 1: unpaid, €2.00 at 10 %')
  })

  it('are paid after a dry run, with a file, and only after a confirmation', async () => {
    using shop = openTestShop()
    const mira = await withAffiliate(shop)
    order(shop, mira)
    order(shop, mira)
    const file = join(shop.dataDir, 'payouts.csv')
    const due = {
      payoutId: null,
      affiliateCode: 'mira',
      currency: 'EUR',
      earnedMinor: 400,
      setOffMinor: 0,
      held: [],
      heldMinor: 0,
      belowMinimum: false,
      amountMinor: 400,
      referralIds: [1, 2],
      reference: null
    }
    expect((await json(shop, 'referrals', 'pay', '--dry-run')).json).toEqual({ payouts: [due] })
    expect(await json(shop, 'referrals', 'pay')).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
    expect(existsSync(file)).toBe(false)
    const paying = ['referrals', 'pay', '--yes', '--reference', 'SEPA-7', '--csv', file]
    expect((await json(shop, ...paying)).json).toEqual({ payouts: [{ ...due, payoutId: 1, reference: 'SEPA-7' }] })
    expect(readFileSync(file, 'utf8')).toMatch(/^\uFEFFpayout,affiliate.*\n1,mira,Mira Okafor,.*,4\.00,EUR,2,SEPA-7,/)
    expect((await json(shop, ...paying)).json).toEqual({ payouts: [] })
    expect((await json(shop, 'referrals', 'list', '--status', 'paid')).json).toMatchObject({ referrals: [{}, {}] })
  })

  it('are not paid when the file cannot be written', async () => {
    using shop = openTestShop()
    order(shop, await withAffiliate(shop))
    const paying = ['referrals', 'pay', '--yes', '--csv', join(shop.dataDir, 'secret.key')]
    expect(await json(shop, ...paying)).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect((await json(shop, 'referrals', 'list', '--status', 'unpaid')).json).toMatchObject({ referrals: [{}] })
  })

  it('are exported as CSV', async () => {
    using shop = openTestShop()
    order(shop, await withAffiliate(shop))
    const { stdout } = await run(shop, 'referrals', 'export', '--affiliate', 'mira')
    expect(stdout.split('\n')).toEqual([
      'referral,affiliate,order,visit,campaign,status,amount,currency,rate_percent,rejected_for,created_at,accepted_at',
      '1,mira,1,1,spring,unpaid,2.00,EUR,10,,2026-01-01T00:00:00.000Z,2026-01-01T00:00:00.000Z',
      ''
    ])
  })
})

describe('payouts on the command line', () => {
  it('are planned, paid, listed and shown, and are due again after one failed', async () => {
    using shop = openTestShop()
    const affiliate = await withAffiliate(shop)
    order(shop, affiliate)
    expect((await json(shop, 'payouts', 'plan')).json).toMatchObject({
      payouts: [{ payoutId: null, amountMinor: 200 }]
    })
    expect((await json(shop, 'payouts', 'list')).json).toEqual({ payouts: [] })
    const { json: paid } = await json(shop, 'payouts', 'pay', '--yes', '--reference', 'SEPA-7')
    expect(paid).toMatchObject({ payouts: [{ payoutId: 1, amountMinor: 200, reference: 'SEPA-7' }] })
    const payout = {
      id: 1,
      affiliateCode: 'mira',
      amountMinor: 200,
      currency: 'EUR',
      state: 'paid',
      reference: 'SEPA-7'
    }
    expect((await json(shop, 'payouts', 'list', '--affiliate', 'mira', '--state', 'paid')).json).toMatchObject({
      payouts: [payout]
    })
    expect(await json(shop, 'payouts', 'fail', '1', '--reason', 'closed')).toMatchObject({
      code: 2,
      json: { error: { code: 'USAGE' } }
    })
    expect((await json(shop, 'payouts', 'fail', '1', '--reason', 'closed', '--yes')).json).toMatchObject({
      payout: { ...payout, state: 'failed', failureReason: 'closed' },
      lines: [{ referralId: 1, orderId: 1, amountMinor: 200 }]
    })
    expect((await run(shop, 'payouts', 'show', '1')).stdout).toContain('Payout 1 to mira: €2.00, failed')
    expect(await json(shop, 'payouts', 'fail', '1', '--reason', 'closed', '--yes')).toMatchObject({
      json: { error: { code: 'CONFLICT', message: 'Payout 1 failed already: closed' } }
    })
    const [pdf, csv] = [join(shop.dataDir, 'payout.pdf'), join(shop.dataDir, 'payout.csv')]
    const written = await run(shop, 'payouts', 'show', '1', '--pdf', pdf, '--csv', csv)
    expect(written.stdout).toContain(`Written to ${csv}.`)
    expect(readFileSync(pdf, 'latin1')).toMatch(/^%PDF-1\.7/)
    expect(readFileSync(csv, 'utf8')).toMatch(/\n1,2026-\d\d-\d\d,SEPA-7,failed,mira,1,1,2026-01-01,10,2\.00,EUR\n/)
    expect(await json(shop, 'payouts', 'show', '1', '--pdf', pdf)).toMatchObject({
      json: { error: { code: 'CONFLICT' } }
    })
    expect(await json(shop, 'payouts', 'show', '2')).toMatchObject({ json: { error: { code: 'NOT_FOUND' } } })
    expect((await json(shop, 'payouts', 'list', '--state', 'paid')).json).toEqual({ payouts: [] })
    expect((await json(shop, 'payouts', 'plan')).json).toMatchObject({ payouts: [{ amountMinor: 200 }] })
  })
})
