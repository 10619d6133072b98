import { z } from 'zod'
import { image } from './catalog.ts'
import { cartProblem, lineProblem } from './cart-problem.ts'
import { amount, count, currency, id } from './fields.ts'
import { taxes } from './taxes.ts'

const name = z.string().meta({ example: 'Harbour lantern' })

const quoteLine = z
  .object({
    productId: id,
    variationId: id.nullable().meta({ description: 'The variation that the line buys.', example: null }),
    name: name.nullable().meta({ description: 'Null for a product that is not for sale.' }),
    quantity: count,
    unitPrice: amount.nullable().meta({ description: 'Null if it is not known what the line buys.' }),
    total: amount.meta({ description: 'After its share of the discounts; 0 if the line cannot be bought.' }),
    image: image.nullable().meta({ description: "The variation's own picture, else the product's." }),
    problem: lineProblem.nullable()
  })
  .meta({ id: 'QuoteLine' })

const shippingMethod = z.object({
  id: z.string(),
  name: z.string(),
  amount,
  estimate: z.string().nullable(),
  pickup: z.boolean()
})

const tax = z.object({
  included: z.boolean().meta({ description: 'Whether the prices include the tax.' }),
  amount,
  lines: taxes
})

const quote = z
  .object({
    currency,
    lines: z.array(quoteLine).meta({ description: 'Equal items are one line, as in an order.' }),
    coupons: z.array(
      z.object({
        code: z.string().meta({ description: 'As sent.', example: 'WELCOME10' }),
        accepted: z.boolean(),
        problem: lineProblem.nullable()
      })
    ),
    subtotal: amount.meta({ description: 'The lines before discounts.' }),
    discount: amount,
    shipping: z.object({
      required: z.boolean().meta({ description: 'Whether a line has to be shipped.' }),
      methods: z.array(shippingMethod),
      chosen: z.string().nullable(),
      amount
    }),
    tax,
    total: amount.meta({ description: 'subtotal - discount + shipping, and tax that is not included.' }),
    payable: z.boolean().meta({ description: 'Whether a checkout with the same body would be accepted now.' }),
    problems: z.array(cartProblem)
  })
  .meta({ id: 'Quote' })

export const quoteData = quote
