import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Tx } from '../../platform/db/database.ts'
import { insertStatement } from '../../platform/db/statements.ts'
import { emailKey } from '../../platform/email-key.ts'
import { emit } from '../webhooks/emit.ts'
import { saleTerms } from '../tax/terms.ts'
import { recordMove } from './transition.ts'
import { couponRefusal, cartRefused, notEnough, refusal } from './problems.ts'
import { takeCouponUse } from './coupon-uses.ts'
import { getOrder } from './find.ts'
import { countedStock, takeUnits } from './holds.ts'
import { storeTaxes, computeTotals, toColumns, netGoodsMinor } from './totals.ts'
import type { Refusal } from './problems.ts'
import type { OrderRow } from './find.ts'
import { orderCoupons, orderItems, orders, orderAttributions } from './schema.ts'
import type { Totals } from './totals.ts'
import type { affiliates } from '../affiliates/schema.ts'
import type { GrantSpec } from '../catalog/grants.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { TaxClass } from '../tax/input.ts'
import type { Address, OrderContact } from './address.ts'
import type { ShippingMethod } from './shipping-method.ts'
import type { Strategy } from './strategies.ts'
import { createReferral } from '../referrals/referrals.ts'
import { recordVisit } from '../affiliates/visits.ts'

const insertRow = insertStatement(orders)
const insertItem = insertStatement(orderItems)
const insertCoupon = insertStatement(orderCoupons)

/**
 * Inserts a pending order: takes stock and coupon uses, and writes the lines, the attribution with visit and referral,
 * the first audit row and the event `order.created`.
 *
 * @throws AppError VALIDATION_FAILED on the paths of lines and coupons that are no longer available. Roll the
 *   transaction back then, because the available ones have been taken.
 */
export function insertOrder(tx: Tx, draft: OrderDraft, now: number): OrderRow {
  const stockTaken = takeHold(tx, draft)
  const totals = totalsOfDraft(tx, draft)
  const orderId = insertRow(tx, columnsOf(draft, totals, now))
  const order = getOrder(tx, orderId)
  for (const [index, line] of draft.lines.entries()) {
    insertItem(tx, { ...line, orderId, stockTaken: stockTaken[index] ?? 0 })
  }
  storeTaxes(tx, orderId, totals.tax.lines)
  for (const coupon of draft.coupons) insertCoupon(tx, { ...coupon, orderId, counted: 1 })
  recordMove(tx, { orderId, from: null, to: 'pending', by: draft.by ?? 'checkout', reason: 'created', at: now })
  emit(tx, 'order.created', { orderId, totalMinor: order.totalMinor, currency: order.currency }, now)
  stampAttribution(tx, order, draft.attribution, now)
  return order
}

/** The totals are computed from the lines and the shipping, so they always agree. */
function totalsOfDraft(tx: Tx, draft: OrderDraft): Totals {
  const { lines, shipping, currency } = draft
  return computeTotals(saleTerms(tx, draft, lines), { lines, shippingMinor: shipping?.amountMinor ?? 0, currency })
}

function columnsOf(draft: OrderDraft, totals: Totals, now: number): typeof orders.$inferInsert {
  return {
    userId: draft.userId,
    email: draft.email,
    emailKey: emailKeyOf(draft),
    status: 'pending',
    currency: draft.currency,
    ...toColumns(totals),
    shippingMethod: draft.shipping?.method ?? null,
    strategy: draft.strategy,
    contact: draft.contact,
    billingAddress: draft.billingAddress,
    shippingAddress: draft.shippingAddress,
    vatId: draft.vatId,
    notes: draft.notes,
    returnUrl: draft.returnUrl,
    cancelUrl: draft.cancelUrl,
    publicToken: randomToken(),
    holdEndsAt: now + draft.holdMinutes * 60_000,
    createdAt: now,
    updatedAt: now
  }
}

function emailKeyOf(draft: OrderDraft): string | null {
  return draft.email === null ? null : emailKey(draft.email)
}

/**
 * Takes the stock of all lines.
 *
 * @throws AppError VALIDATION_FAILED naming every line and coupon that is not available
 */
