import { and, eq, sql } from 'drizzle-orm'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { tryTakePoint } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { shopDay } from '../settings/shop-days.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { isCreditable } from './credit.ts'
import { findAffiliateByRef } from './find.ts'
import type { AffiliateRow } from './find.ts'
import { affiliateClicks, visits } from './schema.ts'

/** A visitor who arrived by an affiliate's link. */
export type Click = {
  ref: string
  /** Of the link; empty without one. */
  campaign: string
  /** The ref of an earlier click that the browser still has; null without one. */
  current: string | null
  /** Null without a session. */
  userId: number | null
  addressKey: string
}

/**
 * Counts a click on an affiliate's link for today. Nothing is stored about the visitor. A click does not count if
 * the ref names no active affiliate, if the affiliate opened the link, or past the limit of the address (click_ip); the
 * caller does not learn which.
 *
 * @returns the affiliate's code, and for how many days from now a checkout may send it; null for a ref that would not count
 *   there, and by `affiliates.click` first for one beside an earlier click of another affiliate that still counts
 */
export async function countClick(
  shop: Limits,
  { ref, campaign, current, userId, addressKey }: Click,
  now: number
): Promise<{ code: string; days: number } | null> {
  if (!isModuleOn(shop.db, 'affiliates')) return null
  const affiliate = findCounting(shop.db, ref, userId)
  if (affiliate === undefined) return null
  if (await tryTakePoint(shop, { bucket: 'click_ip', key: addressKey }))
    await writeWhenFree(shop.db, (tx) => recordClicks(tx, affiliate.id, { clicks: 1, campaign }, now))
  const earlier = current === null ? undefined : findCounting(shop.db, current, userId)
  const isLater = earlier !== undefined && earlier.id !== affiliate.id
  if (isLater && setting(shop.db, 'affiliates.click') === 'first') return null
  return { code: affiliate.code, days: setting(shop.db, 'affiliates.cookieDays') }
}

/** The affiliate of a ref that would count at a checkout of this visitor. */
function findCounting(db: Db, ref: string, userId: number | null): AffiliateRow | undefined {
  const affiliate = findAffiliateByRef(db, ref)
  return affiliate === undefined || affiliate.userId === userId || !isCreditable(db, affiliate) ? undefined : affiliate
}

/** Anyone can open a link with a campaign that they made up, so an affiliate has at most this many campaigns a day. */
const mostCampaigns = 50

/** Adds clicks to the day of `at` in the shop's time zone, and to their campaign while the day has not too many. */
export function recordClicks(
  tx: Tx,
  affiliateId: number,
  { clicks, campaign: wanted = '' }: { clicks: number; campaign?: string },
  at: number
): void {
  const day = shopDay(tx, at)
  const ofDay = and(eq(affiliateClicks.affiliateId, affiliateId), eq(affiliateClicks.day, day))
  const known = tx.orm.select({ campaign: affiliateClicks.campaign }).from(affiliateClicks).where(ofDay).all()
  const isOneMore = wanted !== '' && !known.some(({ campaign }) => campaign === wanted)
  const campaign = isOneMore && known.length >= mostCampaigns ? '' : wanted
  tx.orm
    .insert(affiliateClicks)
    .values({ affiliateId, day, campaign, clicks })
    .onConflictDoUpdate({
      target: [affiliateClicks.affiliateId, affiliateClicks.day, affiliateClicks.campaign],
      set: { clicks: sql`${affiliateClicks.clicks} + excluded.clicks` }
    })
    .run()
}

/** Records a checkout that is credited to an affiliate; returns the visit's id. An order has at most one visit. */
export function recordVisit(
  tx: Tx,
  visit: { affiliateId: number; orderId: number; campaign: string | null },
  now: number
): number {
  return tx.orm
    .insert(visits)
    .values({ ...visit, createdAt: now })
    .returning({ id: visits.id })
    .get().id
}

/** Moves the visit of an unpaid order to another affiliate; returns its id. */
export function moveVisit(tx: Tx, id: number, visit: { affiliateId: number; campaign: string | null }): number {
  tx.orm.update(visits).set(visit).where(eq(visits.id, id)).run()
  return id
}
