import { toIso } from '../../platform/clock.ts'
import { toMajor } from '../../platform/money.ts'
import type { OrderAttributionRow, OrderItemRow, OrderRow } from './rows.ts'
import { isPaidStatus } from './states.ts'

/** What an order's public form is made of: its row, where it came from, and its affiliate's referral. */
export type OrderFacts = {
  order: Pick<OrderRow, 'id' | 'status' | 'currency' | 'totalMinor' | 'createdAt' | 'updatedAt'>
  attribution: OrderAttributionRow | null
  referral: { id: number; status: 'pending' | 'unpaid' | 'paid' | 'rejected' } | null
  items: readonly Pick<OrderItemRow, 'name' | 'quantity' | 'totalMinor'>[]
}

/** An order as its buyer sees it (interface.md 2.5): amounts in major units, times in ISO 8601 UTC. */
export function toOrder({ order, attribution, referral, items }: OrderFacts) {
  return {
    id: order.id,
    status: order.status,
    currency: order.currency,
    total: toMajor(order.totalMinor, order.currency),
    createdAt: toIso(order.createdAt),
    updatedAt: toIso(order.updatedAt),
    lineItems: items.map((item) => ({
      name: item.name,
      quantity: item.quantity,
      total: toMajor(item.totalMinor, order.currency)
    })),
    affiliateRef: attribution?.affiliateRef ?? '',
    affiliateCampaign: attribution?.affiliateCampaign ?? '',
    affiliateReferralCreated: referral !== null,
    affiliateVisitId: attribution?.visitId ?? null,
    affiliateReferralId: referral?.id ?? null,
    affiliateVisitConverted: isVisitConverted({ order, attribution, referral }),
    orderAttributionSourceType: attribution?.sourceType ?? null,
    orderAttributionUtmSource: attribution?.utmSource ?? null,
    orderAttributionUtmMedium: attribution?.utmMedium ?? null,
    orderAttributionUtmCampaign: attribution?.utmCampaign ?? null,
    orderAttributionUtmContent: attribution?.utmContent ?? null,
    marketingUtmSource: attribution?.marketingUtmSource ?? null,
    marketingUtmMedium: attribution?.marketingUtmMedium ?? null,
    marketingUtmCampaign: attribution?.marketingUtmCampaign ?? null,
    marketingUtmContent: attribution?.marketingUtmContent ?? null
  }
}

export type OrderView = ReturnType<typeof toOrder>

/** Null without a visit; true once the order is paid and its referral's acceptance is final. */
export function isVisitConverted({ order, attribution, referral }: Omit<OrderFacts, 'items'>): boolean | null {
  if (attribution === null || attribution.visitId === null) return null
  return isPaidStatus(order.status) && (referral?.status === 'unpaid' || referral?.status === 'paid')
}
