import { validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { findUserByEmail } from '../accounts/find.ts'
import { productById, productBySlug, variationsOfProduct } from '../catalog/stored-product.ts'
import type { ShopContext } from '../context.ts'
import { queueMail } from '../mail/queue.ts'
import { decideAttribution } from '../orders/attribution.ts'
import type { NewAttribution } from '../orders/attribution.ts'
import { insertOrder } from '../orders/create-order.ts'
import { payUrl, statusUrl } from '../orders/view.ts'
import type { OrderRow } from '../orders/find.ts'
import { defaultStrategy } from '../orders/strategies.ts'
import { isCovered, payNothing } from '../payments/attempts.ts'
import { orderFieldsOf } from './checkout.ts'
import { checkoutQuery } from './input.ts'
import type { CheckoutBody } from './input.ts'
import { assertOffered } from './payment-config.ts'
import { allRefusals, assertSellable } from './refusals.ts'
import { saleOf } from './cart.ts'
import { toChosenShipping } from './shipping.ts'

export type PhoneOrder = {
  /** Without an email of its own. */
  body: CheckoutBody
  email: string
  /** How long the order keeps its stock without being paid. */
  holdMinutes: number
  /** Whether the buyer gets an email with the link. */
  mailed: boolean
  /** The affiliate whom the buyer named; null for none. */
  ref: string | null
}

/**
 * Creates the order of a buyer who called or wrote, as an operator entered it: with the prices, coupons, shipping, tax and
 * stock of the checkout, but without the limits for strangers. The buyer pays it on the page of the link, which asks for
 * what is missing, such as an address. An order that costs nothing is paid immediately. It belongs to the account with
 * this email, if the email is verified.
 *
 * @throws AppError VALIDATION_FAILED naming the fields; CHECKOUT_GATEWAY_NOT_CONFIGURED when the shop takes no payments
 */
export function createPhoneOrder(
  shop: ShopContext,
  { mailed, ...phoneOrder }: PhoneOrder,
  now: number
): { order: OrderRow; payUrl: string } {
  assertOffered(shop, defaultStrategy)
  return write(shop.db, (tx) => {
    const order = placeFor(tx, shop, phoneOrder, now)
    if (order.paidAt !== null) return { order, payUrl: statusUrl(shop, order) }
    const mail = { template: 'payment_link', data: { orderId: order.id } } as const
    if (mailed) queueMail(tx, { ...mail, recipient: phoneOrder.email }, now)
    return { order, payUrl: payUrl(shop, order) }
  })
}

function placeFor(
  tx: Tx,
  shop: ShopContext,
  { body, email, holdMinutes, ref }: Omit<PhoneOrder, 'mailed'>,
  now: number
): OrderRow {
  const account = findUserByEmail(tx, email)
  const user = account?.status === 'active' && account.emailVerifiedAt !== null ? account : null
  const userId = user?.id ?? null
  const holder = { buyer: 'operator', isGuest: false, addressKey: '' }
  // An operator knows the buyer, as far as the email tells.
  const sale = saleOf(tx, body, { userId, email, isProven: true, holder, language: 'en' }, now)
  assertSellable(allRefusals(shop, tx, sale, now))
  const { lines, coupons } = sale.cart
  const buyer = { userId, emails: [email] }
  const attribution = decideAttribution(tx, { ...checkoutQuery.parse({}), ref }, { coupons, buyer }, now)
  if (ref !== null) assertCredits(attribution)
  const { currency, strategy, vatCheck } = sale
  const bought = { strategy, userId, currency, lines, coupons, shipping: toChosenShipping(sale.shipping), attribution }
  const fixed = orderFieldsOf(shop, body, user, email)
  const order = insertOrder(tx, { ...fixed, ...bought, vatCheck, holdMinutes, by: 'operator' }, now)
  const isDone = !sale.shipping.needsMethod && isCovered(tx, shop.cards, order)
  return isDone ? payNothing(tx, order, now) : order
}

/** Checks that an order credits the affiliate whom the operator names. @throws AppError VALIDATION_FAILED (`ref`) */
function assertCredits({ candidates, credit, creditedBy }: NewAttribution): void {
  const link = candidates.find(({ by }) => by === 'link')
  if (link === undefined || link.outcome === 'credited' || link.affiliateId === credit?.affiliate.id) return
  const why =
    credit === null
      ? link.outcome.replaceAll('_', ' ')
      : `the ${creditedBy ?? ''} credits ${credit.affiliate.code}, which affiliates.precedence puts first`
  throw validationFailed({ ref: [`Credits no affiliate: ${why}.`] })
}

/** `mug:2`, or `shirt/RED-M:1` for a variation, as an operator writes an item; undefined for other text. */
export function readNamedItem(text: string): { slug: string; sku: string | undefined; quantity: number } | undefined {
  const [, slug, sku, quantity] = /^([^/:]+)(?:\/(.+))?:([1-9]\d{0,5})$/.exec(text) ?? []
  return slug === undefined ? undefined : { slug, sku, quantity: Number(quantity) }
}

/** An item as an operator names it, which `readNamedItem` reads. */
export function nameItem(
  db: Db,
  { productId, variationId, quantity }: { productId: number; variationId?: number | undefined; quantity: number }
): string {
  const sku = variationsOfProduct(db, productId).find(({ id }) => id === variationId)?.sku
  return `${productById(db, productId)?.slug ?? ''}${sku == null ? '' : `/${sku}`}:${quantity}`
}

/**
 * The items of an order as an operator names them: a product by its slug, and one of its variations by its SKU.
 *
 * @throws AppError VALIDATION_FAILED (`items.N`)
 */
export function findNamedItems(
  db: Db,
  named: readonly { slug: string; sku: string | undefined; quantity: number }[]
): { productId: number; variationId?: number; quantity: number }[] {
  return named.map(({ slug, sku, quantity }, index) => {
    const refuse = (message: string): Error => validationFailed({ [`items.${index}`]: [message] })
    const product = productBySlug(db, slug)
    if (product === undefined) throw refuse(`No product has the slug ${slug}.`)
    if (sku === undefined) return { productId: product.id, quantity }
    const variation = variationsOfProduct(db, product.id).find((each) => each.sku === sku)
    if (variation === undefined) throw refuse(`${product.name} has no variation with the SKU ${sku}.`)
    return { productId: product.id, variationId: variation.id, quantity }
  })
}
