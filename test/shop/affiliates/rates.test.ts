import { describe, expect, it } from 'vitest'
import { addRate, basicRateBps, endRate, listRates, setOwnRate } from '../../../src/shop/affiliates/rates.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { shopstead } from '../../support/command-line.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeCategory, makeCoupon, makeProduct } from '../orders/support.ts'
import { eventsOf, makeAffiliate } from './support.ts'

const dayMs = 86_400_000
/** Noon in Berlin; the day begins at 22:00 UTC of the day before. */
const now = Date.UTC(2026, 5, 15, 10)

/** Mira and Petra are affiliates of a shop in Berlin, which sells a lamp of the category light. */
async function openShop(): Promise<TestShop> {
  const shop = openTestShop()
  shop.clock.set(now)
  setSetting(shop.db, 'shop.timeZone', 'Europe/Berlin', now)
  await makeAffiliate(shop)
  await makeAffiliate(shop, { code: 'petra' })
  makeProduct(shop.db, { slug: 'lamp' })
  makeCategory(shop.db, 'light')
  makeCoupon(shop.db)
  return shop
}

const ratesOf = (shop: TestShop) =>
  listRates(shop.db, { ended: true }, now).map(({ id, rate, from, to, state }) => [id, rate, from, to, state].join(' '))

describe('the own rate of an affiliate', () => {
  it('begins with a day in the time zone of the shop, and ends the one before', async () => {
    using shop = await openShop()
    setOwnRate(shop.db, 'mira', { rateBps: 1_200 }, now)
    expect(setOwnRate(shop.db, 'mira', { rateBps: 1_500, from: '2026-07-01' }, now)).toBe(true)
    const begins = Date.UTC(2026, 5, 30, 22)
    expect([now, begins - 1, begins, begins + 400 * dayMs].map((at) => basicRateBps(shop.db, 1, at))).toEqual([
      1_200, 1_200, 1_500, 1_500
    ])
    expect(basicRateBps(shop.db, 2, begins)).toBe(1_000)
    expect(ratesOf(shop)).toEqual([
      '1 12 2026-06-15T10:00:00.000Z 2026-06-30T22:00:00.000Z running',
      '2 15 2026-06-30T22:00:00.000Z  planned'
    ])
    expect(eventsOf(shop)).toEqual(Array<string>(3).fill('affiliate.rate_changed'))
  })

  it('counts from now on when it begins today, and can be the one of the shop again', async () => {
    using shop = await openShop()
    setOwnRate(shop.db, 'mira', { rateBps: 1_200, from: '2026-06-15' }, now)
    expect([now - 1, now].map((at) => basicRateBps(shop.db, 1, at))).toEqual([1_000, 1_200])
    setOwnRate(shop.db, 'mira', { rateBps: null, from: '2026-06-16' }, now)
    expect([now, now + dayMs].map((at) => basicRateBps(shop.db, 1, at))).toEqual([1_200, 1_000])
    setSetting(shop.db, 'affiliates.rate', '7.5', now)
    expect(basicRateBps(shop.db, 1, now + dayMs)).toBe(750)
  })

  it('is refused beside a planned one, which can be taken back', async () => {
    using shop = await openShop()
    setOwnRate(shop.db, 'mira', { rateBps: 1_200 }, now)
    setOwnRate(shop.db, 'mira', { rateBps: 1_500, from: '2026-07-01' }, now)
    const before = ratesOf(shop)
    for (const from of [undefined, '2026-06-20', '2026-06-30'])
      expect(() => setOwnRate(shop.db, 'mira', { rateBps: 900, from }, now)).toThrow(
        'mira has 15 % from 2026-07-01 on (rate 2). End it first, or choose other days.'
      )
    expect(ratesOf(shop)).toEqual(before)
    expect(setOwnRate(shop.db, 'mira', { rateBps: 1_200 }, now)).toBe(false)
    endRate(shop.db, 2, now)
    endRate(shop.db, 2, now)
    expect(basicRateBps(shop.db, 1, now + 400 * dayMs)).toBe(1_200)
    expect(ratesOf(shop)).toEqual([
      '1 12 2026-06-15T10:00:00.000Z  running',
      '2 15 2026-06-30T22:00:00.000Z 2026-06-30T22:00:00.000Z ended'
    ])
    expect(setOwnRate(shop.db, 'mira', { rateBps: 900, from: '2026-07-01' }, now)).toBe(true)
  })

  it('replaces one that is planned for the same day', async () => {
    using shop = await openShop()
    setOwnRate(shop.db, 'mira', { rateBps: 1_500, from: '2026-07-01' }, now)
    setOwnRate(shop.db, 'mira', { rateBps: 1_600, from: '2026-07-01' }, now)
    expect(basicRateBps(shop.db, 1, now + 20 * dayMs)).toBe(1_600)
    endRate(shop.db, 2, now)
    expect(basicRateBps(shop.db, 1, now + 20 * dayMs)).toBe(1_000)
  })
})

