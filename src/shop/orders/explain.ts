import { commissionEntries, referrals } from '../referrals/schema.ts'
import type { ReferralStatus } from '../referrals/states.ts'
import { asc, eq } from 'drizzle-orm'
import { toIso } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { affiliates } from '../affiliates/schema.ts'
import { setting } from '../settings/settings.ts'
import { findAttribution, getOrder } from './find.ts'
import type { OrderAttributionRow, OrderRow } from './rows.ts'
import { isPaidStatus } from './states.ts'
import { isVisitConverted } from './view.ts'

/** One rule, what it looked at and what came of it. */
export type Step = { rule: string; input: string; outcome: string }
export type Explanation = { orderId: number; attribution: Step[]; referral: Step[]; lines: string[] }

type ReferralRow = typeof referrals.$inferSelect

/**
 * Why an order has its attribution and its referral, or none: each rule in the order in which it was asked, as data and
 * as lines of text.
 *
 * @throws AppError NOT_FOUND
 */
export function explainOrder(db: Db, id: number): Explanation {
  const order = getOrder(db, id)
  const attribution = findAttribution(db, id) ?? null
  const steps = { attribution: explainAttribution(db, attribution), referral: explainReferral(db, order, attribution) }
  return { orderId: id, ...steps, lines: toLines(order, steps) }
}

const refOutcomes: Record<OrderAttributionRow['refOutcome'], string> = {
  none: 'no affiliate: the checkout carried no ref',
  credited: 'credited: it names an active affiliate who is not the buyer',
  unknown: 'counts as no ref: no affiliate has this code or id',
  not_active: 'counts as no ref: the affiliate was not active',
  self: 'counts as no ref: the buyer is the affiliate',
  module_off: 'counts as no ref: the affiliates module was switched off'
}

const sourceTypes: Record<OrderAttributionRow['sourceType'], string> = {
  referral: 'referral: a credited affiliate goes before any utm value',
  utm: 'utm: no credited affiliate, and at least one valid utm value',
  typein: 'typein: no credited affiliate and no valid utm value'
}

function explainAttribution(db: Db, attribution: OrderAttributionRow | null): Step[] {
  if (attribution === null) return [{ rule: 'attribution', input: 'none', outcome: 'the order was made without any' }]
  const { refSent, refOutcome, sourceType, visitId, affiliateId } = attribution
  const ofOrder = [attribution.utmSource, attribution.utmMedium, attribution.utmCampaign, attribution.utmContent]
  const marketing = [
    attribution.marketingUtmSource,
    attribution.marketingUtmMedium,
    attribution.marketingUtmCampaign,
    attribution.marketingUtmContent
  ]
  const affiliate = affiliateId === null ? 'no affiliate' : describeAffiliate(db, affiliateId)
  return [
    { rule: 'ref', input: refSent === null ? 'none' : `ref=${refSent}`, outcome: refOutcomes[refOutcome] },
    { rule: 'source type', input: `${affiliate}; ${describeUtm(marketing)}`, outcome: sourceTypes[sourceType] },
    { rule: 'order attribution', input: sourceType, outcome: describeUtm(ofOrder) },
    {
      rule: 'marketing values',
      input: 'valid utm values of the checkout',
      outcome: `${describeUtm(marketing)}, kept whatever the attribution`
    },
    {
      rule: 'visit',
      input: affiliate,
      outcome: visitId === null ? 'none: only a credited ref is a visit' : `visit ${visitId}`
    }
  ]
}

