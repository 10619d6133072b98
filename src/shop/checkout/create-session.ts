import { AppError } from '../../errors.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { takesToken } from '../orders/strategies.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { inBuyersTurn } from './buyer-turn.ts'
import { runCardCheckout } from './checkout-limits.ts'
import { placeOrder } from './checkout.ts'
import type { CheckoutCaller, CheckoutInput } from './checkout.ts'
import { cartKeyOf, findContinued } from './earlier-orders.ts'
import { releaseOldestOrders } from './held-orders.ts'
import { payPlaced } from './pay.ts'
import { payAgain } from './resume.ts'
import type { Resumed } from './resume.ts'
import { emailOf, saleOf } from './sale.ts'

/**
 * Places an order and starts its payment. An order that an earlier request under the same idempotency key left unpaid
 * (`resumes`), or that the same buyer placed for the same cart, is paid instead of a new one, unless it can no longer be
 * paid. The buyer's oldest unpaid orders beyond the limit are cancelled.
 *
 * @throws AppError as `placeOrder`, `payPlaced` and `payAgain`
 */
export function createSession(
  shop: ShopContext,
  input: CheckoutInput,
  caller: CheckoutCaller & { resumes: number | undefined },
  now: number
): Promise<Resumed> {
  const { body } = input
  const { buyer } = caller.holder
  const checkOut = async (): Promise<Resumed> => {
    const earlier = caller.resumes ?? findSameSale(shop, input, caller, now)
    const resumed = earlier === undefined ? undefined : await payAgain(shop, earlier, body, caller)
    if (resumed !== undefined) return resumed
    const placed = await placeOrder(shop, input, caller, now)
    const result = await payPlaced(shop, placed, body, caller)
    await releaseOldestOrders(shop, buyer)
    return { order: placed.order, result }
  }
  return runCardCheckout(shop, caller.addressKey, body.strategy, () => inBuyersTurn(buyer, checkOut))
}

/**
 * The buyer's unpaid order for the same cart; undefined if a new one is needed. A payment by token has no page that shows
 * the total, so it continues an order only if the cart still costs the same.
 */
function findSameSale(
  shop: ShopContext,
  input: CheckoutInput,
  { user, holder }: CheckoutCaller,
  now: number
): number | undefined {
  const found = findContinued(shop.db, holder, cartKeyOf(shop, input), now)
  if (found === undefined) return undefined
  const { strategy, totalMinor, currency } = getOrder(shop.db, found)
  if (!takesToken(strategy)) return found
  const buyer = { userId: user?.id ?? null, email: emailOf(input.body, user), holder }
  const sale = saleOf(shop.db, input.body, buyer, now)
  return sale.totals.totalMinor === totalMinor && sale.currency === currency ? found : undefined
}

/**
 * Checks that the shop sells at the moment, and to this client.
 *
 * @throws AppError CHECKOUT_DISABLED, NOT_AUTHENTICATED for a guest when only customers may buy
 */
export function assertCheckoutOpen({ db }: Pick<ShopContext, 'db'>, user: UserRow | null): void {
  if (!setting(db, 'checkout.enabled') || !isModuleOn(db, 'commerce')) {
    throw new AppError('CHECKOUT_DISABLED', 'Nothing can be bought at the moment.')
  }
  if (user === null && !setting(db, 'checkout.guest')) {
    throw new AppError('NOT_AUTHENTICATED', 'Please log in before you buy.')
  }
}
