import { z } from 'zod'
import { queryInteger } from '../../platform/http/query.ts'

/** Query of GET /affiliates/referrals. Nobody chooses whose referrals are shown, so anything else is refused. */
export const referralsQuery = z.strictObject({
  limit: queryInteger({ min: 1, max: 100, default: 20 }),
  cursor: z.string().optional().meta({ description: 'nextCursor of the page before.' })
})
export type ReferralsQuery = z.output<typeof referralsQuery>
