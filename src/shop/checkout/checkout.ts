import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { createUser } from '../accounts/create-user.ts'
import { findUserByEmail } from '../accounts/find.ts'
import { checkPassword } from '../accounts/password-rules.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { insertOrder } from '../orders/create-order.ts'
import type { OrderDraft } from '../orders/draft.ts'
import { payOrder } from '../orders/pay-order.ts'
import type { OrderRow } from '../orders/rows.ts'
import { createAttempt, updateAttempt } from '../payments/attempts.ts'
import { isReady } from '../payments/gateway.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { rateLimit, setting } from '../settings/settings.ts'
import { decideAttribution } from './attribution.ts'
import { CouponsRefused, givenCodes, priceCart } from './cart.ts'
import { tieOrder } from './idempotency.ts'
import type { Claim } from './idempotency.ts'
import type { CheckoutBody, CheckoutQuery } from './input.ts'
import { checkReturnUrl } from './return-url.ts'

export type Strategy = OrderDraft['strategy']

/** Who asks for a checkout, and from where. */
export type CheckoutCaller = { user: UserRow | null; addressKey: string; claim: Claim | null }

/** An order that has been committed and how it is going to be paid; the gateway has not heard of it yet. */
export type PlacedOrder = { order: OrderRow; attempt: AttemptRow | null }

/**
 * Makes the order: everything is decided and committed, with its payment attempt and that attempt's keys, before any
 * gateway is called. A total of zero is paid at once.
 *
 * @throws AppError in the order of CONTRACT A3: VALIDATION_FAILED (addresses), RATE_LIMITED, CHECKOUT_NOT_IMPLEMENTED,
 *   CHECKOUT_GATEWAY_NOT_CONFIGURED, VALIDATION_FAILED (items and coupons).
 */
export async function placeOrder(
  shop: ShopContext,
  { body, query }: { body: CheckoutBody; query: CheckoutQuery },
  caller: CheckoutCaller,
  now: number
): Promise<PlacedOrder> {
  const strategy = body.strategy ?? 'redirect_to_store'
  const urls = checkUrls(shop, body)
  const email = buyerEmail(shop, body, caller.user, strategy)
  await takePoint(shop, caller, 'checkout_ip')
  if (strategy === 'token_handoff') await refuseCardTesting(shop, caller)
  assertOffered(shop, strategy)
  const draft = { ...draftOf(shop, body, caller.user, email), ...urls, strategy }
  const account = await newAccount(shop, body, caller.user, email)
  try {
    return write(shop.db, (tx) => {
      const created = account === null ? null : createUser(tx, account, now)
      const owner = created?.verificationPending === true ? null : created
      const userId = caller.user?.id ?? owner?.id ?? null
      const buyer = { userId, emailKey: email === null ? null : compareKey(email) }
      const currency = setting(tx, 'shop.currency')
      const cart = priceCart(tx, { items: body.items, codes: givenCodes(body), currency }, buyer, now)
      const emails = [email, caller.user?.billingEmail, body.customer?.email, body.billingAddress?.email]
      const attribution = decideAttribution(tx, query, { userId, emails })
      const order = insertOrder(tx, { ...draft, userId, currency, ...cart, attribution }, now)
      if (caller.claim !== null) tieOrder(tx, caller.claim, order.id)
      return startPayment(shop, tx, order, strategy, now)
    })
  } catch (error) {
    if (error instanceof AppError && error.cause instanceof CouponsRefused)
      await takePoint(shop, caller, 'coupon_failure')
    throw error
  }
}

function startPayment(
  shop: ShopContext,
  tx: Parameters<typeof createAttempt>[0],
  order: OrderRow,
  strategy: Strategy,
  now: number
): PlacedOrder {
  if (order.totalMinor === 0) {
    const free = createAttempt(tx, order, { gateway: 'none', kind: 'none', livemode: false }, now)
    updateAttempt(tx, free.id, { outcome: 'paid', gatewayStatus: 'not_required', settledAt: now }, now)
    return { order: payOrder(tx, order.id, { by: 'checkout', reason: 'nothing to pay' }, now), attempt: null }
  }
  const { cards } = shop
  // With manual payment in the list the buyer chooses on our own page first.
  if (cards === null || offersChoice(shop, strategy)) return { order, attempt: null }
  const kind = strategy === 'token_handoff' ? 'payment_intent' : 'checkout_session'
  return { order, attempt: createAttempt(tx, order, { gateway: cards.name, kind, livemode: cards.livemode }, now) }
}

/** Whether the buyer is sent to Shopstead's own page, which offers each way to pay. */
export function offersChoice(shop: ShopContext, strategy: Strategy): boolean {
  return strategy === 'redirect_to_store' && shop.config.payments.includes('manual')
}

