import type { Db } from '../../platform/db/database.ts'
import { toMajor } from '../../platform/money.ts'
import { compareKey, emailKey } from '../../platform/text.ts'
import { discountLines, findCombinationRefusal, findCouponRefusal, inactiveReason } from '../catalog/coupon-rules.ts'
import type { CouponRefusal, CouponScope, DiscountableLine } from '../catalog/coupon-rules.ts'
import { couponScope, findCoupon } from '../catalog/coupons.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { variationChoices } from '../catalog/public/price.ts'
import type { VariationChoice } from '../catalog/public/shapes.ts'
import { discountableMinor } from '../catalog/product-types.ts'
import { categoryIdsOfProduct, productById, variationsOfProduct } from '../catalog/stored-product.ts'
import { buyerPrices } from '../groups/prices.ts'
import { saleTerms } from '../tax/terms.ts'
import type { SaleTerms, TaxedBuyer } from '../tax/terms.ts'
import { chargedPrice, chargedShipping, computeTotals } from '../orders/totals.ts'
import { couponRefusal, notEnough, refusal } from '../orders/problems.ts'
import { customerKeyOf } from '../orders/coupon-uses.ts'
import type { NewCoupon, NewLine } from '../orders/create-order.ts'
import type { Refusal } from '../orders/problems.ts'
import type { MethodChoice, Problem } from '../orders/shapes.ts'
import type { Codes, QuoteBody } from './input.ts'
import { findShown, findSellable, unsellableReasons } from '../catalog/sellable.ts'
import type { PriceOf, Sellable, Shown, UnsellableReason } from '../catalog/sellable.ts'
import type { ChargedPrice, Totals } from '../orders/totals.ts'
import { destinationOf, shipToOf } from '../../platform/postal/address.ts'
import { readVatId } from '../../platform/vat.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import { provesMailbox } from '../accounts/mailbox-code.ts'
import { baseOf } from '../../platform/texts/languages.ts'
import type { Language } from '../../platform/texts/languages.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { Holder } from '../orders/holds.ts'
import { defaultStrategy, takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { setting } from '../settings/settings.ts'
import { cardsOfCart } from './gift-cards.ts'
import type { CartCard } from './gift-cards.ts'
import { shippingChoice } from './shipping.ts'
import type { ShippingChoice, ShippingRequest } from './shipping.ts'
import { findPickup } from '../shipping/zones.ts'
import { findUserById } from '../accounts/find.ts'
import { partyNames } from '../orders/address.ts'
import type { VatCheck } from '../tax/input.ts'
import { vatCheckOf } from '../tax/vat-checks.ts'

/** What is known about the buyer, for a coupon's limit per customer. */
export type CartBuyer = { userId: number | null; emailKey: string | null }

/** A coupon code of a cart. */
export type CartCode = { path: string; code: string; coupon: CouponRow | null; refusal: Refusal | null }

/** The lines and coupons that can be bought, with their prices and discounts. */
export type PricedCart = { lines: NewLine[]; coupons: NewCoupon[] }

/** A cart with everything in it that cannot be bought. */
export type EvaluatedCart = PricedCart & {
  /** A line for each product and variation that was sent, also those that cannot be bought. */
  cartLines: CartLine[]
  codes: CartCode[]
  itemRefusals: Refusal[]
  codeRefusals: Refusal[]
  /** How the lines are taxed. */
  terms: SaleTerms
}

type CartInput = {
  items: readonly Item[]
  codes: readonly SentCode[]
  currency: string
  /** Without it, the shop's own country decides the tax. */
  taxed?: TaxedBuyer
}

/**
 * Calculates the price of the items at `now`, with the buyer's prices (groups/prices.ts) and the stock of the catalog. Items with the same product and
 * variation merge into one line. Discounts are distributed to the lines. A line with more than the stock keeps
 * its price.
 */
export function evaluateCart(db: Db, input: CartInput, buyer: CartBuyer, now: number): EvaluatedCart {
  const { lines: cartLines, refusals: itemRefusals } = findLines(db, input.items, buyerPrices(db, buyer.userId, now))
  const sold = cartLines.flatMap((line) => (line.sellable === null ? [] : [{ line, sellable: line.sellable }]))
  const terms = saleTerms(db, input.taxed ?? { shippingAddress: null, billingAddress: null, vatId: null })
  const priced = sold.map(({ line, sellable }) => {
    const { type, product, unitPriceMinor: catalogMinor } = sellable
    const catalog = { catalogMinor, quantity: line.quantity }
    const price = chargedPrice(terms, { type, taxClass: product.taxClass }, catalog, input.currency)
    line.unitPriceMinor = price.unitPriceMinor
    return { line, sellable, price }
  })
  const hasCodes = input.codes.length > 0
  const discountable = priced.map(({ line, sellable, price }) => ({
    productId: line.productId,
    // Only coupons need the categories.
    categoryIds: hasCodes ? categoryIdsOfProduct(db, line.productId) : [],
    totalMinor: discountableMinor({ type: sellable.type, amountMinor: price.amountMinor })
  }))
  const checked = checkCodes(db, input, discountable, now)
  const applied = checked.flatMap(({ path, coupon, scope, refusal }) =>
    coupon === null || refusal !== null ? [] : [{ path, coupon, scope }]
  )
  const discounts = discountLines(
    discountable,
    applied.map(({ coupon, scope }) => ({ ...coupon, ...scope })),
    input.currency
  )
  const customerKey = customerKeyOf(buyer)
  return {
    cartLines,
    codes: checked,
    itemRefusals,
    codeRefusals: checked.flatMap(({ refusal }) => refusal ?? []),
    terms,
    lines: priced.map(({ line, sellable, price }, index) =>
      toNewLine(line, sellable, price, discounts.byLine[index] ?? 0)
    ),
    coupons: applied.map(({ path, coupon }, index) => ({
      path,
      couponId: coupon.id,
      code: coupon.code,
      discountMinor: discounts.byCoupon[index] ?? 0,
      customerKey
    }))
  }
}

/** A coupon code and the path of its field in the request. */
export type SentCode = { path: string; code: string }

/** The codes of `couponCode` and `couponCodes`, without empty codes and duplicates. */
export function sentCodes(body: Codes): SentCode[] {
  const sent = [
    { path: 'couponCode', code: body.couponCode ?? '' },
    ...(body.couponCodes ?? []).map((code, index) => ({ path: `couponCodes.${index}`, code }))
  ]
  const once = new Map<string, SentCode>()
  for (const entry of sent) {
    const key = compareKey(entry.code)
    if (key !== '' && !once.has(key)) once.set(key, entry)
  }
  return [...once.values()]
}

/** Whether a request has codes of coupons or gift cards, which could be guessed. */
export function hasCodes(body: Codes & Pick<QuoteBody, 'giftCards'>): boolean {
  return sentCodes(body).length > 0 || (body.giftCards ?? []).length > 0
}

/** Of codes that can't be combined, the first one counts. */
function checkCodes(
  db: Db,
  { codes, currency }: Pick<CartInput, 'codes' | 'currency'>,
  lines: readonly DiscountableLine[],
  now: number
): (CartCode & { scope: CouponScope })[] {
  const combinesPercent = setting(db, 'checkout.combinePercentCoupons')
  const accepted: CouponRow[] = []
  return codes.map(({ path, code }) => {
    const coupon = findCoupon(db, code) ?? null
    const scope = coupon === null ? { productIds: [], categoryIds: [] } : couponScope(db, coupon.id)
    const reason =
      refusalReason(coupon, scope, lines, now) ??
      (coupon === null ? undefined : findCombinationRefusal(coupon, accepted, combinesPercent))
    if (coupon !== null && reason === undefined) accepted.push(coupon)
    const minimumMinor = coupon?.minTotalMinor ?? null
    const minimum = minimumMinor === null ? undefined : toMajor(minimumMinor, currency)
    return { path, code, coupon, scope, refusal: reason === undefined ? null : couponRefusal(path, reason, minimum) }
  })
}

/** A cart in which nothing can be bought says nothing about a code, except whether it is active. */
function refusalReason(
  coupon: CouponRow | null,
  scope: CouponScope,
  lines: readonly DiscountableLine[],
  now: number
): CouponRefusal | undefined {
  if (coupon !== null && lines.length === 0) return inactiveReason(coupon, now)
  return findCouponRefusal(coupon ?? undefined, scope, { lines, now })
}

export type Item = { productId: number; variationId?: number | undefined; quantity: number }

/** One product or variation of the cart. */
export type CartLine = {
  /** The indexes of its items in the request. */
  items: number[]
  productId: number
  /** The one that it buys; as sent if it buys none. */
  variationId: number | null
  quantity: number
  /** Null for a product that the shop does not show. */
  name: string | null
  /** Null if it is not clear what the line buys. */
  unitPriceMinor: number | null
  /** Null if it cannot be bought in any quantity. */
  sellable: Sellable | null
}

/**
 * What the items of a cart buy, and why some of them cannot be bought. Items with the same product and variation
 * are one line.
 */
export function findLines(
  db: Db,
  items: readonly Item[],
  priceOf: PriceOf
): { lines: CartLine[]; refusals: Refusal[] } {
  const refusals: Refusal[] = []
  const lines = new Map<string, CartLine>()
  let cartMinor = 0
  for (const [index, item] of items.entries()) {
    const found = findSellable(db, item.productId, item.variationId ?? null, priceOf)
    const path = `items.${index}`
    const shown = typeof found === 'string' ? findShown(db, item.productId, item.variationId ?? null, priceOf) : null
    const line = typeof found === 'string' ? unsellableLine(item, shown) : sellableLine(found)
    const key = `${line.productId}/${line.variationId ?? ''}`
    const merged = lines.get(key) ?? line
    lines.set(key, merged)
    merged.items.push(index)
    merged.quantity += item.quantity
    if (typeof found === 'string') {
      const refused = unsellableRefusal(found, index, shown)
      if (refused.problem.code === 'choose_variation') refused.problem.choices = choicesOf(db, item.productId, priceOf)
      refusals.push(refused)
      continue
    }
    cartMinor += found.unitPriceMinor * item.quantity
    if (found.stock !== null && merged.quantity > found.stock) {
      const problem = notEnough(`${path}.quantity`, found.name, found.stock)
      refusals.push(refusal(problem, { message: 'There are not enough left in stock.' }))
    } else if (!Number.isSafeInteger(cartMinor)) {
      merged.sellable = null
      const message = `The total is too high. Order less of ${found.name}.`
      refusals.push(refusal({ path: `${path}.quantity`, code: 'total_too_high', message }))
    }
  }
  return { lines: [...lines.values()], refusals }
}

function choicesOf(db: Db, productId: number, priceOf: PriceOf): VariationChoice[] {
  const product = productById(db, productId)
  if (product === undefined) return []
  const terms = { currency: setting(db, 'shop.currency'), lowStock: setting(db, 'store.lowStock') }
  return variationChoices(product, variationsOfProduct(db, productId), terms, priceOf)
}

/** The path of the line's first item. */
export function pathOf({ items }: Pick<CartLine, 'items'>): string {
  return `items.${items[0] ?? 0}`
}

/** The line of the item that a path of the request names (`items.2.quantity`). */
export function lineAt(lines: readonly CartLine[], path: string): CartLine | undefined {
  const [list, index] = path.split('.')
  return list === 'items' && index !== undefined ? lines.find(({ items }) => items.includes(Number(index))) : undefined
}

/** The line of an order, with its share of the discounts. */
export function toNewLine(
  line: CartLine,
  sellable: Sellable,
  { unitPriceMinor, listPriceMinor, amountMinor }: ChargedPrice,
  discountMinor: number
): NewLine {
  return {
    path: pathOf(line),
    productId: line.productId,
    variationId: line.variationId,
    name: sellable.name,
    sku: (sellable.variation ?? sellable.product).sku,
    quantity: line.quantity,
    unitPriceMinor,
    listPriceMinor,
    discountMinor,
    totalMinor: amountMinor - discountMinor,
    type: sellable.type,
    taxClass: sellable.product.taxClass,
    weightGrams: sellable.variation?.weightGrams ?? sellable.product.weightGrams,
    grants: sellable.grants
  }
}

function sellableLine(sellable: Sellable): CartLine {
  const { product, variation, name, unitPriceMinor } = sellable
  const ids = { productId: product.id, variationId: variation?.id ?? null }
  return { ...ids, items: [], quantity: 0, name, unitPriceMinor, sellable }
}

function unsellableLine({ productId, variationId }: Item, shown: Shown | null): CartLine {
  const { name, unitPriceMinor } = shown ?? { name: null, unitPriceMinor: null }
  const ids = { productId, variationId: variationId ?? null }
  return { ...ids, items: [], quantity: 0, name, unitPriceMinor, sellable: null }
}

function unsellableRefusal(reason: UnsellableReason, index: number, shown: Shown | null): Refusal {
  const { field, message } = unsellableReasons[reason]
  // The name of a product that the shop does not show must not get out: it may be a draft.
  const name = shown?.name ?? `Item ${index + 1} of the cart`
  const problem = unsellableProblems[reason](name, shown?.hasVariations === true)
  return refusal({ path: `items.${index}.${field}`, ...problem }, { message })
}

type ProblemOf = (name: string, hasVariations: boolean) => Omit<Problem, 'path'>

const unsellableProblems: Readonly<Record<UnsellableReason, ProblemOf>> = {
  unknown_product: (name) => ({ code: 'unknown_product', message: `${name} does not exist.` }),
  not_published: (name) => ({ code: 'unavailable', message: `${name} is not for sale.` }),
  unknown_variation: (name, hasVariations) =>
    hasVariations
      ? { code: 'choose_variation', message: `Choose a variation of ${name}.` }
      : { code: 'unavailable', message: `${name} does not have this variation.` },
  no_variation: (name) => ({ code: 'choose_variation', message: `Choose a variation of ${name}.` }),
  sold_out: (name) => ({ code: 'sold_out', message: `${name} is sold out.` })
}

/** A cart that a buyer wants to buy, for checkout and quotes alike. */
export type Sale = {
  cart: EvaluatedCart
  /** With the chosen shipping. The total is not final while `shipping.needsMethod`. */
  totals: Totals
  giftCards: CartCard[]
  /** What gift cards leave of the total to be paid. */
  dueMinor: number
  currency: string
  vatCheck: VatCheck | null
  strategy: Strategy
  /** The account that owns the order; null for a guest. */
  userId: number | null
  email: string | null
  /** Whether the email is really the buyer's: a session of the account, or a code that the shop sent to the email. */
  isProven: boolean
  /** The buyer and the addresses as they were sent. */
  sent: Pick<QuoteBody, 'customer' | 'billingAddress' | 'shippingAddress'>
  holder: Pick<Holder, 'buyer' | 'isGuest' | 'addressKey'>
  /** Where to ship to and how, as the request says it. */
  shippingRequest: ShippingRequest
  shipping: ShippingChoice
  /** Buys a product that the customer already subscribes to. */
  subscribeAgain: boolean
  /** Of what is said about its addresses; the labels of their fields differ by country. */
  language: Language
}

/** The shipping methods of a sale, with what each costs in major units. */
export function methodChoices({
  cart,
  shipping,
  currency
}: Pick<Sale, 'cart' | 'shipping' | 'currency'>): MethodChoice[] {
  const costOf = (amountMinor: number): number =>
    toMajor(chargedShipping(cart.terms, { lines: cart.lines, shippingMinor: amountMinor, currency }), currency)
  return shipping.methods.map(({ amountMinor, renewalMinor: _renewal, ...method }) => ({
    ...method,
    amount: costOf(amountMinor)
  }))
}

/** Who buys. */
export type SaleBuyer = Pick<Sale, 'userId' | 'email' | 'isProven' | 'holder' | 'language'>

/** The client of a checkout or a quote. `mailbox` is its proof of a mailbox (`proveMailbox`). */
export type CartCaller = { user: UserRow | null; holder: Holder; mailbox: string | null }

/** The buyer of a request. */
export function buyerOf(
  { keys, language = 'en' }: { keys: Pick<Keys, 'emailToken'>; language?: string },
  body: QuoteBody,
  { user, holder, mailbox }: CartCaller,
  now: number
): SaleBuyer {
  const email = emailOf(body, user)
  const proves = (proof: string, typed: string): boolean => provesMailbox(keys, proof, emailKey(typed), now)
  const isProven = user !== null || (mailbox !== null && email !== null && proves(mailbox, email))
  return { userId: user?.id ?? null, email, isProven, holder, language: baseOf(language) ?? 'en' }
}

/** The sale that a request asks for, with its prices at `now`. */
export function saleOf(db: Db, body: QuoteBody, buyer: SaleBuyer, now: number): Sale {
  const { userId, email } = buyer
  const currency = setting(db, 'shop.currency')
  const customer = { userId, emailKey: email === null ? null : emailKey(email) }
  const vatId = vatIdOf(body)
  const vatCheck = vatCheckOf(db, { vatId, names: namesOfSale(db, body, userId) }, now)
  const taxed = {
    shippingAddress: body.shippingAddress ?? null,
    billingAddress: body.billingAddress ?? null,
    vatId,
    vatCheck,
    shippingMethod: findPickup(db, body.shippingMethod)
  }
  const cart = evaluateCart(db, { items: body.items, codes: sentCodes(body), currency, taxed }, customer, now)
  const strategy = body.strategy ?? defaultStrategy
  const shippingRequest = shippingRequestOf(db, body, strategy)
  const { country, methodId, asksLater } = shippingRequest
  const shipping = shippingChoice(db, cart.lines, { country, methodId, currency, orCheapest: asksLater })
  const shippingMinor = shipping.chosen?.amountMinor ?? 0
  const totals = computeTotals(cart.terms, { lines: cart.lines, shippingMinor, currency })
  const { totalMinor } = totals
  const giftCards = cardsOfCart(db, body.giftCards ?? [], { totalMinor, currency, lines: cart.lines }, now)
  return {
    ...buyer,
    sent: body,
    cart,
    totals,
    giftCards,
    dueMinor: giftCards.reduce((left, { amountMinor }) => left - amountMinor, totalMinor),
    currency,
    vatCheck,
    strategy,
    shippingRequest,
    shipping,
    subscribeAgain: body.subscribeAgain === true
  }
}

function shippingRequestOf(db: Db, body: QuoteBody, strategy: Strategy): ShippingRequest {
  const shipTo = shipToOf(body)
  const known = destinationOf(body)?.country
  const isExplicit = known !== undefined && body.shippingAddress?.country === known
  const asksLater = takesToken(strategy) && setting(db, 'checkout.missingAddress') === 'ask'
  const country = asksLater ? (known ?? setting(db, 'shop.country')) : known
  return { strategy, shipTo, country, isExplicit, methodId: body.shippingMethod, asksLater }
}

/** A logged-in customer's own email; a guest's customer.email, else billingAddress.email. */
export function emailOf(body: QuoteBody, user: UserRow | null): string | null {
  return user === null ? (body.customer?.email ?? body.billingAddress?.email ?? null) : user.email
}

/** The VAT id of a business in its stored form; null if there is none, or if it is not valid. */
export function vatIdOf({ customer }: Pick<QuoteBody, 'customer'>): string | null {
  return readVatId(customer?.vatId ?? '')?.id ?? null
}

/** The names that a buyer gives, among which VIES must find the one of a VAT id. */
function namesOfSale(db: Db, body: QuoteBody, userId: number | null): string[] {
  if (body.customer?.vatId === undefined) return []
  const user = userId === null ? null : (findUserById(db, userId) ?? null)
  return partyNames(body.customer, user, body.billingAddress ?? null, body.shippingAddress ?? null)
}

/** The refusal of a text that is not a VAT id. */
export function vatIdRefusals(vatId: string | undefined): Refusal[] {
  if (vatId === undefined || readVatId(vatId) !== undefined) return []
  const message = 'Enter a VAT id with its country code, such as ATU12345675.'
  return [refusal({ path: 'customer.vatId', code: 'vat_id_invalid', message })]
}

/** Whether the shop requires the email of a guest before a payment by token. */
export function emailRefusals(db: Db, { email, strategy }: Pick<Sale, 'email' | 'strategy'>): Refusal[] {
  if (email !== null || !takesToken(strategy) || setting(db, 'checkout.guestEmail') !== 'required') return []
  const problem = { path: 'customer.email', code: 'email_needed', message: 'Enter an email.' } as const
  return [refusal(problem, { message: 'Is required.' })]
}
