import { commissionEntries, referrals } from '../referrals/schema.ts'
import { capByOrder } from '../referrals/caps.ts'
import { linesOf, sumOfLines } from '../referrals/lines.ts'
import { isAccepted } from '../referrals/states.ts'
import type { ReferralLineRow } from '../referrals/lines.ts'
import type { RateSource, ReferralStatus, ReviewReason } from '../referrals/states.ts'
import { asc, eq } from 'drizzle-orm'
import { toIso } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { describeRate } from '../affiliates/rates.ts'
import { affiliates } from '../affiliates/schema.ts'
import type { Candidate } from '../affiliates/schema.ts'
import type { CreditSource } from '../settings/credit-sources.ts'
import { setting } from '../settings/settings.ts'
import { findAttribution, getOrder, itemsOf } from './find.ts'
import type { OrderAttributionRow, OrderRow } from './find.ts'
import { isPaidStatus } from './states.ts'
import { netGoodsMinor } from './totals.ts'
import { isVisitConverted } from './view.ts'

/** One rule with its input and its outcome. */
export type Step = { rule: string; input: string; outcome: string }
export type Explanation = { orderId: number; attribution: Step[]; referral: Step[]; lines: string[] }

type ReferralRow = typeof referrals.$inferSelect

/**
 * Explains the attribution and referral of an order, or why it has none: each rule in the order of evaluation, as data
 * and as lines of text.
 *
 * @throws AppError NOT_FOUND
 */
export function explainOrder(db: Db, id: number): Explanation {
  const order = getOrder(db, id)
  const attribution = findAttribution(db, id) ?? null
  const steps = { attribution: explainAttribution(db, attribution), referral: explainReferral(db, order, attribution) }
  return { orderId: id, ...steps, lines: toLines(order, steps) }
}

const creditedFor: Record<CreditSource, string> = {
  coupon: 'the coupon belongs to an active affiliate other than the buyer',
  link: 'the ref names an active affiliate other than the buyer',
  customer: 'the customer registered by the link of an active affiliate'
}

/** What an outcome means, with what credits the order. */
const outcomes: Record<Candidate['outcome'], (by: CreditSource, winner: string) => string> = {
  credited: (by) => `credited: ${creditedFor[by]}`,
  outranked: (_by, winner) => `not credited: the ${winner} comes first (affiliates.precedence)`,
  unknown: () => 'ignored: no affiliate has this code or id',
  not_active: () => 'ignored: the affiliate was not active',
  self: () => 'ignored: the buyer is the affiliate',
  expired: () => 'ignored: the days of the customer are over (affiliates.customerDays)',
  module_off: () => 'ignored: the affiliates module was off'
}

const inputs: Record<CreditSource, (db: Db, candidate: Candidate) => string> = {
  coupon: (db, { named, affiliateId }) => `${named} of ${describeAffiliate(db, affiliateId)}`,
  link: (_db, { named }) => `ref=${named}`,
  customer: (db, { affiliateId }) => describeAffiliate(db, affiliateId)
}

const ruleNames: Record<CreditSource, string> = { coupon: 'coupon', link: 'ref', customer: 'customer' }

/** What named an affiliate, in the order in which it was asked. */
function explainCandidates(db: Db, { candidates, creditedBy }: OrderAttributionRow): Step[] {
  const steps = candidates.map((candidate) => ({
    rule: ruleNames[candidate.by],
    input: inputs[candidate.by](db, candidate),
    outcome: outcomes[candidate.outcome](candidate.by, creditedBy ?? '')
  }))
  if (candidates.some(({ by }) => by === 'link')) return steps
  return [...steps, { rule: 'ref', input: 'none', outcome: 'no affiliate: the checkout had no ref' }]
}

const creditedByHand: Partial<Record<NonNullable<OrderAttributionRow['creditedBy']>, Omit<Step, 'rule'>>> = {
  operator: { input: 'an operator', outcome: 'credited the affiliate after the order was placed' },
  import: { input: 'the import', outcome: 'the other shop had credited the affiliate' }
}

const sourceTypes: Record<OrderAttributionRow['sourceType'], string> = {
  referral: 'referral: a credited affiliate takes precedence over utm values',
  utm: 'utm: no credited affiliate, and at least one valid utm value',
  typein: 'typein: no credited affiliate and no valid utm value'
}

