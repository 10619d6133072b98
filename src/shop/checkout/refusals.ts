import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { couponRefusal, cartRefused, refusal } from '../orders/problems.ts'
import { hasReachedLimit, limitsCustomers } from '../orders/coupon-uses.ts'
import type { Refusal } from '../orders/problems.ts'
import { takesToken } from '../orders/strategies.ts'
import { setting } from '../settings/settings.ts'
import { zoneCountries } from '../shipping/zones.ts'
import { listTaxRates } from '../tax/rates.ts'
import { emailRefusals, lineAt, methodChoices, pathOf, vatIdRefusals } from './cart.ts'
import type { EvaluatedCart, Sale } from './cart.ts'
import { stockRefusals } from './held-orders.ts'
import { offersChoice } from './payment-config.ts'
import { addressRefusals } from './address-rules.ts'
import { placeRefusals } from './buyer-place.ts'
import { shippingRefusals } from './shipping.ts'
import { toIso } from '../../platform/iso-time.ts'
import { renewalInterval } from '../benefits/kinds.ts'
import { subscriptionsOf } from '../benefits/records.ts'
import { subscriptionStatus } from '../benefits/status.ts'
import type { NewLine } from '../orders/create-order.ts'
import type { Strategy } from '../orders/strategies.ts'
import { isBelowMinimum, minimumChargeMinor, formatMoney, toMajor } from '../../platform/money.ts'
import type { OrderRow } from '../orders/find.ts'
import { isShipped, needsShipping } from '../catalog/product-types.ts'

/** Refusals of one kind. The message of a checkout is that of the first group that has any. */
export type RefusalGroup = {
  refusals: readonly Refusal[]
  message?: string
  /** How many coupon codes do not apply. */
  wrongCodes?: number
}

/**
 * Throws what all groups refuse.
 *
 * @param beside what a quote names, too, and what is another error if nothing else is refused
 * @throws AppError VALIDATION_FAILED with `fieldErrors` and `problems`; its cause is a CouponsRefused when codes do not apply
 */
export function assertSellable(groups: readonly RefusalGroup[], beside: readonly Refusal[] = []): void {
  const first = groups.find(({ refusals }) => refusals.length > 0)
  if (first === undefined) return
  const wrongCodes = groups.reduce((sum, group) => sum + (group.wrongCodes ?? 0), 0)
  const refusals = [...groups.flatMap((group) => group.refusals), ...beside]
  throw cartRefused(refusals, first.message, wrongCodes)
}

const codeRefused = 'A coupon code does not apply.'

/** Why the items and coupon codes of a cart cannot be bought by any buyer. */
export function cartRefusals({
  itemRefusals,
  codeRefusals
}: Pick<EvaluatedCart, 'itemRefusals' | 'codeRefusals'>): RefusalGroup[] {
  return [
    { refusals: itemRefusals, message: 'Some items cannot be bought.' },
    { refusals: codeRefusals, message: codeRefused, wrongCodes: codeRefusals.length }
  ]
}

/** Everything about a sale that prevents it at `now`. The total, and so its payment, is final only if nothing else is wrong. */
export function allRefusals(
  shop: Pick<ShopContext, 'cards' | 'config'>,
  db: Db,
  sale: Sale,
  now: number
): RefusalGroup[] {
  const groups = saleRefusals(db, sale, now)
  return groups.some(({ refusals }) => refusals.length > 0) ? groups : [paymentRefusals(shop, sale)]
}

/** Everything about the cart and its buyer that prevents a sale at `now`, except its payment. */
function saleRefusals(db: Db, sale: Sale, now: number): RefusalGroup[] {
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
    { refusals: customerRefusals(db, sale), message: codeRefused },
    cardRefusals(sale),
    { refusals: vatIdRefusals(sale.sent.customer?.vatId) },
    { refusals: shippingRefusals(db, sale.shipping, sale.shippingRequest, () => methodChoices(sale)) },
    { refusals: addressRefusals(db, sale), message: 'The address is not complete.' },
    { refusals: placeRefusals(db, sale), message: 'The address is not complete.' },
    { refusals: emailRefusals(db, sale) }
  ]
}

/** The gift cards that cannot pay. Each counts as a wrong code. */
function cardRefusals({ giftCards }: Sale): RefusalGroup {
  const refusals = giftCards.flatMap((card) => card.refusal ?? [])
  return { refusals, message: 'A gift card cannot be used.', wrongCodes: refusals.length }
}

/** What the gateway's page can add to the products, at any address. */
export function addedLines(db: Db): AddedLines {
  const taxes = !setting(db, 'tax.pricesIncludeTax') && listTaxRates(db).length > 0
  return { shipping: zoneCountries(db).length > 0, taxes }
}

/** What prevents the payment of a cart that has no other refusals. */
function paymentRefusals(shop: Pick<ShopContext, 'cards' | 'config'>, sale: Sale): RefusalGroup {
  const { currency, strategy, dueMinor: totalMinor } = sale
  // The shop's own page asks for the shipping first, so the total is not final.
  if (sale.shipping.needsMethod) return { refusals: [] }
  if (shop.cards === null || offersChoice(shop, strategy)) return { refusals: [] }
  return { refusals: isTooSmallForCard(shop, { totalMinor, currency }) ? [belowMinimum({ currency }, 'items')] : [] }
}

/**
 * The coupons with a limit for each customer that this one cannot use: the limit is reached, or the shop does not know who
 * buys. What a guest with an email that is not proven learns is the same for every email.
 */
