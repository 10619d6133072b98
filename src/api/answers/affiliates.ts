import { z } from 'zod'
import { affiliate } from '../../shop/affiliates/view.ts'
import { balance, referral } from '../../shop/referrals/shapes.ts'

export const referralsData = z.object({
  referrals: z.array(referral),
  nextCursor: z.string().nullable().meta({ description: 'Null on the last page.', example: null })
})

export const affiliateData = z.object({ affiliate })
export const ownAffiliateData = z.object({ affiliate, balance })
