import { z } from 'zod'
import { currencyDecimals } from '../../platform/money.ts'
import { currency } from '../../platform/public-fields.ts'
import type { ShopContext } from '../context.ts'
import { strategyNames, takesToken } from '../orders/strategies.ts'
import { isReady } from '../payments/gateway.ts'
import { currentHoliday } from '../settings/holiday.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { AppError } from '../../errors.ts'
import type { Strategy } from '../orders/strategies.ts'

/** The ways to pay, and what a payment form needs. */
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
    currencyDecimals: z.int().meta({ description: 'The decimals of an amount in this currency.', example: 2 }),
    store: z
      .object({
        open: z.boolean().meta({ description: 'Whether the shop takes orders now.' }),
        message: z.string().nullable().meta({ description: 'What the shop says about its holiday.', example: null }),
        until: z.iso
          .date()
          .nullable()
          .meta({ description: "The last day of the holiday, in the shop's time zone.", example: null })
      })
      .meta({ description: 'message and until are null outside of a holiday.' })
  })
  .meta({ id: 'PaymentConfig' })
type PaymentConfig = z.infer<typeof paymentConfigData>

/** The ways to pay, and what a payment form on the site's own page needs. Contains nothing secret. */
export function paymentConfig(shop: Pick<ShopContext, 'cards' | 'config' | 'db'>, now: number): PaymentConfig {
  const { cards, config, db } = shop
  const holiday = currentHoliday(db, now)
  const shopCurrency = setting(db, 'shop.currency')
  const form = isReady(cards) ? cards.paymentForm?.() : undefined
  return {
    strategies: strategyNames.filter((name) => unofferedReason(shop, name) === undefined),
    methods: [
      ...(isReady(cards) ? ['card' as const] : []),
      ...(config.payments.includes('manual') ? ['manual' as const] : [])
    ],
    mode: cards?.livemode === true ? 'live' : 'test',
    publishableKey: form?.publishableKey ?? null,
    scriptUrl: form?.scriptUrl ?? null,
    methodConfiguration: setting(db, 'payments.methodConfiguration') || null,
    currency: shopCurrency,
    currencyDecimals: currencyDecimals(shopCurrency),
    store: {
      open: holiday === null && setting(db, 'checkout.enabled') && isModuleOn(db, 'commerce'),
      message: holiday?.message ?? null,
      until: holiday?.until ?? null
    }
  }
}

type Payments = Pick<ShopContext, 'cards' | 'config'>

/** Whether the buyer chooses a payment method on Shopstead's own page. */
export function offersChoice({ config }: Pick<Payments, 'config'>, strategy: Strategy): boolean {
  return !takesToken(strategy) && config.payments.includes('manual')
}

/** Why the shop cannot take payments by this strategy at the moment; undefined when it can. */
export function unofferedReason(
  shop: Payments,
  strategy: Strategy
): 'CHECKOUT_NOT_IMPLEMENTED' | 'CHECKOUT_GATEWAY_NOT_CONFIGURED' | undefined {
  if (takesToken(strategy) && shop.cards === null) return 'CHECKOUT_NOT_IMPLEMENTED'
  return offersChoice(shop, strategy) || isReady(shop.cards) ? undefined : 'CHECKOUT_GATEWAY_NOT_CONFIGURED'
}

/** The messages of `unofferedReason`. */
export const unofferedMessages = {
  CHECKOUT_NOT_IMPLEMENTED: 'This shop does not accept card payments, so token_handoff is not available.',
  CHECKOUT_GATEWAY_NOT_CONFIGURED: 'Card payments are not set up yet.'
} as const

/** @throws AppError CHECKOUT_NOT_IMPLEMENTED, CHECKOUT_GATEWAY_NOT_CONFIGURED */
export function assertOffered(shop: Payments, strategy: Strategy): void {
  const reason = unofferedReason(shop, strategy)
  if (reason !== undefined) throw new AppError(reason, unofferedMessages[reason])
}
