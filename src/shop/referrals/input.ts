import { z } from 'zod'
import { queryInteger } from '../../platform/http/validation.ts'

/** Query of GET /affiliates/referrals. Other parameters are refused: a client cannot choose another affiliate. */
export const referralsQuery = z.strictObject({
  limit: queryInteger({ min: 1, max: 100, default: 20 }),
  cursor: z.string().optional().meta({ description: 'nextCursor of the previous page.' })
})
export type ReferralsQuery = z.output<typeof referralsQuery>

/** Query of GET /affiliates/stats. Other parameters are refused, as for the referrals. */
export const statsQuery = z.strictObject({ days: queryInteger({ min: 1, max: 366, default: 90 }) })
