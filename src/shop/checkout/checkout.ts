import { validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { NewUser } from '../accounts/create-user.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { insertOrder } from '../orders/create-order.ts'
import { getOrder } from '../orders/find.ts'
import { recordHolder } from '../orders/holds.ts'
import type { Holder } from '../orders/holds.ts'
import type { NewOrder } from '../orders/create-order.ts'
import type { OrderRow } from '../orders/find.ts'
import { defaultStrategy, strategies, takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { attemptsOf, createAttempt } from '../payments/attempts.ts'
import { payNothing } from '../payments/pay-nothing.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { setting } from '../settings/settings.ts'
import { decideAttribution } from './attribution.ts'
import { sentCodes } from './cart.ts'
import { cartKeyOf, findContinued, ifReleased, replacedOrders } from './earlier-orders.ts'
import { assertMayHold, releaseOrders } from './held-orders.ts'
import { linkOrder } from './idempotency.ts'
import { assertOffered, offersChoice } from './offered-strategies.ts'
import { assertSellable, paymentRefusals, saleRefusals } from './sale-refusals.ts'
import { emailOf, emailRefusals, saleOf, vatIdOf } from './sale.ts'
import type { Claim } from './idempotency.ts'
import type { CheckoutBody, CheckoutQuery } from './input.ts'
import { evaluateCodes } from './evaluate-codes.ts'
import type { Evaluate } from './evaluate-codes.ts'
import { lacksAddress } from './ship-to.ts'
import { toChosenShipping } from './shipping-choice.ts'
import { makeAccount, prepareAccount, readAccountRequest } from './new-account.ts'
import { takeCheckoutPoint } from './checkout-limits.ts'

/** The parsed body and query of a checkout request. */
export type CheckoutInput = { body: CheckoutBody; query: CheckoutQuery }

/** The client of a checkout. */
export type CheckoutCaller = {
  user: UserRow | null
  addressKey: string
  holder: Holder
  /** Stores the Idempotency-Key of the request, after every check that precedes the sale; null without a key. */
  takeKey: (() => Promise<Claim>) | null
}

/** A committed order and its payment attempt. The gateway does not know about it yet. */
export type PlacedOrder = { order: OrderRow; attempt: AttemptRow | null }

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
  const email = emailOf(body, caller.user)
  assertSellable([{ refusals: emailRefusals(shop.db, { email, strategy }) }])
  const accountRequest = caller.user === null ? await readAccountRequest(shop, body.customer, email) : null
  await takeCheckoutPoint(shop, caller.addressKey, strategy)
  const place = async (evaluate: Evaluate): Promise<PlacedOrder> => {
    assertOffered(shop, strategy)
    const cartKey = cartKeyOf(shop, input)
    // The same request, which arrived at the same time, may have made its order by now. It is continued, not replaced.
    const twin = takesToken(strategy) ? undefined : findContinued(shop.db, caller.holder, cartKey, now)
    const replaced = twin === undefined ? replacedOrders(shop.db, caller.holder, body) : []
    // A cart that is refused costs no hash, writes no key, replaces no order, and reveals nothing about the email.
    const mayRefuse = accountRequest !== null || caller.takeKey !== null || replaced.length > 0
    if (twin === undefined && mayRefuse) {
      const buyer = { userId: caller.user?.id ?? null, email, holder: caller.holder }
      const check = (): void => {
        const sale = saleOf(shop.db, body, buyer, now)
        assertSellable(saleRefusals(shop.db, sale, now))
        // The new account may be allowed to use a code that a guest may not use.
        if (accountRequest === null) assertSellable([paymentRefusals(shop, sale)])
      }
      await ifReleased(shop.db, replaced, () => evaluate(check))
    }
    const account = accountRequest === null ? null : await prepareAccount(shop, accountRequest, caller.addressKey)
    const claim = caller.takeKey === null ? null : await caller.takeKey()
    await releaseOrders(shop, replaced)
    const buying = { caller, claim, email, account, strategy, cartKey }
    return writeWhenFree(shop.db, (tx) => evaluate(() => makeOrder(tx, shop, input, buying, now)))
  }
  return sentCodes(body).length === 0 ? place((work) => work()) : evaluateCodes(shop, caller.addressKey, place)
}

type Buying = {
  caller: CheckoutCaller
  claim: Claim | null
  email: string | null
  account: NewUser | null
  strategy: Strategy
  cartKey: string
}

/** Stores the account, order, key and payment attempt in one transaction. */
function makeOrder(tx: Tx, shop: ShopContext, input: CheckoutInput, buying: Buying, now: number): PlacedOrder {
  const { body, query } = input
  const { caller, claim, email, account, strategy, cartKey } = buying
  const twin = takesToken(strategy) ? undefined : findContinued(tx, caller.holder, cartKey, now)
  // A failed one could not be continued: its stock is gone.
  if (twin !== undefined && getOrder(tx, twin).status === 'pending') {
    // The same request arrived twice at the same time.
    if (claim !== null) linkOrder(tx, claim, twin)
    return { order: getOrder(tx, twin), attempt: attemptsOf(tx, twin)[0] ?? null }
  }
  const created = account === null ? null : makeAccount(tx, shop, account, now)
  // The new account does not own the order until its email is verified: anyone can enter an email.
  const userId = caller.user?.id ?? (created?.verificationPending === false ? created.id : null)
  const sale = saleOf(tx, body, { userId, email, holder: caller.holder }, now)
  assertSellable([...saleRefusals(tx, sale, now), paymentRefusals(shop, sale)])
  assertMayHold(tx, caller.holder)
  const emails = [email, caller.user?.billingEmail, body.customer?.email, body.billingAddress?.email]
  const attribution = decideAttribution(tx, query, { userId, emails })
  const fixed = draftOf(shop, body, caller.user, email)
  const { lines, coupons } = sale.cart
  const shipping = toChosenShipping(sale.shipping)
  const { currency } = sale
  const order = insertOrder(tx, { ...fixed, strategy, userId, currency, lines, coupons, shipping, attribution }, now)
  recordHolder(tx, order.id, caller.holder, cartKey)
  if (claim !== null) linkOrder(tx, claim, order.id)
  return startPayment(shop, tx, { order, strategy, lines, needsMethod: sale.shipping.needsMethod }, now)
}

type Placing = { order: OrderRow; strategy: Strategy; lines: NewOrder['lines']; needsMethod: boolean }

function startPayment(shop: ShopContext, tx: Tx, placing: Placing, now: number): PlacedOrder {
  const { order, strategy, lines, needsMethod } = placing
  // Our own page asks how to ship it first, which may cost something.
  if (needsMethod) return { order, attempt: null }
  if (order.totalMinor === 0) return { order: payNothing(tx, order, now), attempt: null }
  const { cards } = shop
  // With manual payment in the list the buyer chooses on our own page first.
  if (cards === null || offersChoice(shop, strategy)) return { order, attempt: null }
  // Our own page asks where to ship to before the gateway's page takes the payment.
  if (!takesToken(strategy) && lacksAddress(tx, lines, order)) return { order, attempt: null }
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
  | 'notes'
  | 'returnUrl'
  | 'cancelUrl'
  | 'holdMinutes'
>

/** What an order takes from the request and the account, without prices. */
export function draftOf(
  shop: Pick<ShopContext, 'db'>,
  body: CheckoutBody,
  user: UserRow | null,
  email: string | null
): FixedPart {
  const { firstName, lastName, phone, companyName } = body.customer ?? {}
  return {
    email,
    contact: present({
      firstName: firstName ?? user?.firstName,
      lastName: lastName ?? user?.lastName,
      phone: phone ?? user?.billingPhone,
      companyName: companyName ?? user?.companyName
    }),
    billingAddress: addressOf(body.billingAddress),
    shippingAddress: addressOf(body.shippingAddress),
    vatId: vatIdOf(body),
    notes: body.notes ?? null,
    returnUrl: body.returnUrl ?? null,
    cancelUrl: body.cancelUrl ?? null,
    holdMinutes: setting(shop.db, 'checkout.holdMinutes')
  }
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
