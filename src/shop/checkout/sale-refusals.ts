import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { couponRefusal, cartRefused, refusal } from '../orders/problems.ts'
import { hasReachedLimit } from '../orders/coupon-uses.ts'
import type { Refusal } from '../orders/problems.ts'
import { takesToken } from '../orders/strategies.ts'
import { setting } from '../settings/settings.ts'
import { zoneCountries } from '../shipping/zones.ts'
import { listTaxRates } from '../tax/rates.ts'
import { subscribedRefusals } from './already-subscribed.ts'
import { belowMinimum, isTooSmallForCard } from './below-minimum.ts'
import { lineAt, pathOf } from './cart-lines.ts'
import type { EvaluatedCart } from './cart.ts'
import { stockRefusals } from './held-orders.ts'
import { loginNeeded } from './known-buyer.ts'
import { offersChoice } from './offered-strategies.ts'
import { vatIdRefusals } from './sale.ts'
import type { Sale } from './sale.ts'
import { shippingRefusals } from './shipping-choice.ts'
import { sessionRefusals } from './subscription-rules.ts'
import type { AddedLines } from './subscription-rules.ts'

/** Refusals of one kind. Checkout reports the first group that has any. */
export type RefusalGroup = {
  refusals: readonly Refusal[]
  message?: string
  /** How many coupon codes do not apply. */
  wrongCodes?: number
}

/**
 * Throws the first group that has refusals.
 *
 * @throws AppError VALIDATION_FAILED with `fieldErrors` and `problems`; its cause is a CouponsRefused when codes do not apply
 */
export function assertSellable(groups: readonly RefusalGroup[]): void {
  const first = groups.find(({ refusals }) => refusals.length > 0)
  if (first !== undefined) throw cartRefused(first.refusals, first.message, first.wrongCodes)
}

/** Why the items and coupon codes of a cart cannot be bought by any buyer. */
export function cartRefusals({
  itemRefusals,
  codeRefusals
}: Pick<EvaluatedCart, 'itemRefusals' | 'codeRefusals'>): RefusalGroup[] {
  return [
    { refusals: itemRefusals, message: 'Some items cannot be bought.' },
    { refusals: codeRefusals, message: 'A coupon code does not apply.', wrongCodes: codeRefusals.length }
  ]
}

/** Everything about the cart and its buyer that prevents a sale at `now`, except its payment. */
export function saleRefusals(db: Db, sale: Sale, now: number): RefusalGroup[] {
  const { cart, strategy, userId } = sale
  const stock = stockRefusals(db, sale.holder, { lines: cart.lines, strategy })
  const itemRefusals = cart.itemRefusals.map((each) => withLeast(each, cart, stock))
  const isAsked = userId !== null && !sale.subscribeAgain
  return [
    ...cartRefusals({ ...cart, itemRefusals }),
    {
      refusals: takesToken(strategy) ? [] : sessionRefusals(cart.lines, addedLines(db)),
      message: 'Some items cannot be bought together.'
    },
    {
      refusals: isAsked ? subscribedRefusals(db, userId, { lines: cart.lines, strategy }, now) : [],
      message: 'You already have this subscription.'
    },
    { refusals: stock.filter((each) => !hasNotEnough(each, cart)), message: 'Some items cannot be bought.' },
    { refusals: usedCoupons(db, cart) },
    { refusals: vatIdRefusals(sale.vatId) },
    { refusals: shippingRefusals(db, sale.shipping, sale.shippingRequest) }
  ]
}

/** What the gateway's page can add to the products, at any address. */
function addedLines(db: Db): AddedLines {
  const taxes = !setting(db, 'tax.pricesIncludeTax') && listTaxRates(db).length > 0
  return { shipping: zoneCountries(db).length > 0, taxes }
}

/** What prevents the payment of a cart that has no other refusals. */
export function paymentRefusals(shop: Pick<ShopContext, 'cards' | 'config'>, sale: Sale): RefusalGroup {
  const { cart, currency, strategy, userId, email, totals } = sale
  // The shop's own page asks for the shipping first, so the total is not final.
  if (sale.shipping.needsMethod) return { refusals: [] }
  const { totalMinor } = totals
  const limited = cart.codes.find(({ coupon }) => (coupon?.maxUsesPerCustomer ?? null) !== null)
  if (totalMinor === 0) {
    return { refusals: userId === null && limited !== undefined ? [loginNeeded(limited.path, 'couponCode')] : [] }
  }
  if (shop.cards === null || offersChoice(shop, strategy)) return { refusals: [] }
  // The gateway's page asks the buyer for an email; a payment token contains none.
  if (takesToken(strategy) && email === null && limited !== undefined) {
    const message = 'Is required for this coupon code.'
    const problem = {
      path: 'customer.email',
      code: 'email_needed',
      message: 'Enter an email to use this coupon code.'
    } as const
    return { refusals: [refusal(problem, { message })] }
  }
  return { refusals: isTooSmallForCard(shop, { totalMinor, currency }) ? [belowMinimum({ currency }, 'items')] : [] }
}

/** The coupons that the customer has used as often as each customer may. */
function usedCoupons(db: Db, { coupons }: EvaluatedCart): Refusal[] {
  return coupons.flatMap((coupon) =>
    hasReachedLimit(db, coupon) ? [couponRefusal(coupon.path, 'customer_limit')] : []
  )
}

/** Whether the items themselves already say that too little of the line is in stock. */
function hasNotEnough({ problem }: Refusal, { cartLines, itemRefusals }: EvaluatedCart): boolean {
  const line = lineAt(cartLines, problem.path)
  return itemRefusals.some(
    (each) => each.problem.code === 'not_enough' && lineAt(cartLines, each.problem.path) === line
  )
}

/** With the smaller quantity, if the buyer can order less of a line than is in stock. */
function withLeast(each: Refusal, { cartLines }: EvaluatedCart, stock: readonly Refusal[]): Refusal {
  const line = lineAt(cartLines, each.problem.path)
  if (each.problem.code !== 'not_enough' || line === undefined) return each
  const other = stock.find(({ problem }) => problem.path === `${pathOf(line)}.quantity`)
  if (other === undefined) return each
  return { ...each, problem: { ...other.problem, path: each.problem.path } }
}
