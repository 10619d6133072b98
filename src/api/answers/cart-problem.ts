import { z } from 'zod'
import { problemCodes } from '../../shop/orders/problems.ts'

const reason = {
  code: z.enum(problemCodes).meta({ example: 'not_enough' }),
  message: z.string().meta({ description: 'For the buyer. It names the product.', example: 'Lantern: only 2 left.' }),
  left: z.int().optional().meta({ description: 'not_enough: how many the buyer can order.', example: 2 }),
  minimum: z
    .number()
    .optional()
    .meta({ description: 'below_minimum, coupon_minimum: the smallest total.', example: 20 }),
  currentPeriodEnd: z.string().optional().meta({ description: 'already_subscribed: when the paid period ends.' })
}

/** Why one line or one code of a cart cannot be bought. */
export const lineProblem = z.object(reason).meta({ id: 'LineProblem' })

/** Why a cart cannot be bought. */
export const cartProblem = z
  .object({
    path: z.string().meta({ description: 'The field of the request.', example: 'items.2.quantity' }),
    ...reason
  })
  .meta({ id: 'CartProblem' })
