import { z } from 'zod'
import { affiliateStatuses } from '../../shop/affiliates/find.ts'
import { referralStatuses } from '../../shop/referrals/states.ts'
import { currency, id, time } from '../../platform/public-fields.ts'

const minor = z.int().meta({ description: 'Minor units of the currency.', example: 1250 })

const referral = z
  .object({
    id: z.number().meta({ example: 31 }),
    amountMinor: z.number().meta({ description: 'Minor units of the currency, net of refunds.', example: 125 }),
    currency,
    status: z.enum(referralStatuses).meta({ example: 'unpaid' }),
    createdAtUtc: time
  })
  .meta({ id: 'Referral' })

export const referralsData = z.object({
  referrals: z.array(referral),
  nextCursor: z.string().nullable().meta({ description: 'Null on the last page.', example: null })
})

const affiliate = z
  .object({
    id,
    code: z.string().meta({ description: 'The value of ref in links.', example: 'mira' }),
    status: z.enum(affiliateStatuses).meta({ example: 'active' }),
    rate: z.number().meta({ description: 'Percent.', example: 10 }),
    termsVersion: z.string().nullable().meta({ example: '2026-01-01' }),
    termsAcceptedAt: time.nullable()
  })
  .meta({ id: 'Affiliate' })

const balance = z
  .object({ currency, pendingMinor: minor, unpaidMinor: minor, paidMinor: minor })
  .meta({ id: 'AffiliateBalance' })

const counts = {
  clicks: z.int().meta({ example: 12 }),
  orders: z.int().meta({ description: 'Orders whose referral is accepted, by the day they were placed.', example: 1 }),
  commissions: z
    .array(z.object({ currency, amountMinor: minor }))
    .meta({ description: 'Net of refunds, one entry for each currency.' })
}
const dayText = z.string().meta({ format: 'date', description: 'In UTC.', example: '2026-03-31' })

export const affiliateStatsData = z
  .object({
    from: dayText,
    to: dayText,
    days: z.array(z.object({ day: dayText, ...counts })).meta({ description: 'Every day, the earliest first.' }),
    totals: z.object({
      ...counts,
      conversionPercent: z
        .number()
        .meta({ description: 'Orders for each hundred clicks, at most 100; 0 without clicks.', example: 8.3 })
    })
  })
  .meta({ id: 'AffiliateStats' })

export const affiliateData = z.object({ affiliate })
export const ownAffiliateData = z.object({ affiliate, balance })
