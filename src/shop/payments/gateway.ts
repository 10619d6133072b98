import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import type { CardGateway, ShopContext } from '../context.ts'

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
