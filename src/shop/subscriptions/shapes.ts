import { z } from 'zod'
import { amount, currency, time } from '../../platform/public-fields.ts'
import { recurring } from '../orders/shapes.ts'
import { subscription } from '../benefits/shapes.ts'

/** A subscription as its holder manages it (docs/contract.md 5.21). `amount` is 0 when an operator granted it. */
export const ownSubscription = z
  .object({
    ...subscription.shape,
    amount: amount.meta({
      description: 'The price of one period of this product, without shipping and added tax.',
      example: 12.5
    }),
    currency,
    recurring: recurring.nullable().meta({ description: 'What each renewal is charged; null when nothing renews it.' }),
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
export type OwnSubscription = z.infer<typeof ownSubscription>
