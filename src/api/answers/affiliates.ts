import { z } from 'zod'
import { affiliate } from '../../shop/affiliates/view.ts'
import { ownPayout } from '../../shop/payouts/shapes.ts'
import { balance, referral } from '../../shop/referrals/shapes.ts'

export const referralsData = z.object({
  referrals: z.array(referral),
  nextCursor: z.string().nullable().meta({ description: 'Null on the last page.', example: null })
})

export const affiliateData = z.object({ affiliate })
export const clickData = z.object({
  accepted: z.literal(true),
  trackingDays: z.int().nullable().meta({
    description:
      'For how many days from now a checkout may send the ref (affiliates.cookieDays). Null for a ref that would not count.',
    example: 30
  })
})
export const ownAffiliateData = z.object({
  affiliate,
  balance,
  link: z.string().nullable().meta({
    description: "The affiliate's link to the front page; null while the account is not active.",
    example: 'https://shop.example/?ref=mira'
  }),
  coupons: z.array(z.string()).meta({ description: 'The codes that credit the affiliate.', example: ['MIRA10'] })
})

export const affiliateLinkData = z.object({
  url: z.string().meta({ example: 'https://shop.example/products/storm-lantern?ref=mira&campaign=spring' })
})

export const payoutsData = z.object({
  payouts: z.array(ownPayout).meta({ description: 'The newest first.' }),
  nextCursor: z.string().nullable().meta({ description: 'Null on the last page.', example: null })
})
