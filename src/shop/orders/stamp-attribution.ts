import { sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { createReferral } from '../affiliates/referrals.ts'
import { recordVisit } from '../affiliates/visits.ts'
import type { DraftAttribution } from './draft.ts'
import type { OrderRow } from './rows.ts'
import { orderAttributions } from './schema.ts'

const insertRow = statement((orm) =>
  orm
    .insert(orderAttributions)
    .values({
      orderId: sql.placeholder('orderId'),
      affiliateId: sql.placeholder('affiliateId'),
      visitId: sql.placeholder('visitId'),
      affiliateRef: sql.placeholder('affiliateRef'),
      affiliateCampaign: sql.placeholder('affiliateCampaign'),
      sourceType: sql.placeholder('sourceType'),
      utmSource: sql.placeholder('utmSource'),
      utmMedium: sql.placeholder('utmMedium'),
      utmCampaign: sql.placeholder('utmCampaign'),
      utmContent: sql.placeholder('utmContent'),
      marketingUtmSource: sql.placeholder('marketingUtmSource'),
      marketingUtmMedium: sql.placeholder('marketingUtmMedium'),
      marketingUtmCampaign: sql.placeholder('marketingUtmCampaign'),
      marketingUtmContent: sql.placeholder('marketingUtmContent'),
      refSent: sql.placeholder('refSent'),
      refOutcome: sql.placeholder('refOutcome')
    })
    .prepare()
)

/**
 * Writes where an order came from, once and for good, and with a credited affiliate the visit and the pending referral.
 * An order that costs nothing has its visit but no referral.
 */
export function stampAttribution(tx: Tx, order: OrderRow, attribution: DraftAttribution, now: number): void {
  const { credit, ...values } = attribution
  const orderId = order.id
  if (credit === null) {
    insertRow(tx).run({ ...values, orderId, affiliateId: null, visitId: null, affiliateRef: '', affiliateCampaign: '' })
    return
  }
  const { affiliate, campaign } = credit
  const visitId = recordVisit(tx, { affiliateId: affiliate.id, orderId, campaign }, now)
  insertRow(tx).run({
    ...values,
    orderId,
    affiliateId: affiliate.id,
    visitId,
    affiliateRef: affiliate.code,
    affiliateCampaign: campaign ?? '',
    utmContent: `visit:${visitId}`
  })
  createReferral(tx, { affiliate, orderId, visitId, baseMinor: order.totalMinor, currency: order.currency }, now)
}