function takeHold(tx: Tx, draft: OrderDraft): number[] {
  const refusals: Refusal[] = []
  const taken = draft.lines.map((line) => {
    const units = takeUnits(tx, line, line.quantity)
    if (units === null) {
      const problem = notEnough(`${line.path}.quantity`, line.name, countedStock(tx, line)?.units ?? 0)
      refusals.push(refusal(problem, { message: 'There is not enough of this in stock.' }))
    }
    return units ?? 0
  })
  for (const coupon of draft.coupons) {
    const outcome = takeCouponUse(tx, coupon)
    if (outcome !== 'taken') refusals.push(couponRefusal(coupon.path, outcome))
  }
  if (refusals.length > 0) throw cartRefused(refusals)
  return taken
}

/**
 * An order that checkout has priced and attributed, before it takes stock and coupons. All amounts are minor units of
 * `currency`. It has no totals, because they follow from the lines and the shipping.
 */
export type OrderDraft = {
  /** Null for a guest. */
  userId: number | null
  email: string | null
  contact: OrderContact
  billingAddress: Address | null
  shippingAddress: Address | null
  vatId: string | null
  notes: string | null
  returnUrl: string | null
  cancelUrl: string | null
  strategy: Strategy
  /** How long the order keeps its stock and coupons without being paid. */
  holdMinutes: number
  currency: string
  /** Who places it, for its history; the checkout by default. */
  by?: 'operator'
  /** At least one; equal products and variations are merged. */
  lines: readonly DraftLine[]
  coupons: readonly DraftCoupon[]
  shipping: DraftShipping | null
  attribution: DraftAttribution
}

export type DraftLine = {
  /** Its path in the request (`items.0`), for the error when it is out of stock. */
  path: string
  productId: number
  variationId: number | null
  name: string
  /** The variation's SKU; null for a product without variations. */
  sku: string | null
  quantity: number
  unitPriceMinor: number
  /** With reverse charge: the price with the tax that the buyer does not pay; otherwise null. */
  listPriceMinor: number | null
  discountMinor: number
  /** unitPriceMinor × quantity − discountMinor. */
  totalMinor: number
  type: ProductType
  taxClass: TaxClass
  /** The weight of one unit; null if it is unknown. */
  weightGrams: number | null
  grants: readonly GrantSpec[]
}

/** How an order is shipped, and what that costs; a buyer with reverse charge pays it without the tax. */
export type DraftShipping = { method: ShippingMethod; amountMinor: number }

export type DraftCoupon = {
  /** Its path in the request (`couponCode`, `couponCodes.1`). */
  path: string
  couponId: number
  code: string
  discountMinor: number
  /** `user:7` or `email:<compare key>`; null while the buyer is unknown. */
  customerKey: string | null
}

/** The attribution and marketing values of an order, and their reasons (docs/contract.md 5.9). */
export type DraftAttribution = {
  sourceType: 'referral' | 'utm' | 'typein'
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  /** Replaced by `visit:<id>` when an affiliate is credited, because the order records the visit. */
  utmContent: string | null
  marketingUtmSource: string | null
  marketingUtmMedium: string | null
  marketingUtmCampaign: string | null
  marketingUtmContent: string | null
  refSent: string | null
  refOutcome: 'none' | 'credited' | 'unknown' | 'not_active' | 'self' | 'module_off'
  /** The credited affiliate; null unless `refOutcome` is `credited`. */
  credit: { affiliate: typeof affiliates.$inferSelect; campaign: string | null; note?: 'plus_address' } | null
}

const insertAttribution = insertStatement(orderAttributions)

/**
 * Writes the attribution of a new order; it never changes. With a credited affiliate, this also records the visit and
 * the pending referral. An order of goods that cost nothing gets a visit and no referral.
 */
export function stampAttribution(tx: Tx, order: OrderRow, attribution: DraftAttribution, now: number): void {
  const { credit, ...values } = attribution
  const orderId = order.id
  if (credit === null) {
    insertAttribution(tx, { ...values, orderId, affiliateRef: '', affiliateCampaign: '' })
    return
  }
  const { affiliate, campaign, note } = credit
  const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign }, now)
  insertAttribution(tx, {
    ...values,
    orderId,
    affiliateId: affiliate.id,
    visitId,
    affiliateRef: affiliate.code,
    affiliateCampaign: campaign ?? '',
    utmContent: `visit:${visitId}`
  })
  const baseMinor = netGoodsMinor(order)
  const { currency } = order
  createReferral(tx, { affiliate, orderId, visitId, baseMinor, currency, note: note ?? null }, now)
}
