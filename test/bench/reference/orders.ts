import type Database from 'better-sqlite3'
import { answerJson, meta } from './answer.ts'
import type { Handler } from './answer.ts'
import { sessions } from './session.ts'

type Row = {
  id: number
  status: string
  currency: string
  subtotalMinor: number
  discountMinor: number
  shippingMinor: number
  taxMinor: number
  taxIncluded: number
  totalMinor: number
  refundedMinor: number
  createdAt: number
  updatedAt: number
  renewalOf: number | null
  buyerReference: string | null
  addedTo: number | null
  creditedMinor: number
  visitId: number | null
  affiliateRef: string
  affiliateCampaign: string
  sourceType: string
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  utmContent: string | null
  marketingUtmSource: string | null
  marketingUtmMedium: string | null
  marketingUtmCampaign: string | null
  marketingUtmContent: string | null
  referralId: number | null
  referralStatus: string | null
  refundState: 'requested' | 'done' | 'failed' | null
  newestRefundMinor: number | null
}
type Item = { orderId: number; name: string; quantity: number; totalMinor: number }

const perPage = 20
const shopUrl = 'https://shop.example'

/** The first page, in four statements. SQLite's JSON functions would be a little faster, but format amounts differently. */
export function answerOrders(sqlite: Database.Database): Handler {
  const userOf = sessions(sqlite)
  const count = sqlite.prepare<[number], { total: number }>(
    'SELECT total FROM customer_order_totals WHERE user_id = +?'
  )
  const facts = sqlite.prepare<[number], Row>(
    `SELECT o.id, o.status, o.currency, o.subtotal_minor AS subtotalMinor,
            o.discount_minor AS discountMinor, o.shipping_minor AS shippingMinor, o.tax_minor AS taxMinor,
            o.tax_included AS taxIncluded, o.total_minor AS totalMinor, o.refunded_minor AS refundedMinor, o.created_at AS createdAt,
            o.updated_at AS updatedAt, o.renewal_of AS renewalOf, o.buyer_reference AS buyerReference,
            o.added_to AS addedTo,
       (SELECT coalesce(sum(amount_minor), 0) FROM order_credits WHERE order_id = o.id AND state <> 'returned') AS creditedMinor,
       a.visit_id AS visitId, a.affiliate_ref AS affiliateRef, a.affiliate_campaign AS affiliateCampaign,
       a.source_type AS sourceType, a.utm_source AS utmSource, a.utm_medium AS utmMedium,
       a.utm_campaign AS utmCampaign, a.utm_content AS utmContent, a.marketing_utm_source AS marketingUtmSource,
       a.marketing_utm_medium AS marketingUtmMedium, a.marketing_utm_campaign AS marketingUtmCampaign,
       a.marketing_utm_content AS marketingUtmContent, r.id AS referralId, r.status AS referralStatus,
       (SELECT state FROM order_refunds WHERE order_id = o.id ORDER BY id DESC LIMIT 1) AS refundState,
       (SELECT amount_minor FROM order_refunds WHERE order_id = o.id ORDER BY id DESC LIMIT 1) AS newestRefundMinor
     FROM orders o LEFT JOIN order_attributions a ON a.order_id = o.id LEFT JOIN referrals r ON r.order_id = o.id
     WHERE o.user_id = +? ORDER BY o.created_at DESC, o.id DESC LIMIT ${perPage}`
  )
  const items = sqlite.prepare<[string], Item>(
    `SELECT order_id AS orderId, name, quantity, total_minor AS totalMinor FROM order_items
     WHERE order_id IN (SELECT value FROM json_each(+?)) ORDER BY order_id, id`
  )
  const invoices = sqlite.prepare<[string], { id: number; publicToken: string }>(
    `SELECT o.id, o.public_token AS publicToken FROM invoices i JOIN orders o ON o.id = i.order_id
     WHERE i.kind = 'invoice' AND i.order_id IN (SELECT value FROM json_each(+?))`
  )
  return (request, response) => {
    const { id: userId } = userOf(request)
    const total = count.get(userId)?.total ?? 0
    const rows = facts.all(userId)
    const ids = JSON.stringify(rows.map(({ id }) => id))
    const byOrder = Map.groupBy(items.all(ids), (item) => item.orderId)
    const urls = new Map(
      invoices.all(ids).map(({ id, publicToken }) => [id, `${shopUrl}/checkout/invoice/${publicToken}`])
    )
    const orders = rows.map((row) => ({
      ...toOrder(row, byOrder.get(row.id) ?? []),
      invoiceUrl: urls.get(row.id) ?? null
    }))
    const pagination = { page: 1, perPage, total, totalPages: Math.ceil(total / perPage) }
    answerJson(response, JSON.stringify({ data: { orders, pagination }, meta: meta() }))
  }
}

function toOrder(row: Row, items: readonly Item[]): object {
  return {
    id: row.id,
    status: row.status,
    currency: row.currency,
    total: row.totalMinor / 100,
    totals: {
      subtotal: row.subtotalMinor / 100,
      discount: row.discountMinor / 100,
      shipping: row.shippingMinor / 100,
      tax: row.taxMinor / 100,
      taxIncluded: row.taxIncluded === 1,
      total: row.totalMinor / 100
    },
    ...refundProgress(row),
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
    renewalOf: row.renewalOf,
    buyerReference: row.buyerReference,
    addedTo: row.addedTo,
    credited: row.creditedMinor / 100,
    lineItems: items.map(({ name, quantity, totalMinor }) => ({ name, quantity, total: totalMinor / 100 })),
    affiliateRef: row.affiliateRef,
    affiliateCampaign: row.affiliateCampaign,
    affiliateReferralCreated: row.referralId !== null,
    affiliateVisitId: row.visitId,
    affiliateReferralId: row.referralId,
    affiliateVisitConverted: row.visitId === null ? null : row.referralStatus === 'unpaid',
    orderAttributionSourceType: row.sourceType,
    orderAttributionUtmSource: row.utmSource,
    orderAttributionUtmMedium: row.utmMedium,
    orderAttributionUtmCampaign: row.utmCampaign,
    orderAttributionUtmContent: row.utmContent,
    marketingUtmSource: row.marketingUtmSource,
    marketingUtmMedium: row.marketingUtmMedium,
    marketingUtmCampaign: row.marketingUtmCampaign,
    marketingUtmContent: row.marketingUtmContent
  }
}

function refundProgress({ status, totalMinor, refundedMinor, refundState, newestRefundMinor }: Row): object {
  if (refundState === null || newestRefundMinor === null) return { refundState: 'none', refundOwed: 0 }
  const missing = totalMinor - refundedMinor
  const states = { requested: 'pending', failed: 'failed', done: missing > 0 ? 'partial' : 'done' }
  const open = refundState === 'requested' ? newestRefundMinor : 0
  const owed = status === 'refunded' ? Math.max(missing, open) : refundState === 'done' ? 0 : newestRefundMinor
  return { refundState: states[refundState], refundOwed: owed / 100 }
}
