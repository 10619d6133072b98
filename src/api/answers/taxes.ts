import { z } from 'zod'
import { amount } from './fields.ts'

/** The taxes of an order or a quote. */
export const taxes = z
  .array(
    z.object({
      name: z.string().meta({ example: 'VAT' }),
      ratePercent: z.number().meta({ example: 19 }),
      amount: amount.meta({ example: 2 })
    })
  )
  .meta({ description: 'One for each rate.' })
