import { z } from 'zod'
import { currency, time } from '../../platform/public-fields.ts'
import { referralReasons, referralStatuses } from './states.ts'

const minor = z.int().meta({ description: 'Minor units of the currency.', example: 1250 })

/** A referral as its affiliate sees it (docs/interface.md 2.9). */
export const referral = z
  .object({
    id: z.number().meta({ example: 31 }),
    amountMinor: z.number().meta({ description: 'Minor units of the currency, net of refunds.', example: 125 }),
    currency,
    status: z.enum(referralStatuses).meta({ example: 'unpaid' }),
    reason: z.enum(referralReasons).optional().meta({
      description: 'Why it is pending (review: the shop checks it itself) or rejected. Missing for others.'
    }),
    note: z
      .string()
      .optional()
      .meta({ description: "The shop's own words about a rejection.", example: 'A colleague' }),
    createdAtUtc: time
  })
  .meta({ id: 'Referral' })
export type ReferralView = z.infer<typeof referral>

/** What an affiliate has earned. `unpaidMinor` is negative when refunds after a payout exceed later commissions. */
export const balance = z
  .object({ currency, pendingMinor: minor, unpaidMinor: minor, paidMinor: minor })
  .meta({ id: 'AffiliateBalance' })
export type Balance = z.infer<typeof balance>

const counts = z.object({
  clicks: z.int().meta({ example: 12 }),
  orders: z.int().meta({ description: 'Orders whose referral is accepted, by the day they were placed.', example: 1 }),
  commissions: z
    .array(z.object({ currency, amountMinor: minor }))
    .meta({ description: 'Net of refunds, one entry for each currency.' })
})
/** What the links of an affiliate led to; `commissions` is sorted by currency. */
export type AffiliateCounts = z.infer<typeof counts>

const dayText = z.string().meta({ format: 'date', description: 'In the time zone of the shop.', example: '2026-03-31' })

export const affiliateStatsData = z
  .object({
    from: dayText,
    to: dayText,
    days: z.array(z.object({ day: dayText, ...counts.shape })).meta({ description: 'Every day, the earliest first.' }),
    totals: z.object({
      ...counts.shape,
      conversionPercent: z
        .number()
        .meta({ description: 'Orders for each hundred clicks, at most 100; 0 without clicks.', example: 8.3 })
    }),
    campaigns: z
      .array(
        z.object({
          campaign: z.string().nullable().meta({ description: 'Null for links without one.', example: 'spring' }),
          clicks: z.int().meta({ example: 12 })
        })
      )
      .meta({ description: 'The 50 campaigns with the most clicks, the first of them first.' })
  })
  .meta({ id: 'AffiliateStats' })
export type AffiliateStats = z.infer<typeof affiliateStatsData>
