import { z } from 'zod'
import { orderToken } from '../../shop/checkout/shapes.ts'
import { orderStatus } from '../../shop/orders/shapes.ts'

const orderLink = {
  orderToken,
  statusUrl: z.string().meta({
    format: 'uri',
    description: "The order's own page at the shop.",
    example: 'https://shop.example/checkout/done/V1StGXR8Z5jdHi6BmyT0qW3nKfLxPzRc7uEoAaDbGhY'
  })
}

const redirect = z
  .object({
    checkoutUrl: z.string().meta({ format: 'uri', example: 'https://shop.example/checkout/V1StGXR8' }),
    orderId: z.string().nullable().meta({ example: '42' }),
    ...orderLink
  })
  .meta({ id: 'CheckoutRedirect', description: 'strategy redirect_to_store: send the buyer to checkoutUrl.' })

const handoff = z
  .object({
    orderId: z.int().meta({ example: 42 }),
    ...orderLink,
    mode: z.string().meta({ description: 'test or live.', example: 'test' }),
    strategy: z.string().meta({ example: 'token_handoff' }),
    provider: z.string().meta({ example: 'stripe' }),
    paymentStatus: z
      .string()
      .meta({ description: "The PaymentIntent's status, or not_required for a zero total.", example: 'succeeded' }),
    status: orderStatus.meta({ example: 'processing' }),
    paymentId: z.string().exactOptional().meta({
      description:
        "The PaymentIntent's id, which Stripe adds to returnUrl as payment_intent. Missing for a zero total.",
      example: 'pi_3MtwBwLkdIwHu7ix28a3tqPa'
    }),
    redirectUrl: z.string().exactOptional().meta({
      description: 'Send the buyer there: the bank requires another step.',
      example: 'https://bank.example/3ds'
    })
  })
  .meta({ id: 'CheckoutHandoff', description: 'strategy token_handoff: the result of the payment.' })

export const checkoutData = z.union([redirect, handoff])