function explainAttribution(db: Db, attribution: OrderAttributionRow | null): Step[] {
  if (attribution === null) return [{ rule: 'attribution', input: 'none', outcome: 'the order has no attribution' }]
  const { sourceType, visitId, affiliateId, creditedBy } = attribution
  const ofOrder = [attribution.utmSource, attribution.utmMedium, attribution.utmCampaign, attribution.utmContent]
  const marketing = [
    attribution.marketingUtmSource,
    attribution.marketingUtmMedium,
    attribution.marketingUtmCampaign,
    attribution.marketingUtmContent
  ]
  const affiliate = describeAffiliate(db, affiliateId)
  const byHand = creditedBy === null ? undefined : creditedByHand[creditedBy]
  return [
    ...explainCandidates(db, attribution),
    ...(byHand === undefined ? [] : [{ rule: 'by hand', ...byHand }]),
    { rule: 'source type', input: `${affiliate}; ${describeUtm(marketing)}`, outcome: sourceTypes[sourceType] },
    { rule: 'order attribution', input: sourceType, outcome: describeUtm(ofOrder) },
    {
      rule: 'marketing values',
      input: 'valid utm values of the checkout',
      outcome: `${describeUtm(marketing)}, stored regardless of the attribution`
    },
    {
      rule: 'visit',
      input: affiliate,
      outcome: visitId === null ? 'none: only a credited affiliate creates a visit' : `visit ${visitId}`
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
      input: `${describeRates(referral)} of ${describeBase(order)}, refunded ${money(order.refundedMinor)}`,
      outcome: `${money(referral.amountMinor)} now`
    },
    ...explainCaps(db, referral),
    ...explainLines(db, order, referral),
    { rule: 'status', ...whyStatus(db, order, referral) },
    ...(referral.review ?? []).map((reason) => ({ rule: 'review', ...reviews[reason] })),
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

function describeRates({ rateBps }: ReferralRow): string {
  return rateBps === null ? 'the rates of its lines' : `${rateBps / 100}%`
}

/** Which caps have cut the commission of the lines. */
function explainCaps(db: Db, referral: ReferralRow): Step[] {
  const { orderCapMinor, monthCapMinor, amountMinor, currency } = referral
  const lines = linesOf(db, referral.id)
  const [money, netMinor] = [(minor: number) => formatMoney(minor, currency), sumOfLines(lines)]
  const cappedMinor = lines.length === 0 ? amountMinor : capByOrder(netMinor, referral)
  const steps: Step[] = []
  if (lines.length > 0 && cappedMinor < netMinor)
    steps.push({
      rule: 'cap by order',
      input: `${money(netMinor)} of its lines, at most ${money(orderCapMinor ?? 0)} (affiliates.orderCap)`,
      outcome: money(cappedMinor)
    })
  if (isAccepted(referral.status) && amountMinor < cappedMinor)
    steps.push({
      rule: 'cap by month',
      input: `${referral.day.slice(0, 7)}, at most ${money(monthCapMinor ?? 0)} (affiliates.monthCap)`,
      outcome: `${money(amountMinor)} was left when it was accepted`
    })
  return steps
}

/** Which rate gave each line its commission. */
function explainLines(db: Db, order: OrderRow, { id, currency }: ReferralRow): Step[] {
  const items = itemsOf(db, order.id)
  const money = (minor: number): string => formatMoney(minor, currency)
  return linesOf(db, id).map((line) => {
    const index = items.findIndex((item) => item.id === line.orderItemId)
    const left = money(line.commissionMinor - line.takenBackMinor)
    return {
      rule: `line ${index + 1}`,
      input: `${items[index]?.name ?? ''}, ${money(line.baseMinor)}: ${describeLineRate(db, line)}`,
      outcome: line.takenBackMinor === 0 ? left : `${left} of ${money(line.commissionMinor)} after refunds`
    }
  })
}

function describeLineRate(db: Db, { rateBps, source, rateId }: ReferralLineRow): string {
  const percent = `${rateBps / 100}%`
  const named = rateId === null ? '' : `${describeRate(db, rateId)} (rate ${rateId})`
  const words: Record<RateSource, string> = {
    excluded: rateId === null ? 'gift cards earn nothing' : `excluded with the ${named}`,
    coupon: `${percent} for the ${named}`,
    product: `${percent} for the ${named}`,
    category: `${percent} for the ${named}`,
    affiliate: `${percent}, the affiliate's own rate (rate ${rateId})`,
    shop: `${percent}, the shop's rate`,
    import: `${percent} in the other shop`
  }
  return words[source]
}

/** The goods, and what the buyer paid beside them. */
function describeBase(order: OrderRow): string {
  const { currency, shippingMinor, taxMinor } = order
  const money = (minor: number): string => formatMoney(minor, currency)
  const beside = [
    ...(shippingMinor > 0 ? [`shipping ${money(shippingMinor)}`] : []),
    ...(taxMinor > 0 ? [`tax ${money(taxMinor)}`] : [])
  ]
  const base = money(netGoodsMinor(order))
  return beside.length === 0 ? base : `the goods, ${base}, without ${beside.join(' and ')}`
}

const reviews: Readonly<Record<ReviewReason, Omit<Step, 'rule'>>> = {
  plus_address: {
    input: "the buyer's email is a plus address of the affiliate's",
    outcome: 'probably the same person: an operator decides'
  },
  former_mailbox: {
    input: "the buyer's email was the affiliate's before",
    outcome: 'probably the same person: an operator decides'
  },
  same_person: {
    input: "two of name, street and phone are the affiliate's",
    outcome: 'probably the same person: an operator decides'
  },
  same_card: {
    input: 'the affiliate paid an own order with the same card',
    outcome: 'probably the same person: an operator decides'
  },
  no_email: { input: 'the order has no email', outcome: 'the buyer is unknown: an operator decides' },
  unverified_affiliate: {
    input: 'the affiliate has not verified the email of the account',
    outcome: 'the affiliate is unknown: an operator decides'
  }
}

function whyNoReferral(order: OrderRow, attribution: OrderAttributionRow | null): Omit<Step, 'rule'> {
  if (attribution === null || attribution.affiliateId === null) {
    return { input: 'no credited affiliate', outcome: 'none' }
  }
  if (order.renewalOf !== null && netGoodsMinor(order) > 0)
    return {
      input: `the renewal of order ${order.renewalOf}`,
      outcome:
        'none: it earns only with affiliates.renewals, for affiliates.renewalMonths, and while the affiliate is active'
    }
  return netGoodsMinor(order) === 0
    ? { input: 'goods that cost nothing', outcome: 'none: there is no amount to earn a commission on' }
    : { input: 'credited affiliate', outcome: 'no referral was recorded' }
}

function whyStatus(db: Db, order: OrderRow, referral: ReferralRow): Omit<Step, 'rule'> {
  const input = `order ${order.status}, affiliates.autoAccept ${setting(db, 'affiliates.autoAccept')}`
  const accepted = referral.acceptedAt === null ? 'accepted' : `accepted ${toIso(referral.acceptedAt)}`
  const outcomes: Record<ReferralStatus, () => string> = {
    pending: () => `pending: ${whyPending(db, order, referral)}`,
    unpaid: () => `unpaid; ${accepted}`,
    paid: () => `paid out; ${accepted}`,
    rejected: () => `rejected: ${whyRejected(referral)}`
  }
  return { input, outcome: outcomes[referral.status]() }
}

function whyRejected({ rejectedFor }: ReferralRow): string {
  if (rejectedFor === 'order_excluded') return 'order_excluded, because all goods are excluded from commissions'
  if (rejectedFor === 'known_customer')
    return 'known_customer, because the buyer has paid an order before (affiliates.newCustomers)'
  return rejectedFor ?? 'no reason recorded'
}

function whyPending(db: Db, order: OrderRow, referral: ReferralRow): string {
  if (!isPaidStatus(order.status)) return 'the order is not paid'
  const affiliate = db.orm
    .select({ status: affiliates.status })
    .from(affiliates)
    .where(eq(affiliates.id, referral.affiliateId))
    .get()
  return affiliate?.status === 'active'
    ? 'an operator must accept it'
    : 'the affiliate was not active when the order was paid'
}

function describeAffiliate(db: Db, affiliateId: number | null): string {
  if (affiliateId === null) return 'no affiliate'
  const row = db.orm.select({ code: affiliates.code }).from(affiliates).where(eq(affiliates.id, affiliateId)).get()
  return `affiliate ${row?.code ?? affiliateId}`
}

const utmNames = ['source', 'medium', 'campaign', 'content']

function describeUtm(values: readonly (string | null)[]): string {
  const pairs = values.flatMap((value, index) => (value === null ? [] : [`${utmNames[index]}=${value}`]))
  return pairs.length === 0 ? 'no utm values' : pairs.join(' ')
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
