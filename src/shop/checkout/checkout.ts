import { validationFailed, AppError } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { NewUser } from '../accounts/create-user.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { isVoucher } from '../catalog/product-types.ts'
import { bindCustomer } from '../affiliates/bindings.ts'
import { decideAttribution } from '../orders/attribution.ts'
import { asksDeliveryConsent, lacksDeliveryConsent } from '../declarations/delivery-consent.ts'
import { insertOrder } from '../orders/create-order.ts'
import { holdCards } from '../orders/refunds/credits.ts'
import { getOrder } from '../orders/find.ts'
import { findContinuedOrder, recordHolder } from '../orders/holds.ts'
import type { NewOrder } from '../orders/create-order.ts'
import type { OrderRow } from '../orders/find.ts'
import { defaultStrategy, strategies, takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { attemptsOf, createAttempt, isCovered, payNothing } from '../payments/attempts.ts'
import { currentHoliday, holidayText } from '../settings/holiday.ts'
import { setting, isModuleOn } from '../settings/settings.ts'
import { buyerOf, hasCodes, saleOf, vatIdOf } from './cart.ts'
import type { SaleBuyer } from './cart.ts'
import { cartKeyOf, payPlaced, continueOrder, continuedOrder } from './continue-order.ts'
import {
  assertMayHold,
  cancelReplaced,
  closePaymentsOf,
  findReplaced,
  heldRefusals,
  ifReleased,
  releaseOldestOrders
} from './held-orders.ts'
import { linkOrder } from './idempotency.ts'
import { assertOffered, offersChoice } from './payment-config.ts'
import { allRefusals, assertSellable } from './refusals.ts'
import type { Claim } from './idempotency.ts'
import { readWebAddress } from './input.ts'
import type { CheckoutBody } from './input.ts'
import { withTemplate } from '../payments/gateway-page.ts'
import { evaluateCodes, takeCheckoutPoint, runCardCheckout } from './limits.ts'
import type { Evaluate } from './limits.ts'
import { contactOf } from './address-rules.ts'
import { missingPlace } from './buyer-place.ts'
import { confirmVatId } from '../tax/vat-checks.ts'
import { lacksAddress, toChosenShipping } from './shipping.ts'
import { rememberBuyer } from './remember-buyer.ts'
import { makeAccount, prepareAccount, readAccountRequest } from './new-account.ts'
import type { CheckoutInput, CheckoutCaller, PlacedOrder, ContinuingCaller, StartedPayment } from './continue-order.ts'

/**
 * Continues the buyer's unpaid order (`continuedOrder`), or places a new one, and starts its payment. The buyer's oldest
 * unpaid orders beyond the limit are cancelled.
 *
 * @throws AppError as `placeOrder`, `payPlaced` and `continueOrder`
 */
export function createSession(
  shop: ShopContext,
  input: CheckoutInput,
  caller: ContinuingCaller,
  now: number
): Promise<StartedPayment> {
  const { body } = input
  const { buyer } = caller.holder
  const checkOut = async (): Promise<StartedPayment> => {
    await confirmVatId(shop, vatIdOf(body), caller.addressKey)
    const orderId = continuedOrder(shop, input, caller, now)
    const continued = orderId === undefined ? undefined : await continueOrder(shop, orderId, body, caller)
    if (continued !== undefined) return continued
    const placed = await placeOrder(shop, input, caller, now)
    const result = await payPlaced(shop, placed, body, caller)
    await releaseOldestOrders(shop, buyer)
    return { order: placed.order, result }
  }
  return oncePerCart(shop, input, caller, () =>
    runCardCheckout(shop, caller.addressKey, body.strategy, () => inBuyersTurn(buyer, checkOut))
  )
}

/** The payments by token without an Idempotency-Key that are running, by browser and cart. */
const paying = new Map<string, Promise<StartedPayment>>()

/**
 * Charges a cart once when a browser sends it again, with another token, before it has an answer: the second click of a
 * slow payment. That request waits for the first one and gets its answer. Later, the same cart is a new purchase.
 */
async function oncePerCart(
  shop: ShopContext,
  input: CheckoutInput,
  { browser, takeKey }: ContinuingCaller,
  checkOut: () => Promise<StartedPayment>
): Promise<StartedPayment> {
  if (takeKey !== null || !takesToken(input.body.strategy ?? defaultStrategy)) return checkOut()
  const key = `${browser} ${cartKeyOf(shop, input)}`
  const first = paying.get(key)
  if (first !== undefined) return { ...(await first), isShared: true }
  const payment = checkOut()
  paying.set(key, payment)
  try {
    return await payment
  } finally {
    paying.delete(key)
  }
}

/**
 * Creates the order with its payment attempt and the attempt's idempotency keys, and commits them before the gateway is
 * called. An order with a total of zero is paid immediately.
 *
 * @throws AppError in the order of docs/contract.md A3: VALIDATION_FAILED (addresses), RATE_LIMITED,
 *   CHECKOUT_NOT_IMPLEMENTED, CHECKOUT_GATEWAY_NOT_CONFIGURED, VALIDATION_FAILED (items and coupons), and those of
 *   assertMayHold
 */
export async function placeOrder(
  shop: ShopContext,
  input: CheckoutInput,
  caller: CheckoutCaller,
  now: number
): Promise<PlacedOrder> {
  const { body } = input
  const strategy = body.strategy ?? defaultStrategy
  assertOrigins(shop, body)
  const buyer = buyerOf(shop, body, caller, now)
  const { email } = buyer
  const accountRequest = caller.user === null ? await readAccountRequest(shop, body.customer, email) : null
  await takeCheckoutPoint(shop, caller.addressKey, strategy)
  const place = async (evaluate: Evaluate): Promise<PlacedOrder> => {
    // What gift cards pay as a whole needs no gateway.
    const hasCards = (body.giftCards ?? []).length > 0
    if (!hasCards || saleOf(shop.db, body, buyer, now).dueMinor > 0) assertOffered(shop, strategy)
    const cartKey = cartKeyOf(shop, input)
    // The same request, which arrived at the same time, may have made its order by now. It is continued, not replaced.
    const continued = takesToken(strategy) ? undefined : findContinuedOrder(shop.db, caller.holder, cartKey, now)
    const replaced = continued === undefined ? await findReplaced(shop, caller.holder, body) : []
    // A cart that is refused costs no hash, writes no key, replaces no order, and reveals nothing about the email.
    const mayRefuse = accountRequest !== null || caller.takeKey !== null || replaced.length > 0
    if (continued === undefined && mayRefuse) {
      const check = (): void => {
        // Also with a new account, the rules are those of a guest: they do not depend on whether the email has one.
        const sale = saleOf(shop.db, body, buyer, now)
        assertSellable(allRefusals(shop, shop.db, sale, now), heldRefusals(shop.db, sale, now))
      }
      await ifReleased(shop.db, replaced, () => evaluate(check))
    }
    const account = accountRequest === null ? null : await prepareAccount(shop, accountRequest, caller.addressKey)
    const claim = caller.takeKey === null ? null : await caller.takeKey()
    const buying = { caller, claim, buyer, account, strategy, cartKey, replaced }
    // The older order is given up in the transaction of the new one. After a crash, the buyer has one of the two.
    const placed = await writeWhenFree(shop.db, (tx) => evaluate(() => makeOrder(tx, shop, input, buying, now)))
    await closePaymentsOf(shop, replaced)
    return placed
  }
  return hasCodes(body) ? evaluateCodes(shop, caller.addressKey, place) : place((work) => work())
}

type Buying = {
  caller: CheckoutCaller
  claim: Claim | null
  buyer: SaleBuyer
  account: NewUser | null
  strategy: Strategy
  cartKey: string
  /** The buyer's unpaid orders that the new one replaces. */
  replaced: readonly number[]
}

/** Stores the account, order, key and payment attempt in one transaction. */
function makeOrder(tx: Tx, shop: ShopContext, input: CheckoutInput, buying: Buying, now: number): PlacedOrder {
  const { body, query } = input
  const { caller, claim, buyer, account, strategy, cartKey, replaced } = buying
  const { email } = buyer
  const continued = takesToken(strategy) ? undefined : findContinuedOrder(tx, caller.holder, cartKey, now)
  // A failed one could not be continued: its stock is gone.
  if (continued !== undefined && getOrder(tx, continued).status === 'pending') {
    // The same request arrived twice at the same time.
    if (claim !== null) linkOrder(tx, claim, continued)
    return { order: getOrder(tx, continued), attempt: attemptsOf(tx, continued)[0] ?? null }
  }
  cancelReplaced(tx, replaced, now)
  const created = account === null ? null : makeAccount(tx, shop, account, now)
  // The new account does not own the order until its email is verified: anyone can enter an email.
  const userId = caller.user?.id ?? (created?.verificationPending === false ? created.id : null)
  const sale = saleOf(tx, body, { ...buyer, userId }, now)
  assertSellable(allRefusals(shop, tx, sale, now), heldRefusals(tx, sale, now))
  assertMayHold(tx, sale, now)
  const emails = [email, caller.user?.billingEmail, body.customer?.email, body.billingAddress?.email]
  const fixed = orderFieldsOf(shop, body, caller.user, email)
  const { lines, coupons } = sale.cart
  const attribution = decideAttribution(tx, query, { coupons, buyer: { userId, emails } }, now)
  const shipping = toChosenShipping(sale.shipping)
  const { currency } = sale
  const deliveryConsentAt = body.immediateDelivery === true && asksDeliveryConsent(tx, lines) ? now : null
  const giftRecipient = lines.some(({ type }) => isVoucher(type)) ? (body.giftRecipient ?? null) : null
  const { vatCheck } = sale
  const { ipCountry = null } = caller
  const bought = { strategy, userId, currency, lines, coupons, shipping, attribution, deliveryConsentAt }
  const order = insertOrder(tx, { ...fixed, ...bought, vatCheck, ipCountry, giftRecipient }, now)
  if (caller.user !== null) rememberBuyer(tx, order, now)
  holdCards(
    tx,
    order.id,
    sale.giftCards.flatMap(({ card }) => card?.id ?? []),
    now
  )
  if (created !== null && attribution.credit !== null) bindCustomer(tx, created.id, attribution.credit, now)
  recordHolder(tx, order.id, caller.holder, cartKey)
  if (claim !== null) linkOrder(tx, claim, order.id)
  return startPayment(shop, tx, { order, strategy, lines, needsMethod: sale.shipping.needsMethod }, now)
}

type Placing = { order: OrderRow; strategy: Strategy; lines: NewOrder['lines']; needsMethod: boolean }

function startPayment(shop: ShopContext, tx: Tx, placing: Placing, now: number): PlacedOrder {
  const { order, strategy, lines, needsMethod } = placing
  // Our own page asks how to ship it first, which may cost something.
  if (needsMethod) return { order, attempt: null }
  const { cards } = shop
  // Our own page asks where to ship to, and whether files may be delivered at once, before anything is paid.
  const lacksPlace = lacksAddress(tx, lines, order) || missingPlace(tx, lines, order) !== null
  const asksFirst = !takesToken(strategy) && (lacksPlace || lacksDeliveryConsent(tx, order, lines))
  if (isCovered(tx, cards, order) && (order.totalMinor === 0 || !asksFirst))
    return { order: payNothing(tx, order, now), attempt: null }
  // With manual payment in the list the buyer chooses on our own page first.
  if (cards === null || offersChoice(shop, strategy) || asksFirst) return { order, attempt: null }
  const kind = strategies[strategy].attemptKind
  return { order, attempt: createAttempt(tx, order, { gateway: cards.name, kind, livemode: cards.livemode }, now) }
}

/**
 * Checks the origins of the return URLs. Without the setting, production allows the public URL and SHOPSTEAD_ORIGINS.
 * Otherwise a link to the shop's payment page could send the buyer to another site.
 *
 * @throws AppError VALIDATION_FAILED with each URL whose origin the shop does not allow
 */
function assertOrigins(shop: ShopContext, body: Pick<CheckoutBody, 'returnUrl' | 'cancelUrl'>): void {
  const listed = setting(shop.db, 'checkout.returnOrigins')
  const { env, origins: ownSites } = shop.config
  if (listed.length === 0 && env !== 'production') return
  const origins = listed.length > 0 ? listed : [shop.publicUrl(), ...ownSites]
  const errors: FieldErrors = {}
  for (const field of ['returnUrl', 'cancelUrl'] as const) {
    const url = body[field]
    if (url !== undefined && !origins.includes(new URL(url).origin))
      errors[field] = [`Must have one of these origins: ${origins.join(', ')}.`]
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
}

type FixedPart = Pick<
  NewOrder,
  | 'email'
  | 'contact'
  | 'billingAddress'
  | 'shippingAddress'
  | 'vatId'
  | 'buyerReference'
  | 'notes'
  | 'language'
  | 'returnUrl'
  | 'cancelUrl'
  | 'holdMinutes'
>

/** What an order takes from the request and the account, without prices. */
export function orderFieldsOf(
  shop: Pick<ShopContext, 'db' | 'language'>,
  body: CheckoutBody,
  user: UserRow | null,
  email: string | null
): FixedPart {
  return {
    email,
    contact: contactOf(body.customer, user),
    billingAddress: addressOf(body.billingAddress),
    shippingAddress: addressOf(body.shippingAddress),
    vatId: vatIdOf(body),
    buyerReference: body.buyerReference ?? null,
    notes: body.notes ?? null,
    language: shop.language ?? user?.language ?? null,
    returnUrl: storedUrl(body.returnUrl),
    cancelUrl: storedUrl(body.cancelUrl),
    holdMinutes: setting(shop.db, 'checkout.holdMinutes')
  }
}

function storedUrl(text: string | undefined): string | null {
  const url = text === undefined ? undefined : readWebAddress(text)
  return url === undefined ? null : withTemplate(url)
}

function addressOf(sent: CheckoutBody['billingAddress']): NewOrder['billingAddress'] {
  if (sent === undefined) return null
  const address = present(sent)
  return Object.keys(address).length === 0 ? null : address
}

/** The fields that are not empty. */
function present<T extends Record<string, string | null | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value)) as { [K in keyof T]?: string }
}

