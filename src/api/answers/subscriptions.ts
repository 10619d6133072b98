import { z } from 'zod'
import { subscription } from './entitlements.ts'
import { amount, currency, time } from '../../platform/public-fields.ts'

const ownSubscription = z
  .object({
    ...subscription.shape,
    amount: amount.meta({ description: 'The price of one period.', example: 12.5 }),
    currency,
    nextPaymentAt: time
      .nullable()
      .meta({ description: 'When the next period is charged; null when none is, and after a failed renewal.' }),
    canCancel: z.boolean().meta({ description: 'Whether POST /me/subscriptions/{id}/cancel can end it.' }),
    manageUrl: z.string().nullable().meta({
      description: "Opens the gateway's billing portal for the browser that is logged in at the public URL.",
      example: 'https://shop.example/account/subscriptions/17/manage'
    })
  })
  .meta({ id: 'OwnSubscription' })

export const subscriptionsData = z.object({ subscriptions: z.array(ownSubscription) })
export const subscriptionData = z.object({ subscription: ownSubscription })

export const portalData = z.object({
  url: z.string().meta({
    format: 'uri',
    description: 'Works for a few minutes for every browser that has it: send the buyer there and do not store it.',
    example: 'https://billing.stripe.com/p/session/test_123'
  })
})
