import type { Db } from '../../platform/db/database.ts'
import { findUserById } from '../accounts/find.ts'
import { isPlusAddressOf, isSelfReferral } from '../affiliates/credit.ts'
import type { Buyer } from '../affiliates/credit.ts'
import { findAffiliateByRef } from '../affiliates/find.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import type { NewAttribution } from '../orders/create-order.ts'
import { isModuleOn } from '../settings/settings.ts'
import type { CheckoutQuery } from './input.ts'

/**
 * Decides an order's attribution from the checkout's query parameters alone (docs/interface.md 4.7, rules 3 to 8). A ref
 * that counts takes precedence, then any valid utm value, then typein. Valid utm values are always stored as marketing
 * values. The reason why a ref counts or not is stored for `orders explain`.
 */
export function decideAttribution(db: Db, query: CheckoutQuery, buyer: Buyer): NewAttribution {
  const { outcome, affiliate, note } = evaluateRef(db, query.ref, buyer)
  const utm = {
    source: query.utm_source,
    medium: query.utm_medium,
    campaign: query.utm_campaign,
    content: query.utm_content
  }
  const common = {
    marketingUtmSource: utm.source,
    marketingUtmMedium: utm.medium,
    marketingUtmCampaign: utm.campaign,
    marketingUtmContent: utm.content,
    refSent: query.ref,
    refOutcome: outcome
  }
  if (affiliate !== null) {
    return {
      ...common,
      sourceType: 'referral',
      utmSource: `affiliate:${affiliate.code}`,
      utmMedium: 'affiliate',
      utmCampaign: query.campaign,
      utmContent: null,
      credit: { affiliate, campaign: query.campaign, ...(note === undefined ? {} : { note }) }
    }
  }
  return {
    ...common,
    sourceType: Object.values(utm).some((value) => value !== null) ? 'utm' : 'typein',
    utmSource: utm.source,
    utmMedium: utm.medium,
    utmCampaign: utm.campaign,
    utmContent: utm.content,
    credit: null
  }
}

type Evaluation = {
  outcome: NewAttribution['refOutcome']
  affiliate: AffiliateRow | null
  /** Shown to the operator with a credited affiliate. */
  note?: 'plus_address'
}

function evaluateRef(db: Db, ref: string | null, buyer: Buyer): Evaluation {
  if (ref === null) return { outcome: 'none', affiliate: null }
  if (!isModuleOn(db, 'affiliates')) return { outcome: 'module_off', affiliate: null }
  const affiliate = findAffiliateByRef(db, ref)
  if (affiliate === undefined) return { outcome: 'unknown', affiliate: null }
  if (affiliate.status !== 'active') return { outcome: 'not_active', affiliate: null }
  const owner = findUserById(db, affiliate.userId)
  if (owner === undefined || owner.status !== 'active') return { outcome: 'not_active', affiliate: null }
  if (isSelfReferral(affiliate, owner, buyer)) return { outcome: 'self', affiliate: null }
  if (isPlusAddressOf(owner, buyer.emails)) return { outcome: 'credited', affiliate, note: 'plus_address' }
  return { outcome: 'credited', affiliate }
}