/**
 * Checks that the shop sells at the moment, and to this client.
 *
 * @throws AppError CHECKOUT_DISABLED, NOT_AUTHENTICATED for a guest when only customers may buy
 */
export function assertCheckoutOpen({ db }: Pick<ShopContext, 'db'>, user: UserRow | null, now: number): void {
  assertSelling({ db }, user)
  const holiday = currentHoliday(db, now)
  if (holiday !== null) throw new AppError('CHECKOUT_DISABLED', holidayText(holiday))
}

/** Like `assertCheckoutOpen`, for a quote, which says in its problems that there is a holiday. */
export function assertSelling({ db }: Pick<ShopContext, 'db'>, user: UserRow | null): void {
  if (!setting(db, 'checkout.enabled') || !isModuleOn(db, 'commerce')) {
    throw new AppError('CHECKOUT_DISABLED', 'Nothing can be bought at the moment.')
  }
  if (user === null && !setting(db, 'checkout.guest')) {
    throw new AppError('NOT_AUTHENTICATED', 'Please log in before you buy.')
  }
}

/** A checkout that asks a slow gateway does not hold up the buyer's next one for longer. */
const longestWaitMs = 10_000

/** The last checkout of each buyer that has one running. */
const running = new Map<string, Promise<void>>()

/**
 * Runs the checkouts of one buyer one after the other. A checkout replaces the buyer's earlier unpaid orders, so it must see
 * the order of a request that arrived at the same time, such as from a second tab. Otherwise that order would make the
 * same cart sold out. Another server process on the same database does not wait: there, only the same cart is recognised.
 */
export async function inBuyersTurn<T>(buyer: string, checkout: () => Promise<T>): Promise<T> {
  const before = running.get(buyer)
  const work = before === undefined ? checkout() : atMost(longestWaitMs, before).then(checkout)
  const end = work.then(ignore, ignore)
  running.set(buyer, end)
  try {
    return await work
  } finally {
    if (running.get(buyer) === end) running.delete(buyer)
  }
}

function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function ignore(): void {}
