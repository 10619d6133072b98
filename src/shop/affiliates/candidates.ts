import type { Db } from '../../platform/db/database.ts'
import { findUserById } from '../accounts/find.ts'
import type { CreditSource } from '../settings/credit-sources.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { findBinding } from './bindings.ts'
import { findCouponAffiliate } from './coupons.ts'
import { isSelfReferral } from './credit.ts'
import type { Buyer } from './credit.ts'
import { findAffiliateByRef } from './find.ts'
import type { AffiliateRow } from './find.ts'
import type { Candidate } from './schema.ts'

/** What an order says about where its buyer came from. */
export type Naming = {
  /** The values of a link; null without one. */
  ref: string | null
  campaign: string | null
  /** The coupons of the order, in its order. */
  coupons: readonly { couponId: number; code: string }[]
  buyer: Buyer
}

/** The affiliate who is credited with an order, by what, and everything that named an affiliate. */
export type Decided = {
  credit: { affiliate: AffiliateRow; by: CreditSource; campaign: string | null } | null
  candidates: Candidate[]
}

/**
 * Decides which affiliate is credited with an order. The candidates are asked in the order of `affiliates.precedence`, the
 * coupons among them in the order of the cart. The first one that counts is credited: the affiliate and the affiliate's
 * account are active, and the buyer is not the affiliate.
 */
export function decideCredit(db: Db, naming: Naming, now: number): Decided {
  const named = setting(db, 'affiliates.precedence').flatMap((by) =>
    finders[by](db, naming).map((found) => ({ ...found, by, outcome: outcomeOf(db, found, naming.buyer, now) }))
  )
  const winner = named.find(({ outcome }) => outcome === 'credited')
  const candidates = named.map((each) => ({
    by: each.by,
    named: each.named,
    affiliateId: each.affiliate?.id ?? null,
    outcome: each.outcome === 'credited' && each !== winner ? ('outranked' as const) : each.outcome
  }))
  return {
    credit:
      winner?.affiliate === undefined
        ? null
        : { affiliate: winner.affiliate, by: winner.by, campaign: winner.campaign },
    candidates
  }
}

type Found = {
  named: string
  affiliate: AffiliateRow | undefined
  campaign: string | null
  /** When it stops to count (epoch ms); null for never. */
  endsAt: number | null
}

const finders: Readonly<Record<CreditSource, (db: Db, naming: Naming) => Found[]>> = {
  coupon: (db, { coupons }) =>
    coupons.flatMap(({ couponId, code }) => {
      const affiliate = findCouponAffiliate(db, couponId)
      return affiliate === undefined ? [] : [{ named: code, affiliate, campaign: null, endsAt: null }]
    }),
  link: (db, { ref, campaign }) =>
    ref === null ? [] : [{ named: ref, affiliate: findAffiliateByRef(db, ref), campaign, endsAt: null }],
  customer: (db, { buyer: { userId } }) => {
    const binding = userId === null ? undefined : findBinding(db, userId)
    return binding === undefined ? [] : [{ named: binding.affiliate.code, ...binding }]
  }
}

function outcomeOf(db: Db, { affiliate, endsAt }: Found, buyer: Buyer, now: number): Candidate['outcome'] {
  if (!isModuleOn(db, 'affiliates')) return 'module_off'
  if (affiliate === undefined) return 'unknown'
  const owner = findUserById(db, affiliate.userId)
  if (affiliate.status !== 'active' || owner?.status !== 'active') return 'not_active'
  if (isSelfReferral(affiliate, owner, buyer)) return 'self'
  return endsAt !== null && now >= endsAt ? 'expired' : 'credited'
}
