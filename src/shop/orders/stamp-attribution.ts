import type { Tx } from '../../platform/db/database.ts'
import { insertStatement } from '../../platform/db/statements.ts'
import { createReferral } from '../referrals/referrals.ts'
import { recordVisit } from '../affiliates/visits.ts'
import type { DraftAttribution } from './draft.ts'
import type { OrderRow } from './rows.ts'
import { orderAttributions } from './schema.ts'
import { netGoodsMinor } from './totals.ts'

const insertRow = insertStatement(orderAttributions)

/**
 * Writes the attribution of a new order; it never changes. With a credited affiliate, this also records the visit and
 * the pending referral. An order of goods that cost nothing gets a visit and no referral.
 */
export function stampAttribution(tx: Tx, order: OrderRow, attribution: DraftAttribution, now: number): void {
  const { credit, ...values } = attribution
  const orderId = order.id
  if (credit === null) {
    insertRow(tx, { ...values, orderId, affiliateRef: '', affiliateCampaign: '' })
    return
  }
  const { affiliate, campaign, note } = credit
  const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign }, now)
  insertRow(tx, {
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