function customerRefusals(db: Db, { cart, isProven }: Sale): Refusal[] {
  return cart.codes.flatMap(({ path, coupon, refusal: other }) => {
    if (coupon === null || other !== null || !limitsCustomers(coupon)) return []
    if (!isProven) return [refusal({ path, code: 'login_needed', message: proofNeeded })]
    const use = cart.coupons.find(({ couponId }) => couponId === coupon.id)
    return use !== undefined && hasReachedLimit(db, use) ? [couponRefusal(path, 'customer_limit')] : []
  })
}

const proofNeeded = 'Log in to use this code, or prove that the email is yours with a code that we send to it.'

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

/**
 * The lines with a product that the customer already subscribes to, because both subscriptions would renew. The customer
 * buys another one by `subscribeAgain`. token_handoff sells a fixed period, which extends another fixed period, so there
 * only a subscription that renews counts.
 */
export function subscribedRefusals(
  db: Db,
  userId: number,
  { lines, strategy }: { lines: readonly NewLine[]; strategy: Strategy },
  now: number
): Refusal[] {
  if (!lines.some(isSubscription)) return []
  const running = subscriptionsOf(db, userId).filter(
    (record) =>
      !['cancelled', 'expired'].includes(subscriptionStatus(record, now)) &&
      (record.gatewayId !== null || !takesToken(strategy))
  )
  return lines.filter(isSubscription).flatMap(({ path, productId, name }) => {
    const known = running.find((record) => record.productId === productId)
    if (known === undefined) return []
    const message = `You already have a subscription of ${name}. Another one would be charged in addition.`
    const currentPeriodEnd = toIso(known.currentPeriodEnd)
    const problem = { path, code: 'already_subscribed', message, currentPeriodEnd } as const
    return [refusal(problem, { path: `${path}.productId` })]
  })
}

function isSubscription({ grants }: NewLine): boolean {
  return grants.some((grant) => renewalInterval(grant) !== null)
}

type Total = Pick<OrderRow, 'totalMinor' | 'currency'>

/** Whether a total is above zero and below the minimum charge of the card gateway. */
export function isTooSmallForCard({ cards }: Pick<ShopContext, 'cards'>, { totalMinor, currency }: Total): boolean {
  return cards !== null && isBelowMinimum(totalMinor, currency)
}

/** The refusal `below_minimum` on `path`, with the minimum in major units. */
export function belowMinimum({ currency }: Pick<OrderRow, 'currency'>, path: string): Refusal {
  const minimumMinor = minimumChargeMinor(currency)
  const message = `The total must be at least ${formatMoney(minimumMinor, currency)} to pay by card.`
  return refusal({ path, code: 'below_minimum', message, minimum: toMajor(minimumMinor, currency) })
}

/** Stripe accepts 20 recurring and 20 one-time lines in a Checkout Session with a subscription (docs.stripe.com/api/checkout/sessions/create). */
const mostLinesWithSubscription = 20

/** What the gateway's page adds to the products of a cart as lines of its own. */
export type AddedLines = { shipping: boolean; taxes: boolean }

/**
 * The lines that do not fit into one Checkout Session with a subscription: all subscriptions must have the same billing
 * interval, and Stripe limits the number of lines. The second list is empty unless the first one is.
 *
 * @param added what the order can get before it is paid, because the buyer's address can come after the checkout
 */
export function sessionRefusals(lines: readonly NewLine[], added: AddedLines): Refusal[] {
  const mixed = mixedIntervals(lines)
  return mixed.length > 0 ? mixed : tooManyLines(lines, added)
}

/** The lines whose billing interval differs from the first one's. */
function mixedIntervals(lines: readonly NewLine[]): Refusal[] {
  let first: string | undefined
  return lines.flatMap(({ path, name, grants }) => {
    const intervals = grants.flatMap((grant) => renewalInterval(grant) ?? [])
    first ??= intervals[0]
    if (intervals.every((interval) => interval === first)) return []
    const message = `${name} has a different billing interval from the other subscriptions.`
    const problem = { path: `${path}.productId`, code: 'interval_mixed', message } as const
    return [refusal(problem, { message: 'This item has a different billing interval from the others.' })]
  })
}

function tooManyLines(lines: readonly NewLine[], added: AddedLines): Refusal[] {
  const isRecurring = ({ grants }: NewLine): boolean => grants.some((grant) => renewalInterval(grant) !== null)
  const recurring = lines.filter(isRecurring)
  if (recurring.length === 0) return []
  const others = lines.filter((line) => !isRecurring(line))
  return [
    { some: recurring, reserved: reservedLines(recurring, added) },
    // The tax and the shipping that are charged once can be on any line.
    { some: others, reserved: reservedLines(lines, added) }
  ].flatMap(({ some, reserved }) => {
    const most = mostLinesWithSubscription - reserved
    const message = `At most ${most} other products can be bought together with a subscription.`
    return some.slice(most).map(({ path, name }) => {
      const words = `${message} Remove ${name}, or order it separately.`
      return refusal({ path: `${path}.productId`, code: 'too_many_products', message: words }, { message })
    })
  })
}

/** The most lines that shipping and taxes can need: each class has one rate for what is shipped and one for the rest. */
function reservedLines(lines: readonly NewLine[], { shipping, taxes }: AddedLines): number {
  const rates = new Set(lines.map(({ type, taxClass }) => `${taxClass} ${isShipped(type)}`))
  return (shipping && needsShipping(lines) ? 1 : 0) + (taxes ? rates.size : 0)
}