describe('the rate of a product, a category or a coupon', () => {
  it('has a first and a last day, and none overlaps another of the same', async () => {
    using shop = await openShop()
    addRate(shop.db, { category: 'light', rateBps: 500, from: '2026-07-01', to: '2026-07-31' }, now)
    for (const period of [{}, { from: '2026-07-31' }, { from: '2026-06-20', to: '2026-07-01' }])
      expect(() => addRate(shop.db, { category: 'light', rateBps: null, ...period }, now)).toThrow(
        'category light has 5 % from 2026-07-01 until 2026-07-31 (rate 1). End it first, or choose other days.'
      )
    addRate(shop.db, { category: 'light', rateBps: 600, to: '2026-06-30' }, now)
    addRate(shop.db, { category: 'light', rateBps: null, from: '2026-08-01' }, now)
    addRate(shop.db, { category: 'light', affiliate: 'mira', rateBps: 700 }, now)
    addRate(shop.db, { product: 'lamp', rateBps: 0 }, now)
    addRate(shop.db, { coupon: 'welcome10', rateBps: 100 }, now)
    expect(() => addRate(shop.db, { category: 'light', affiliate: 'mira', rateBps: 800 }, now)).toThrow(
      'category light of mira has 7 %'
    )
    expect(ratesOf(shop)).toHaveLength(6)
    endRate(shop.db, 2, now + dayMs)
    expect(listRates(shop.db, {}, now + dayMs).map(({ id }) => id)).not.toContain(2)
  })
})

describe('commission rates on the command line', () => {
  it('are added, listed, shown and ended', async () => {
    using shop = await openShop()
    const run = (...args: string[]) => shopstead(shop.dataDir, [...args, '--json'])
    const added = await run('commissions', 'add', '--category', 'light', '--affiliate', 'mira', '--rate', '5')
    expect(added).toMatchObject({
      code: 0,
      json: {
        rate: { id: 1, affiliate: 'mira', category: 'light', product: null, rate: 5, to: null, state: 'running' }
      }
    })
    const excluded = await run('commissions', 'add', '--product', 'lamp', '--exclude')
    expect(excluded.json).toMatchObject({ rate: { id: 2, product: 'lamp', rate: null } })
    expect((await run('affiliates', 'set', 'mira', '--rate', '12.5')).json).toMatchObject({
      affiliate: { rate: 12.5, ownRate: 12.5 },
      rates: [{ category: 'light' }, { affiliate: 'mira', rate: 12.5 }]
    })
    expect((await run('affiliates', 'set', 'mira', '--rate', 'shop')).json).toMatchObject({
      affiliate: { ownRate: null }
    })
    expect((await run('commissions', 'list', '--affiliate', 'mira')).json).toMatchObject({ rates: [{ id: 1 }] })
    expect((await run('commissions', 'end', '1')).json).toMatchObject({ rate: { id: 1, state: 'ended' } })
    expect((await run('commissions', 'list')).json).toMatchObject({ rates: [{ id: 2 }] })
    const { stdout } = await shopstead(shop.dataDir, ['commissions', 'list', '--ended'])
    expect(stdout).toMatch(/product lamp +excluded/)
  })

  it.each([
    [['affiliates', 'set', 'mira', '--rate', '101'], 'percentage from 0 to 100'],
    [['affiliates', 'set', 'mira', '--rate', '-1'], 'percentage from 0 to 100'],
    [['affiliates', 'set', 'mira', '--rate', '12.345'], 'percentage from 0 to 100'],
    [['affiliates', 'set', 'mira', '--rate', '5', '--from', '2020-01-01'], 'Must be today or a later day'],
    [['affiliates', 'set', 'mira', '--rate', '5', '--from', '2027-02-30'], 'Must be today or a later day'],
    [['affiliates', 'set', 'nobody', '--rate', '5'], 'No affiliate has this code or id.'],
    [['commissions', 'add', '--category', 'light', '--rate', '101'], 'percentage from 0 to 100'],
    [['commissions', 'add', '--category', 'none', '--rate', '5'], 'No category has the slug or name none.'],
    [['commissions', 'add', '--product', 'none', '--rate', '5'], 'No product has the slug none.'],
    [['commissions', 'add', '--coupon', 'none', '--rate', '5'], 'No coupon has this code.'],
    [['commissions', 'add', '--rate', '5'], 'Pass one of --product, --category and --coupon.'],
    [['commissions', 'add', '--product', 'lamp', '--category', 'light', '--rate', '5'], 'Pass one of'],
    [['commissions', 'add', '--product', 'lamp'], 'Pass either --rate or --exclude.'],
    [['commissions', 'add', '--product', 'lamp', '--rate', '5', '--exclude'], 'Pass either --rate or --exclude.'],
    [
      ['commissions', 'add', '--product', 'lamp', '--rate', '5', '--from', '2090-01-02', '--to', '2090-01-01'],
      'not before the first one'
    ],
    [['commissions', 'end', '9'], 'There is no commission rate 9.']
  ])('refuse %j with one line, and change nothing', async (args, line) => {
    using shop = await openShop()
    const { code, stderr } = await shopstead(shop.dataDir, args)
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain(line)
    expect(ratesOf(shop)).toEqual([])
  })
})
