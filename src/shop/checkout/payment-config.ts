import { currencyDecimals } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { strategyNames } from '../orders/strategies.ts'
import { isReady } from '../payments/gateway.ts'
import { setting } from '../settings/settings.ts'
import { unofferedReason } from './offered-strategies.ts'

/** The ways to pay, and what a payment form on the site's own page needs. Contains nothing secret. */
export function paymentConfig(shop: Pick<ShopContext, 'cards' | 'config' | 'db'>) {
  const { cards, config, db } = shop
  const currency = setting(db, 'shop.currency')
  const form = isReady(cards) ? cards.paymentForm?.() : undefined
  return {
    strategies: strategyNames.filter((name) => unofferedReason(shop, name) === undefined),
    methods: [
      ...(isReady(cards) ? ['card' as const] : []),
      ...(config.payments.includes('manual') ? ['manual' as const] : [])
    ],
    mode: cards?.livemode === true ? ('live' as const) : ('test' as const),
    publishableKey: form?.publishableKey ?? null,
    scriptUrl: form?.scriptUrl ?? null,
    methodConfiguration: setting(db, 'payments.methodConfiguration') || null,
    currency,
    currencyDecimals: currencyDecimals(currency)
  }
}
