import { AppError } from '../../errors.ts'
import type { ShopContext } from '../context.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { isReady } from '../payments/gateway.ts'

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
