import type { Db } from '../../platform/db/database.ts'
import { findUserById } from '../accounts/find.ts'
import type { CreditSource } from '../settings/credit-sources.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { findCouponAffiliate } from './coupons.ts'
import { isSelfReferral } from './credit.ts'
import type { Buyer } from './credit.ts'
import { findAffiliateByRef } from './find.ts'
import type { AffiliateRow } from './find.ts'
import type { Candidate } from './schema.ts'

/** What an order says about where its buyer came from. */
export type Naming = {
  /** The value of a link; null without one. */
  ref: string | null
  /** The coupons of the order, in its order. */
  coupons: readonly { couponId: number; code: string }[]
  buyer: Buyer
}

/** The affiliate who is credited with an order, by what, and everything that named an affiliate. */
export type Decided = { credit: { affiliate: AffiliateRow; by: CreditSource } | null; candidates: Candidate[] }

/**
 * Decides which affiliate is credited with an order. The candidates are asked in the order of `affiliates.precedence`, the
 * coupons among them in the order of the cart. The first one that counts is credited: the affiliate and the affiliate's
 * account are active, and the buyer is not the affiliate.
 */
export function decideCredit(db: Db, naming: Naming): Decided {
  const named = setting(db, 'affiliates.precedence').flatMap((by) =>
    finders[by](db, naming).map((found) => ({ ...found, by, outcome: outcomeOf(db, found.affiliate, naming.buyer) }))
  )
  const winner = named.find(({ outcome }) => outcome === 'credited')
  const candidates = named.map((each) => ({
    by: each.by,
    named: each.named,
    affiliateId: each.affiliate?.id ?? null,
    outcome: each.outcome === 'credited' && each !== winner ? ('outranked' as const) : each.outcome
  }))
  const affiliate = winner?.affiliate
  return { credit: winner === undefined || affiliate === undefined ? null : { affiliate, by: winner.by }, candidates }
}

type Found = { named: string; affiliate: AffiliateRow | undefined }

const finders: Readonly<Record<CreditSource, (db: Db, naming: Naming) => Found[]>> = {
  coupon: (db, { coupons }) =>
    coupons.flatMap(({ couponId, code }) => {
      const affiliate = findCouponAffiliate(db, couponId)
      return affiliate === undefined ? [] : [{ named: code, affiliate }]
    }),
  link: (db, { ref }) => (ref === null ? [] : [{ named: ref, affiliate: findAffiliateByRef(db, ref) }]),
  customer: () => []
}

function outcomeOf(db: Db, affiliate: AffiliateRow | undefined, buyer: Buyer): Candidate['outcome'] {
  if (!isModuleOn(db, 'affiliates')) return 'module_off'
  if (affiliate === undefined) return 'unknown'
  const owner = findUserById(db, affiliate.userId)
  if (affiliate.status !== 'active' || owner?.status !== 'active') return 'not_active'
  return isSelfReferral(affiliate, owner, buyer) ? 'self' : 'credited'
}
