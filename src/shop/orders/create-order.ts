import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Tx } from '../../platform/db/database.ts'
import { insertStatement } from '../../platform/db/statements.ts'
import { emailKey } from '../../platform/email-key.ts'
import { emit } from '../outbox/emit.ts'
import { saleTerms } from '../tax/terms.ts'
import { recordMove } from './audit.ts'
import { couponRefusal } from './coupon-refusal.ts'
import { takeCouponUse } from './coupon-uses.ts'
import type { OrderDraft } from './draft.ts'
import { getOrder } from './find.ts'
import { countedStock, takeUnits } from './order-stock.ts'
import { storeTaxes } from './order-taxes.ts'
import { cartRefused, notEnough, refusal } from './problems.ts'
import type { Refusal } from './problems.ts'
import type { OrderRow } from './rows.ts'
import { orderCoupons, orderItems, orders } from './schema.ts'
import { stampAttribution } from './stamp-attribution.ts'
import { computeTotals, toColumns } from './totals.ts'
import type { Totals } from './totals.ts'

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
