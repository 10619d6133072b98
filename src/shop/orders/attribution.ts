import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { insertion } from '../../platform/db/insert.ts'
import { decideCredit } from '../affiliates/candidates.ts'
import { moveVisit, recordVisit } from '../affiliates/clicks.ts'
import type { Buyer } from '../affiliates/credit.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import { createReferral, moveReferral } from '../referrals/referrals.ts'
import { couponsOf, findAttribution } from './find.ts'
import type { OrderAttributionRow, OrderCouponRow, OrderRow } from './find.ts'
import { goodsOf } from './refunds/refund-lines.ts'
import { checkReferral } from './review.ts'
import { orderAttributions } from './schema.ts'

/** The tracking parameters of a checkout; null for those that were not sent or are not valid. */
export type Tracked = Readonly<
  Record<'ref' | 'campaign' | 'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_content', string | null>
>

/**
 * The attribution and marketing values of an order, and their reasons (docs/contract.md 5.9). `utmContent` is replaced by
 * `visit:<id>` when an affiliate is credited, because the order records the visit.
 */
export type NewAttribution = Omit<
  OrderAttributionRow,
  'orderId' | 'affiliateId' | 'visitId' | 'affiliateRef' | 'affiliateCampaign'
> & {
  /** The credited affiliate; null without one. */
  credit: { affiliate: AffiliateRow; campaign: string | null } | null
}

/** The coupons and the buyer of an order, as far as they are known. */
export type Attributed = { coupons: readonly Pick<OrderCouponRow, 'couponId' | 'code'>[]; buyer: Buyer }

/**
 * Decides an order's attribution (docs/interface.md 4.7, rules 3 to 8). A credited affiliate takes precedence, then any valid
 * utm value, then typein. Valid utm values are always stored as marketing values. Everything that names an affiliate is
 * stored with its outcome, for `orders explain`.
 */
export function decideAttribution(
  db: Db,
  { ref, campaign, ...tracked }: Tracked,
  attributed: Attributed,
  now: number
): NewAttribution {
  const { credit, candidates } = decideCredit(db, { ref, campaign, ...attributed }, now)
  const utm = {
    source: tracked.utm_source,
    medium: tracked.utm_medium,
    campaign: tracked.utm_campaign,
    content: tracked.utm_content
  }
  const common = {
    marketingUtmSource: utm.source,
    marketingUtmMedium: utm.medium,
    marketingUtmCampaign: utm.campaign,
    marketingUtmContent: utm.content,
    candidates
  }
  if (credit !== null) {
    const { affiliate, by, campaign } = credit
    return {
      ...common,
      sourceType: 'referral',
      utmSource: `affiliate:${affiliate.code}`,
      utmMedium: 'affiliate',
      utmCampaign: campaign,
      utmContent: null,
      creditedBy: by,
      credit: { affiliate, campaign }
    }
  }
  return {
    ...common,
    sourceType: Object.values(utm).some((value) => value !== null) ? 'utm' : 'typein',
    utmSource: utm.source,
    utmMedium: utm.medium,
    utmCampaign: utm.campaign,
    utmContent: utm.content,
    creditedBy: null,
    credit: null
  }
}

const newAttribution = insertion(orderAttributions)

/**
 * Writes the attribution of a new order. With a credited affiliate, this also records the visit and the pending referral.
 * An order of goods that cost nothing gets a visit and no referral.
 */
export function stampAttribution(tx: Tx, order: OrderRow, attribution: NewAttribution, now: number): void {
  const { credit } = attribution
  const visitId = credit === null ? null : recordVisit(tx, { ...visitOf(credit), orderId: order.id }, now)
  newAttribution.run(tx, { ...toColumns(attribution, visitId), orderId: order.id })
  if (credit === null || visitId === null) return
  const { id: orderId, currency } = order
  const { affiliate } = credit
  createReferral(tx, { affiliate, orderId, visitId, goods: goodsOf(tx, order), currency }, now)
  checkReferral(tx, order, now)
}

/**
 * Decides the attribution of an unpaid order again after a coupon was added to it, which may belong to an affiliate. The
 * link of the order stays a candidate. What an operator credited stays.
 */
export function attributeAgain(tx: Tx, order: OrderRow, now: number): void {
  const { id: orderId, userId, email, billingAddress, currency } = order
  const before = findAttribution(tx, orderId)
  if (before === undefined || before.creditedBy === 'operator') return
  const named = { coupons: couponsOf(tx, orderId), buyer: { userId, emails: [email, billingAddress?.email] } }
  const decided = decideAttribution(tx, trackedOf(before), named, now)
  const { credit, candidates } = decided
  if (credit === null || credit.affiliate.id === before.affiliateId)
    return store(tx, orderId, credit === null ? { candidates } : { candidates, creditedBy: decided.creditedBy })
  const { affiliate } = credit
  const visitId =
    before.visitId === null
      ? recordVisit(tx, { ...visitOf(credit), orderId }, now)
      : moveVisit(tx, before.visitId, visitOf(credit))
  store(tx, orderId, toColumns(decided, visitId))
  const referral = { affiliate, orderId, visitId, goods: goodsOf(tx, order), currency }
  moveReferral(tx, referral, now)
  checkReferral(tx, order, now)
}

/** Credits an affiliate with an order that was stored without one, with other columns that the caller knows. */
export function attributeTo(
  tx: Tx,
  { id, code }: AffiliateRow,
  { orderId, visitId, ...others }: Partial<typeof orderAttributions.$inferInsert> & { orderId: number; visitId: number }
): void {
  store(tx, orderId, { affiliateId: id, visitId, affiliateRef: code, sourceType: 'referral', ...others })
}

function store(tx: Tx, orderId: number, columns: Partial<typeof orderAttributions.$inferInsert>): void {
  tx.orm.update(orderAttributions).set(columns).where(eq(orderAttributions.orderId, orderId)).run()
}

function toColumns({ credit, ...values }: NewAttribution, visitId: number | null) {
  if (credit === null || visitId === null) return { ...values, affiliateRef: '', affiliateCampaign: '' }
  const { affiliate, campaign } = credit
  return {
    ...values,
    affiliateId: affiliate.id,
    visitId,
    affiliateRef: affiliate.code,
    affiliateCampaign: campaign ?? '',
    utmContent: `visit:${visitId}`
  }
}

function visitOf({ affiliate, campaign }: NonNullable<NewAttribution['credit']>) {
  return { affiliateId: affiliate.id, campaign }
}

/** The parameters of the checkout, as the attribution keeps them. */
function trackedOf(attribution: OrderAttributionRow): Tracked {
  const link = attribution.candidates.find(({ by }) => by === 'link')
  return {
    ref: link?.named ?? null,
    campaign: attribution.creditedBy === 'link' ? attribution.affiliateCampaign || null : null,
    utm_source: attribution.marketingUtmSource,
    utm_medium: attribution.marketingUtmMedium,
    utm_campaign: attribution.marketingUtmCampaign,
    utm_content: attribution.marketingUtmContent
  }
}
