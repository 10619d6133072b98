import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { applyCampaigns, applyPlans } from '../../../src/shop/benefits/plans.ts'
import { campaigns, plans } from '../../../src/shop/benefits/schema.ts'
import { openTestShop } from '../../support/shop-context.ts'

const circle = { slug: 'circle', name: 'Circle', module: 'A' as const, rank: 20, pro: false }
const guild = { slug: 'guild', name: 'Guild', module: 'B' as const, rank: 30, pro: true }

it('plans are made and changed by slug, and the same file again changes nothing', () => {
  using shop = openTestShop()
  expect(write(shop.db, (tx) => applyPlans(tx, [circle, guild]))).toEqual({ created: 2, updated: 0, unchanged: 0 })
  expect(write(shop.db, (tx) => applyPlans(tx, [circle, { ...guild, rank: 31 }]))).toEqual({
    created: 0,
    updated: 1,
    unchanged: 1
  })
  expect(write(shop.db, (tx) => applyPlans(tx, [{ ...circle, pro: true }]))).toEqual({
    created: 0,
    updated: 1,
    unchanged: 0
  })
  expect(shop.db.orm.select().from(plans).all()).toEqual([
    { id: 1, slug: 'circle', name: 'Circle', module: 'A', rank: 20, isPro: true },
    { id: 2, slug: 'guild', name: 'Guild', module: 'B', rank: 31, isPro: true }
  ])
})

it('campaigns are made and renamed by slug, and the same file again changes nothing', () => {
  using shop = openTestShop()
  const panes = { slug: 'panes', name: 'New panes' }
  expect(write(shop.db, (tx) => applyCampaigns(tx, [panes]))).toEqual({ created: 1, updated: 0, unchanged: 0 })
  expect(write(shop.db, (tx) => applyCampaigns(tx, [panes]))).toEqual({ created: 0, updated: 0, unchanged: 1 })
  expect(write(shop.db, (tx) => applyCampaigns(tx, [{ ...panes, name: 'Panes' }]))).toEqual({
    created: 0,
    updated: 1,
    unchanged: 0
  })
  expect(shop.db.orm.select().from(campaigns).all()).toEqual([{ id: 1, slug: 'panes', name: 'Panes' }])
})
