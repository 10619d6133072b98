import { z } from 'zod'
import { id, time } from '../../platform/public-fields.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { affiliateStatuses } from './find.ts'
import type { AffiliateRow } from './find.ts'
import { basicRateBps } from './rates.ts'

/** An affiliate account as its owner sees it (docs/contract.md A5). `rate` is the current rate in percent. */
export const affiliate = z
  .object({
    id,
    code: z.string().meta({ description: 'The value of ref in links.', example: 'mira' }),
    status: z.enum(affiliateStatuses).meta({ example: 'active' }),
    rate: z.number().meta({ description: 'Percent.', example: 10 }),
    termsVersion: z.string().nullable().meta({ example: '2026-01-01' }),
    termsAcceptedAt: time.nullable()
  })
  .meta({ id: 'Affiliate' })
export type AffiliateView = z.infer<typeof affiliate>

/** The public form of an affiliate account at a time (epoch ms). */
export function toAffiliate(db: Db, row: AffiliateRow, now: number): AffiliateView {
  return {
    id: row.id,
    code: row.code,
    status: row.status,
    rate: basicRateBps(db, row.id, now) / 100,
    termsVersion: row.termsVersion,
    termsAcceptedAt: toIsoOrNull(row.termsAcceptedAt)
  }
}
