import type { ReferralRow } from '../../../src/shop/referrals/store.ts'
import { write } from '../../../src/platform/db/database.ts'
import { getAffiliateById } from '../../../src/shop/affiliates/find.ts'
import { findReferralOfOrder } from '../../../src/shop/referrals/store.ts'
import { entriesOf } from '../../../src/shop/referrals/ledger.ts'
import type { Goods } from '../../../src/shop/referrals/commission.ts'
import { createReferral } from '../../../src/shop/referrals/referrals.ts'
import type { AffiliateRow } from '../../../src/shop/affiliates/find.ts'
import { giveOwnRate } from '../../../src/shop/affiliates/rates.ts'
import { affiliates } from '../../../src/shop/affiliates/schema.ts'
import { recordVisit } from '../../../src/shop/affiliates/clicks.ts'
import { compareKey } from '../../../src/platform/text.ts'
import { makeUser } from '../../support/people.ts'
import type { TestShop } from '../../support/shop-context.ts'

/** Creates an active affiliate with a user account. */
export async function makeAffiliate(
  shop: TestShop,
  { rateBps = null, ...changes }: Partial<typeof affiliates.$inferInsert> & { rateBps?: number | null } = {}
): Promise<AffiliateRow> {
  const code = changes.code ?? 'mira'
  const userId =
    changes.userId ?? (await makeUser(shop, { email: `${code}@shop.example`, passwordHash: 'not a hash' })).id
  const now = shop.clock.now()
  const row = { status: 'active' as const, createdAt: now, updatedAt: now, ...changes }
  const affiliate = shop.db.orm
    .insert(affiliates)
    .values({ ...row, userId, code, codeKey: compareKey(code) })
    .returning()
    .get()
  write(shop.db, (tx) => giveOwnRate(tx, affiliate, { rateBps, startsAt: now }, now))
  return affiliate
}

/** An order of one line, which costs `baseMinor` without tax, and what was refunded of it. */
export function oneLine(baseMinor: number, refundedMinor = 0): Goods {
  const line = { itemId: 1, productId: 1, baseMinor, goodsMinor: baseMinor, refundedMinor }
  return { lines: [line], couponIds: [] }
}

/** Creates the visit and the pending referral of an order of `totalMinor` euro cents. */
export function refer(shop: TestShop, affiliateId: number, orderId: number, totalMinor = 10_000): ReferralRow {
  const now = shop.clock.now()
  write(shop.db, (tx) => {
    const visitId = recordVisit(tx, { affiliateId, orderId, campaign: null }, now)
    const affiliate = getAffiliateById(tx, affiliateId)
    createReferral(tx, { affiliate, orderId, visitId, goods: oneLine(totalMinor), currency: 'EUR' }, now)
  })
  return referralOf(shop, orderId)
}

export function referralOf(shop: TestShop, orderId: number): ReferralRow {
  const referral = findReferralOfOrder(shop.db, orderId)
  if (referral === undefined) throw new Error(`Order ${orderId} has no referral.`)
  return referral
}

/** `kind amountMinor` of each ledger entry of the order's referral. */
export function ledgerOf(shop: TestShop, orderId: number): string[] {
  return entriesOf(shop.db, referralOf(shop, orderId).id).map((entry) => `${entry.kind} ${entry.amountMinor}`)
}

/** The types of the events about referrals and affiliates, oldest first. */
export function eventsOf(shop: TestShop): string[] {
  const types = shop.db.sqlite.prepare('SELECT type FROM events ORDER BY id').pluck().all().map(String)
  return types.filter((type) => /^(referral|affiliate)\./.test(type))
}
