import { z } from 'zod'
import { strategyNames } from '../../shop/orders/strategies.ts'
import { currency } from './fields.ts'

export const paymentConfigData = z
  .object({
    strategies: z
      .array(z.enum(strategyNames))
      .meta({ description: 'The strategies that a checkout can have now.', example: ['redirect_to_store'] }),
    methods: z
      .array(z.enum(['card', 'manual']))
      .meta({ description: 'How the shop is paid: by its card gateway, or by hand, such as a transfer.' }),
    mode: z.enum(['test', 'live']).meta({ description: 'Whether payments move money.', example: 'test' }),
    publishableKey: z.string().nullable().meta({
      description: 'For the script of the gateway; it is not secret. Null if the shop has none.',
      example: 'pk_test_sandbox'
    }),
    scriptUrl: z.string().nullable().meta({
      description: 'The script of the gateway for payment forms. Null without a publishable key.',
      example: 'https://js.stripe.com/endive/stripe.js'
    }),
    methodConfiguration: z
      .string()
      .nullable()
      .meta({ description: "The payment method configuration of Stripe's Payment Element; null for the default." }),
    currency,
    currencyDecimals: z.int().meta({ description: 'The decimals of an amount in this currency.', example: 2 })
  })
  .meta({ id: 'PaymentConfig' })
