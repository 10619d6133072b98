import { toIso } from '../../platform/iso-time.ts'
import { toMajor } from '../../platform/money.ts'
import { isAccepted } from '../referrals/states.ts'
import type { ReferralStatus } from '../referrals/states.ts'
import type { OrderAttributionRow, OrderItemRow, OrderRow } from './rows.ts'
import { isPaidStatus } from './states.ts'
import type { SumColumns } from './totals.ts'

type Nullable<T> = { [Name in keyof T]: T[Name] | null }

type Attribution = Pick<
  OrderAttributionRow,
  | 'affiliateRef'
  | 'affiliateCampaign'
  | 'visitId'
  | 'sourceType'
  | 'utmSource'
  | 'utmMedium'
  | 'utmCampaign'
  | 'utmContent'
  | 'marketingUtmSource'
  | 'marketingUtmMedium'
  | 'marketingUtmCampaign'
  | 'marketingUtmContent'
>

/** The input of an order's public form: its row, its attribution if it has one, and its referral. */
export type OrderFacts = Pick<
  OrderRow,
  'id' | 'status' | 'currency' | 'totalMinor' | 'createdAt' | 'updatedAt' | 'renewalOf'
> &
  Nullable<Attribution> & { referralId: number | null; referralStatus: ReferralStatus | null }
export type OrderLine = Pick<OrderItemRow, 'name' | 'quantity' | 'totalMinor'>

/** The public form of an order (docs/interface.md 2.5): amounts in major units, times in ISO 8601 UTC. */
export function toOrder(order: OrderFacts, lines: readonly OrderLine[]) {
  return {
    id: order.id,
    status: order.status,
    currency: order.currency,
    total: toMajor(order.totalMinor, order.currency),
    createdAt: toIso(order.createdAt),
    updatedAt: toIso(order.updatedAt),
    renewalOf: order.renewalOf,
    lineItems: lines.map((line) => ({
      name: line.name,
      quantity: line.quantity,
      total: toMajor(line.totalMinor, order.currency)
    })),
    affiliateRef: order.affiliateRef ?? '',
    affiliateCampaign: order.affiliateCampaign ?? '',
    affiliateReferralCreated: order.referralId !== null,
    affiliateVisitId: order.visitId,
    affiliateReferralId: order.referralId,
    affiliateVisitConverted: isVisitConverted(order),
    orderAttributionSourceType: order.sourceType,
    orderAttributionUtmSource: order.utmSource,
    orderAttributionUtmMedium: order.utmMedium,
    orderAttributionUtmCampaign: order.utmCampaign,
    orderAttributionUtmContent: order.utmContent,
    marketingUtmSource: order.marketingUtmSource,
    marketingUtmMedium: order.marketingUtmMedium,
    marketingUtmCampaign: order.marketingUtmCampaign,
    marketingUtmContent: order.marketingUtmContent
  }
}

export type OrderView = ReturnType<typeof toOrder>

/** The parts of an order's total in major units: subtotal - discount + shipping (+ tax unless included) = total. */
export function toTotals(order: SumColumns & Pick<OrderRow, 'currency'>) {
  const major = (minor: number): number => toMajor(minor, order.currency)
  return {
    subtotal: major(order.subtotalMinor),
    discount: major(order.discountMinor),
    shipping: major(order.shippingMinor),
    tax: major(order.taxMinor),
    taxIncluded: order.taxIncluded,
    total: major(order.totalMinor)
  }
}

export type OrderTotals = ReturnType<typeof toTotals>

/** An email with the first character of its local part only, as `a…@example.com`. */
export function maskedEmail(email: string): string {
  const [first = ''] = email
  return `${first}…${email.slice(email.lastIndexOf('@'))}`
}

/** Whether the visit converted: the order is paid and its referral is accepted. Null without a visit. */
export function isVisitConverted({
  status,
  visitId,
  referralStatus
}: Pick<OrderFacts, 'status' | 'visitId' | 'referralStatus'>): boolean | null {
  if (visitId === null) return null
  return isPaidStatus(status) && referralStatus !== null && isAccepted(referralStatus)
}
