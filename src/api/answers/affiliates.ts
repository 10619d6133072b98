import { z } from 'zod'
import { affiliateStatuses } from '../../shop/affiliates/rows.ts'
import { referralStatuses } from '../../shop/referrals/states.ts'
import { currency, id, time } from './fields.ts'

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

export const affiliateData = z.object({ affiliate })
export const ownAffiliateData = z.object({ affiliate, balance })