function assertOffered(shop: ShopContext, strategy: Strategy): void {
  if (strategy === 'token_handoff' && shop.cards === null) {
    throw new AppError('CHECKOUT_NOT_IMPLEMENTED', 'This shop takes no cards, so token_handoff is not offered.')
  }
  if (!offersChoice(shop, strategy) && !isReady(shop.cards)) {
    throw new AppError('CHECKOUT_GATEWAY_NOT_CONFIGURED', 'Card payments are not set up yet.')
  }
}

function checkUrls(shop: ShopContext, body: CheckoutBody): { returnUrl: string | null; cancelUrl: string | null } {
  const origins = setting(shop.db, 'checkout.returnOrigins')
  return {
    returnUrl: checkReturnUrl('returnUrl', body.returnUrl, origins),
    cancelUrl: checkReturnUrl('cancelUrl', body.cancelUrl, origins)
  }
}

/** A logged-in customer's own email; a guest's customer.email, else billingAddress.email. */
function buyerEmail(shop: ShopContext, body: CheckoutBody, user: UserRow | null, strategy: Strategy): string | null {
  if (user !== null) return user.email
  const email = body.customer?.email ?? body.billingAddress?.email ?? null
  const needed = strategy === 'token_handoff' && setting(shop.db, 'checkout.guestEmail') === 'required'
  if (email === null && needed) throw validationFailed({ 'customer.email': ['Is required.'] })
  return email
}

type FixedPart = Pick<OrderDraft, 'email' | 'contact' | 'billingAddress' | 'shippingAddress' | 'notes' | 'holdMinutes'>

function draftOf(shop: ShopContext, body: CheckoutBody, user: UserRow | null, email: string | null): FixedPart {
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
    notes: body.notes ?? null,
    holdMinutes: setting(shop.db, 'checkout.holdMinutes')
  }
}

function addressOf(given: CheckoutBody['billingAddress']): OrderDraft['billingAddress'] {
  if (given === undefined) return null
  const address = present(given)
  return Object.keys(address).length === 0 ? null : address
}

/** The fields that hold something. */
function present<T extends Record<string, string | null | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value)) as { [K in keyof T]?: string }
}

/**
 * The account that a guest asks for along with the order, its password hashed: slow work is done before the
 * transaction. Undefined and switched-off requests make none.
 */
async function newAccount(
  shop: ShopContext,
  body: CheckoutBody,
  user: UserRow | null,
  email: string | null
): Promise<Parameters<typeof createUser>[1] | null> {
  const wanted = user === null && body.customer?.createAccount === true && setting(shop.db, 'checkout.accountCreation')
  if (!wanted) return null
  if (email === null) throw validationFailed({ 'customer.email': ['Is required for an account.'] })
  const password = body.customer?.password
  if (password === undefined || password === '')
    throw validationFailed({ 'customer.password': ['Is required for an account.'] })
  const displayName =
    [body.customer?.firstName, body.customer?.lastName].filter(Boolean).join(' ') || (email.split('@')[0] ?? email)
  const broken = await checkPassword(password, {
    email,
    displayName,
    shopName: setting(shop.db, 'shop.name'),
    minLength: setting(shop.db, 'registration.passwordMinLength')
  })
  if (broken.length > 0) throw validationFailed({ 'customer.password': ['Is too easy to guess or too short.'] })
  if (findUserByEmail(shop.db, email) !== undefined)
    throw validationFailed({ 'customer.email': ['Cannot be used for a new account.'] })
  const verificationPending = setting(shop.db, 'registration.emailVerification')
  return {
    email,
    displayName,
    passwordHash: await shop.passwords.hash(password),
    firstName: body.customer?.firstName ?? null,
    lastName: body.customer?.lastName ?? null,
    marketingOptIn: false,
    verified: false,
    verificationPending,
    termsAcceptedAt: null,
    privacyAcceptedAt: null
  }
}

async function takePoint(
  shop: ShopContext,
  caller: CheckoutCaller,
  bucket: 'checkout_ip' | 'coupon_failure'
): Promise<void> {
  const verdict = await shop.limiter.consume(bucket, caller.addressKey, rateLimit(shop.db, bucket))
  if (!verdict.allowed) throw rateLimited(bucket, verdict.retryAfterSeconds)
}

/** Cards that keep being declined from one address are somebody trying out stolen numbers. */
async function refuseCardTesting(shop: ShopContext, caller: CheckoutCaller): Promise<void> {
  const verdict = await shop.limiter.peek('checkout_decline', caller.addressKey, rateLimit(shop.db, 'checkout_decline'))
  if (!verdict.allowed) throw rateLimited('checkout_decline', verdict.retryAfterSeconds)
}

export function rateLimited(bucket: string, retryAfterSeconds: number): AppError {
  return new AppError(
    'RATE_LIMITED',
    'Too many attempts; please wait a little.',
    { bucket },
    { headers: { 'Retry-After': String(retryAfterSeconds) } }
  )
}
