import { hmac } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { dryRunWhenFree } from '../../platform/db/dry-run.ts'
import type { ShopContext } from '../context.ts'
import { couponsOf, getOrder, itemsOf } from '../orders/find.ts'
import { releaseHold, dropHolder, findSameCart, pendingOrdersOf } from '../orders/holds.ts'
import type { Holder } from '../orders/holds.ts'
import { takesToken } from '../orders/strategies.ts'
import { attemptsOf, unanswered } from '../payments/attempts.ts'
import { isAtTheBank } from '../payments/gateway-state.ts'
import { sentCodes } from './cart.ts'
import type { CheckoutBody, CheckoutQuery, QuoteBody } from './input.ts'

const secretFields: ReadonlySet<string> = new Set(['paymentToken', 'password'])

/**
 * Identifies what a checkout asks for, except its payment token: the same buyer who sends it again continues the same
 * unpaid order. It is a keyed hash, because a body contains addresses, which could be guessed from a plain one.
 */
export function cartKeyOf(
  { keys }: Pick<ShopContext, 'keys'>,
  { body, query }: { body: CheckoutBody; query: CheckoutQuery }
): string {
  const byItem = (item: CheckoutBody['items'][number]): string => `${item.productId}/${item.variationId ?? ''}`
  const items = body.items.toSorted((a, b) => byItem(a).localeCompare(byItem(b)))
  const text = JSON.stringify({ ...body, items, query }, (name, value: unknown) =>
    secretFields.has(name) ? undefined : value
  )
  return hmac(keys.nonce, `cart\0${text}`).toString('hex').slice(0, 32)
}

/** The page of a continued order must stay open for a while. */
const shortestHoldMs = 5 * 60_000

/** The buyer's unpaid order for the same cart; undefined if a new one is needed. */
export function findContinued(
  db: Db,
  { buyer }: Pick<Holder, 'buyer'>,
  cartKey: string,
  now: number
): number | undefined {
  return findSameCart(db, { buyer, cartKey, until: now + shortestHoldMs })
}

/**
 * The buyer's unpaid orders that a new order for this cart replaces: those with a product or a coupon of it. Otherwise the
 * buyer's own order would make the cart sold out, and use up a coupon. A payment that waits for the bank is left, and a card
 * payment that is being made, or whose outcome is not known.
 */
export function replacedOrders(
  db: Db,
  { buyer, cookieBuyer }: Pick<Holder, 'buyer' | 'cookieBuyer'>,
  body: QuoteBody
): number[] {
  const buyers = cookieBuyer === null ? [buyer] : [buyer, cookieBuyer]
  const products = new Set(body.items.map(({ productId }) => productId))
  const codes = new Set(sentCodes(body).map(({ code }) => compareKey(code)))
  return buyers
    .flatMap((each) => pendingOrdersOf(db, each))
    .filter(
      (id) =>
        canBeReplaced(db, id) &&
        (itemsOf(db, id).some(({ productId }) => products.has(productId)) ||
          couponsOf(db, id).some(({ code }) => codes.has(compareKey(code))))
    )
}

function canBeReplaced(db: Db, orderId: number): boolean {
  const [newest] = attemptsOf(db, orderId)
  if (newest !== undefined && isAtTheBank(newest)) return false
  // The buyer came back from the bank's page without an answer.
  if (takesToken(getOrder(db, orderId).strategy)) return newest?.gatewayStatus === 'requires_action'
  // A concurrent request is opening the payment page, and its buyer waits for it.
  const isBeingOpened = newest?.objectId === null && newest.outcome === null && newest.gatewayStatus !== unanswered
  return !isBeingOpened
}

/**
 * What `work` finds when these orders hold nothing and do not count for the limits on unpaid orders. It must only read:
 * everything is rolled back.
 */
export async function ifReleased<T>(
  db: Db,
  orderIds: readonly number[],
  work: () => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  if (orderIds.length === 0) return work()
  return dryRunWhenFree<T>(db, (tx) => {
    for (const id of orderIds) {
      releaseHold(tx, id)
      dropHolder(tx, id)
    }
    return work()
  })
}
