import { z } from 'zod'
import { ownSubscription } from '../../shop/subscriptions/shapes.ts'

export const subscriptionsData = z.object({ subscriptions: z.array(ownSubscription) })
export const subscriptionData = z.object({ subscription: ownSubscription })

export const portalData = z.object({
  url: z.string().meta({
    format: 'uri',
    description: 'Works for a few minutes for every browser that has it: send the buyer there and do not store it.',
    example: 'https://billing.stripe.com/p/session/test_123'
  })
})
