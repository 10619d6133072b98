import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import type { CardGateway, ShopContext } from '../context.ts'
import type { AttemptRow } from './rows.ts'

/** A gateway whose credentials are configured. */
export type ReadyGateway = CardGateway & { readonly client: () => Promise<Stripe> }

/** @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED while the credentials are missing. */
export function readyGateway(shop: Pick<ShopContext, 'cards'>): ReadyGateway {
  const { cards } = shop
  if (!isReady(cards)) {
    throw new AppError('CHECKOUT_GATEWAY_NOT_CONFIGURED', 'Card payments are not set up yet.')
  }
  return cards
}

/** Whether the gateway has its credentials. */
export function isReady(cards: CardGateway | null): cards is ReadyGateway {
  return cards?.client !== undefined
}

/** The gateway that holds a payment; undefined when it cannot be asked, because its key is missing or the shop uses another gateway. */
export function findGatewayOf(
  { cards }: Pick<ShopContext, 'cards'>,
  { gateway }: Pick<AttemptRow, 'gateway'>
): ReadyGateway | undefined {
  return isReady(cards) && cards.name === gateway ? cards : undefined
}

/** @throws AppError DEPENDENCY_UNAVAILABLE, naming the settings without which the gateway cannot be asked. */
export function gatewayOf(
  shop: Pick<ShopContext, 'cards'>,
  attempt: Pick<AttemptRow, 'orderId' | 'gateway'>
): ReadyGateway {
  const found = findGatewayOf(shop, attempt)
  if (found !== undefined) return found
  const { orderId, gateway } = attempt
  const needs = `SHOPSTEAD_PAYMENTS=${gateway}${gateway === 'stripe' ? ' and SHOPSTEAD_STRIPE_SECRET_KEY' : ''}`
  const why = `The payment of order ${orderId} is at a gateway that cannot be asked without ${needs}.`
  throw new AppError('DEPENDENCY_UNAVAILABLE', why)
}