function explainReferral(db: Db, order: OrderRow, attribution: OrderAttributionRow | null): Step[] {
  const referral = db.orm.select().from(referrals).where(eq(referrals.orderId, order.id)).get()
  if (referral === undefined) return [{ rule: 'referral', ...whyNoReferral(order, attribution) }]
  const money = (minor: number): string => formatMoney(minor, referral.currency)
  const entries = db.orm
    .select()
    .from(commissionEntries)
    .where(eq(commissionEntries.referralId, referral.id))
    .orderBy(asc(commissionEntries.id))
    .all()
  return [
    {
      rule: 'commission',
      input: `${referral.rateBps / 100}% of ${money(order.totalMinor)}, refunded ${money(order.refundedMinor)}`,
      outcome: `${money(referral.amountMinor)} now`
    },
    { rule: 'status', ...whyStatus(db, order, referral) },
    ...(referral.note === null ? [] : [{ rule: 'buyer', ...notes[referral.note] }]),
    ...entries.map((entry) => ({
      rule: 'ledger',
      input: `${entry.kind}, ${toIso(entry.at)}, ${entry.reason}`,
      outcome: money(entry.amountMinor)
    })),
    {
      rule: 'visit converted',
      input: `order ${order.status}, referral ${referral.status}`,
      outcome: String(
        isVisitConverted({ ...order, visitId: attribution?.visitId ?? null, referralStatus: referral.status })
      )
    }
  ]
}

const notes: Readonly<Record<NonNullable<ReferralRow['note']>, Omit<Step, 'rule'>>> = {
  plus_address: {
    input: "the buyer's email is a plus address of the affiliate's",
    outcome: 'probably the same person: an operator decides'
  }
}

function whyNoReferral(order: OrderRow, attribution: OrderAttributionRow | null): Omit<Step, 'rule'> {
  if (attribution === null || attribution.affiliateId === null) {
    return { input: 'no credited affiliate', outcome: 'none' }
  }
  return order.totalMinor === 0
    ? { input: 'order total of zero', outcome: 'none: there is nothing to earn a commission on' }
    : { input: 'credited affiliate', outcome: 'none was recorded' }
}

function whyStatus(db: Db, order: OrderRow, referral: ReferralRow): Omit<Step, 'rule'> {
  const input = `order ${order.status}, affiliates.autoAccept ${setting(db, 'affiliates.autoAccept')}`
  const accepted = referral.acceptedAt === null ? 'accepted' : `accepted ${toIso(referral.acceptedAt)}`
  const outcomes: Record<ReferralStatus, () => string> = {
    pending: () => `pending: ${whyPending(db, order, referral)}`,
    unpaid: () => `unpaid; ${accepted}`,
    paid: () => `paid out; ${accepted}`,
    rejected: () => `rejected: ${referral.rejectedFor ?? 'no reason given'}`
  }
  return { input, outcome: outcomes[referral.status]() }
}

function whyPending(db: Db, order: OrderRow, referral: ReferralRow): string {
  if (!isPaidStatus(order.status)) return 'waits for the order to be paid'
  const affiliate = db.orm
    .select({ status: affiliates.status })
    .from(affiliates)
    .where(eq(affiliates.id, referral.affiliateId))
    .get()
  return affiliate?.status === 'active'
    ? 'waits to be accepted by hand'
    : 'its affiliate was not active when the order was paid'
}

function describeAffiliate(db: Db, affiliateId: number): string {
  const row = db.orm.select({ code: affiliates.code }).from(affiliates).where(eq(affiliates.id, affiliateId)).get()
  return `affiliate ${row?.code ?? affiliateId}`
}

const utmNames = ['source', 'medium', 'campaign', 'content']

function describeUtm(values: readonly (string | null)[]): string {
  const given = values.flatMap((value, index) => (value === null ? [] : [`${utmNames[index]}=${value}`]))
  return given.length === 0 ? 'no utm values' : given.join(' ')
}

function toLines(order: OrderRow, steps: Pick<Explanation, 'attribution' | 'referral'>): string[] {
  const line = ({ rule, input, outcome }: Step): string => `  ${rule}: ${input} → ${outcome}`
  return [
    `Order ${order.id} (${order.status}, ${formatMoney(order.totalMinor, order.currency)})`,
    'Attribution',
    ...steps.attribution.map(line),
    'Referral',
    ...steps.referral.map(line)
  ]
}
