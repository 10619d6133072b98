import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import type { CardGateway, ShopContext } from '../context.ts'
import type { AttemptRow } from './rows.ts'

/** A gateway whose credentials are there. */
export type ReadyGateway = CardGateway & { readonly client: () => Promise<Stripe> }

/** @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED while the credentials are missing. */
export function readyGateway(shop: Pick<ShopContext, 'cards'>): ReadyGateway {
  const { cards } = shop
  if (!isReady(cards)) {
    throw new AppError('CHECKOUT_GATEWAY_NOT_CONFIGURED', 'Card payments are not set up yet.')
  }
  return cards
}

export function isReady(cards: CardGateway | null): cards is ReadyGateway {
  return cards?.client !== undefined
}

/**
 * The gateway that holds a payment, which need not be the one that the shop uses now.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE, naming the settings without which it cannot be asked
 */
export function gatewayOf(
  { cards }: Pick<ShopContext, 'cards'>,
  { orderId, gateway }: Pick<AttemptRow, 'orderId' | 'gateway'>
): ReadyGateway {
  if (isReady(cards) && cards.name === gateway) return cards
  const needs = `SHOPSTEAD_PAYMENTS=${gateway}${gateway === 'stripe' ? ' and SHOPSTEAD_STRIPE_SECRET_KEY' : ''}`
  const why = `The payment of order ${orderId} is at a gateway that cannot be asked without ${needs}.`
  throw new AppError('DEPENDENCY_UNAVAILABLE', why)
}
