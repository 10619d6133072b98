import { isTooSmallForCard, belowMinimum } from './refusals.ts'
import { AppError, validationFailed } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Tx, Db } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import { formatMoney } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { isNamed, namesOf, partyNames } from '../orders/address.ts'
import type { Address } from '../orders/address.ts'
import { findCard } from '../gift-cards/cards.ts'
import { isCardCode } from '../gift-cards/code.ts'
import { creditsOf, dueMinor, holdCards } from '../orders/refunds/credits.ts'
import { cardsOfCart } from './gift-cards.ts'
import { extendHold } from '../orders/holds.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import { lacksDeliveryConsent } from '../declarations/delivery-consent.ts'
import { forgetBuyerEmail, recordBuyerEmail, recordContact, recordDeliveryConsent } from '../orders/buyer.ts'
import type { OrderRow } from '../orders/find.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { moveOrder } from '../orders/transition.ts'
import { asksCard, attemptsOf, createAttempt, isCovered, payNothing } from '../payments/attempts.ts'
import { offerCheckoutPage, shortestPageMs } from '../payments/gateway-page.ts'
import { isReady, readyGateway } from '../payments/gateway.ts'
import { callOff } from '../payments/gateway-state.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { settleAttempt } from '../payments/settle.ts'
import { buyerStatusOf, isPayable, openPageOf, canTakeCoupon } from './buyer-status.ts'
import { lacksRecipient, recipientNeeded } from './address-rules.ts'
import { missingPlace, placeColumn } from './buyer-place.ts'
import { chooseShipping, lacksMethod, repriceShipping, lacksAddress } from './shipping.ts'
import { hasCustomerLimit, limitsCustomers } from '../orders/coupon-uses.ts'
import { addCoupon, couponFor, setVatId, storeVatCheck } from '../orders/reprice-order.ts'
import { cartRefused, couponsRefused } from '../orders/problems.ts'
import { evaluateCodes } from './limits.ts'
import { hasProvenEmail, isBuyerOf, mayChange, notTheBuyer } from './order-visitor.ts'
import type { Visitor } from './order-visitor.ts'
import { rememberBuyer } from './remember-buyer.ts'
import { readVatId } from '../../platform/vat.ts'
import { mayReverseCharge } from '../tax/terms.ts'
import { confirmVatId, vatCheckOf, withNames } from '../tax/vat-checks.ts'
import { findPickup } from '../shipping/zones.ts'
import { keysOf } from '../../platform/typed.ts'

type Method = {
  isOffered: (shop: ShopContext, order: OrderRow) => boolean
  start: (tx: Tx, shop: ShopContext, orders: Corrected, now: number) => AttemptRow | null
}

/** An order, and what it was before the buyer's input was recorded. */
type Corrected = { before: OrderRow; order: OrderRow }

/** What the hosted page can offer; cards have a minimum charge, and an order that costs nothing is only confirmed. */
const paymentMethods = {
  card: {
    isOffered: (shop, order) => {
      const totalMinor = dueMinor(shop.db, order)
      if (totalMinor === 0) return asksCard(shop.db, shop.cards, order)
      return isReady(shop.cards) && !isTooSmallForCard(shop, { ...order, totalMinor })
    },
    start: payByCard
  },
  manual: {
    isOffered: ({ db, config }, order) => dueMinor(db, order) > 0 && config.payments.includes('manual'),
    start: payByHand
  },
  free: {
    isOffered: ({ db, cards }, order) => isCovered(db, cards, order),
    start: confirmFree
  }
} as const satisfies Record<string, Method>

export type PaymentMethod = keyof typeof paymentMethods

/** What the buyer filled in on the hosted page. */
export type PaymentChoice = {
  method: PaymentMethod
  email: string | null
  firstName: string | null
  lastName: string | null
  /** Where to ship to, if the form asked for it. */
  address?: Address | undefined
  /** The id of the shipping method, if the form asked for it. */
  shippingMethod?: string | undefined
  /** Whether the buyer agrees that files are delivered at once. */
  immediateDelivery?: boolean
  /** For the electronic invoice of a business, if the form asked for it. */
  buyerReference?: string | null
  /** What the form said is to pay; a higher amount is shown again before the buyer orders. */
  shownDueMinor?: number | undefined
  /** The buyer corrects what the order already has. Otherwise the order keeps it. */
  replaces?: boolean
}

/** The payment methods that the hosted page offers for an order. */
export function offeredMethods(shop: ShopContext, order: OrderRow): PaymentMethod[] {
  const names = keysOf(paymentMethods)
  return names.filter((name) => paymentMethods[name].isOffered(shop, order))
}

/**
 * Starts the payment that the buyer chose on the hosted page. One transaction decides: of a double click, the first
 * creates the attempt and the second finds it. An order that is paid, on hold or over stays as it is.
 *
 * @returns the gateway's page to pay on; null if the buyer has nothing to pay there
 * @throws AppError NOT_AUTHENTICATED when a visitor who is not the buyer changes what the order has, VALIDATION_FAILED (`email`, `country` without an address, `firstName` without a recipient, `immediateDelivery`, `shipping_method`, `payment_method`, `total`), TRANSITION_REFUSED when a failed order's stock is no longer available, CHECKOUT_FAILED
 */
export async function choosePayment(
  shop: ShopContext,
  orderId: number,
  choice: PaymentChoice,
  visitor: Visitor
): Promise<string | null> {
  const attempt = await writeWhenFree(shop.db, (tx) => decide(tx, shop, orderId, { ...choice, visitor }))
  if (attempt === null) return null
  const areClosed = await closeOtherPages(shop, attempt)
  if (attempt.kind !== 'checkout_session') return null
  // Two open pages could be paid twice.
  if (!areClosed) throw new AppError('CHECKOUT_FAILED', notAvailable, {}, { status: 502 })
  return attempt.url ?? openPage(shop, attempt)
}

function decide(tx: Tx, shop: ShopContext, orderId: number, choice: Chosen): AttemptRow | null {
  const now = shop.clock.now()
  const order = getOrder(tx, orderId)
  if (!isPayable(tx, order, buyerStatusOf(tx, order, now), now)) return null
  if (changesOrder(tx, order, choice)) assertBuyer(tx, shop, order, choice.visitor, now)
  const isBuyer = isBuyerOf({ db: tx, keys: shop.keys }, order, choice.visitor, now)
  recordBuyer(tx, order, choice, isBuyer, now)
  const known = compareNames(tx, getOrder(tx, orderId), now)
  // Whatever the form left out: goods are not paid before they have a place to go to.
  const { shippingMethod: methodId } = choice
  const shippingMethod = methodId === undefined ? known.shippingMethod : (findPickup(tx, methodId) ?? null)
  if (lacksAddress(tx, itemsOf(tx, orderId), { ...known, shippingMethod }))
    throw validationFailed({ country: ['Please enter the address to ship to.'] })
  if (lacksRecipient(tx, { ...known, shippingMethod })) throw validationFailed({ firstName: [recipientNeeded] })
  assertPlace(tx, shop, { ...known, shippingMethod })
  if (lacksDeliveryConsent(tx, known, itemsOf(tx, orderId))) {
    if (choice.immediateDelivery !== true)
      throw validationFailed({ immediateDelivery: ['Please agree, so that we can deliver the files at once.'] })
    recordDeliveryConsent(tx, orderId, now)
  }
  const shipped = chooseShipping(tx, { before: order, order: known }, choice.shippingMethod, now)
  assertShown(shop, shipped, choice)
  return paymentMethods[choice.method].start(tx, shop, { before: order, order: shipped }, now)
}

/** @throws AppError VALIDATION_FAILED (`country`, `firstName`) for an order without the place that its tax depends on */
function assertPlace(tx: Tx, { cards }: ShopContext, order: OrderRow): void {
  const isFree = order.totalMinor === 0 && !asksCard(tx, cards, order)
  const missing = isFree ? null : missingPlace(tx, itemsOf(tx, order.id), order)
  if (missing === 'country') throw validationFailed({ country: ['Please choose your country.'] })
  if (missing === null) return
  if (!isNamed(order.contact, order.billingAddress, order.shippingAddress))
    throw validationFailed({ firstName: ['Please enter the name of your company, or your name.'] })
  throw validationFailed({ country: ['Please enter the address of your company.'] })
}

/**
 * Compares the name that the buyer gave with the registered one of their VAT id.
 *
 * @throws AppError VALIDATION_FAILED (`vatId`) if it is another one, unless the shop flags such an order
 */
function compareNames(tx: Tx, order: OrderRow, now: number): OrderRow {
  const { id, vatId, vatCheck } = order
  if (vatCheck === null || !vatCheck.accepted) return order
  const compared = withNames(tx, vatCheck, namesOfOrder(order))
  if (compared.outcome === vatCheck.outcome) return order
  if (!compared.accepted)
    throw validationFailed({
      vatId: ['This VAT id is registered to another name. Enter the name as it is registered, or remove the VAT id.']
    })
  storeVatCheck(tx, id, { vatId, vatCheck: compared }, now)
  return { ...order, vatCheck: compared }
}

function namesOfOrder({ contact, billingAddress, shippingAddress }: OrderRow): string[] {
  return partyNames(contact, billingAddress, shippingAddress)
}

/** A choice, and the visitor who made it. */
type Chosen = PaymentChoice & { visitor: Visitor }

/**
 * Whether a choice changes what an order has. Anyone with its link may add what is missing and pay by card, as a friend of
 * the buyer does; a transfer keeps the buyer from paying by card.
 */
function changesOrder(tx: Tx, order: OrderRow, choice: Chosen): boolean {
  const { method, replaces = false, address, shippingMethod } = choice
  const items = itemsOf(tx, order.id)
  const isMissing = lacksAddress(tx, items, order) || missingPlace(tx, items, order) !== null
  const isOtherAddress = address !== undefined && !isMissing
  const isOtherShipping = shippingMethod !== undefined && order.shippingMethod !== null
  return replaces || method === 'manual' || isOtherAddress || isOtherShipping
}

/** @throws AppError NOT_AUTHENTICATED */
function assertBuyer(tx: Tx, { keys }: ShopContext, order: OrderRow, visitor: Visitor, now: number): void {
  if (!mayChange({ db: tx, keys }, order, visitor, now)) throw notTheBuyer()
}

/**
 * The buyer confirms to pay more than the form said, also because a gift card pays less. The gateway's page shows the total itself.
 *
 * @throws AppError VALIDATION_FAILED (`payment_method`, `total`)
 */
function assertShown(shop: ShopContext, order: OrderRow, { method, shownDueMinor }: PaymentChoice): void {
  const amountMinor = dueMinor(shop.db, order)
  if (!paymentMethods[method].isOffered(shop, order))
    throw validationFailed({ payment_method: ['Please choose a payment method.'] })
  if (method === 'card' || shownDueMinor === undefined || amountMinor <= shownDueMinor) return
  const amount = formatMoney(amountMinor, order.currency)
  throw validationFailed({
    total: [`With this address and shipping, you pay ${amount}. Press the button below to order.`]
  })
}

function recordBuyer(tx: Tx, order: OrderRow, choice: PaymentChoice, isBuyer: boolean, now: number): void {
  recordEmail(tx, order, choice, now)
  const { firstName, lastName, address, buyerReference = null, replaces = false } = choice
  const buyerName = { ...(firstName === null ? {} : { firstName }), ...(lastName === null ? {} : { lastName }) }
  const contact = replaces ? { ...order.contact, ...buyerName } : { ...buyerName, ...order.contact }
  const column = placeColumn(itemsOf(tx, order.id))
  const place = address === undefined ? {} : { [column]: { ...namesOf(order[column]), ...buyerName, ...address } }
  const reference = replaces ? buyerReference : (order.buyerReference ?? buyerReference)
  recordContact(tx, order.id, { contact, buyerReference: reference, ...place }, now)
  // Others may have the link of the order, and pay for its buyer.
  if (isBuyer) rememberBuyer(tx, getOrder(tx, order.id), now)
}

/** The email of an account's order is the account's. */
function recordEmail(tx: Tx, order: OrderRow, { email, replaces = false }: PaymentChoice, now: number): void {
  if (order.email === null && email === null) throw validationFailed({ email: ['Please enter an email address.'] })
  if (email === null || email === order.email) return
  // The code of one customer counts for the email that was proven.
  if (order.userId === null && hasCustomerLimit(tx, order.id))
    throw validationFailed({
      email: ['The coupon code of this order belongs to its email. To use another email, please order again.']
    })
  if (replaces) forgetBuyerEmail(tx, order.id, now)
  recordBuyerEmail(tx, order.id, email, now)
}

/** Continues on the open page, unless it was opened with another email, address or shipping, or something else is due now. */
function payByCard(tx: Tx, shop: ShopContext, { before, order }: Corrected, now: number): AttemptRow {
  const { name, livemode } = readyGateway(shop)
  const open = openPageOf(tx, order.id)
  const isSame = open?.amountMinor === dueMinor(tx, order) && pageDetails(before) === pageDetails(order)
  if (open?.gateway === name && isSame) return open
  const pending = moveOrder(tx, order.id, 'pending', { by: 'buyer', reason: 'pays again' }, now)
  // The hold lasts at least as long as the page, so that it does not end while the buyer pays.
  const held = extendHold(tx, pending, now + shortestPageMs)
  return createAttempt(tx, held, { gateway: name, kind: 'checkout_session', livemode }, now)
}

/** What the gateway's page knows about the buyer and the shipping. */
function pageDetails({ email, contact, shippingAddress, shippingMethod }: OrderRow): string {
  return JSON.stringify([email, contact, shippingAddress, shippingMethod])
}

function payByHand(tx: Tx, _shop: ShopContext, { order }: Corrected, now: number): AttemptRow {
  const attempt = createAttempt(tx, order, { gateway: 'manual', kind: 'manual', livemode: false }, now)
  moveOrder(tx, order.id, 'on-hold', { by: 'buyer', reason: 'pays by hand' }, now)
  return attempt
}

function confirmFree(tx: Tx, _shop: ShopContext, { order }: Corrected, now: number): null {
  payNothing(tx, order, now)
  return null
}

const notAvailable =
  'Card payments are not available at the moment. Please try again in a minute, or choose another payment method.'

/** @throws AppError CHECKOUT_FAILED with a message for the buyer, VALIDATION_FAILED (`email`) */
async function openPage(shop: ShopContext, attempt: AttemptRow): Promise<string> {
  try {
    return await offerCheckoutPage(shop, attempt)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'VALIDATION_FAILED') throw await askForAnotherEmail(shop, attempt.orderId)
    if (error.code !== 'CHECKOUT_FAILED') throw error
    throw new AppError('CHECKOUT_FAILED', notAvailable, {}, { status: error.status, cause: error })
  }
}

/** The gateway rejects the email. The page asks a guest for another one. */
async function askForAnotherEmail(shop: ShopContext, orderId: number): Promise<AppError> {
  if (getOrder(shop.db, orderId).userId !== null) {
    const message =
      'The email address of your account cannot be used for card payments. Please change it in your account, or choose another payment method.'
    return new AppError('CHECKOUT_FAILED', message, {}, { status: 422 })
  }
  await writeWhenFree(shop.db, (tx) => forgetBuyerEmail(tx, orderId, shop.clock.now()))
  return validationFailed({ email: ['Cannot be used for card payments. Please enter another address.'] })
}

/**
 * Closes the other card pages of the attempt's order, so that it cannot be paid twice. If that fails, the reconciler closes
 * them.
 *
 * @returns whether all are closed
 */
async function closeOtherPages(shop: ShopContext, { id, orderId }: AttemptRow): Promise<boolean> {
  const open = attemptsOf(shop.db, orderId).filter(
    (row) => row.outcome === null && row.kind === 'checkout_session' && row.id !== id
  )
  if (open.length === 0) return true
  if (!isReady(shop.cards)) return false
  let areClosed = true
  for (const attempt of open) {
    try {
      const state = await callOff(await shop.cards.client(), attempt)
      if (state !== undefined) await settleAttempt(shop, attempt.id, state, 'checkout')
    } catch (error) {
      areClosed = false
      shop.log.warn('a payment page could not be closed', { orderId, error: describeError(error) })
    }
  }
  return areClosed
}

/** The code of a coupon or a gift card that a buyer typed on the hosted page, with the email beside it. */
export type TypedCode = { code: string; email: string | null }

/**
 * Applies the code that a buyer typed on the hosted page. If the order then costs nothing, it is paid, unless the buyer
 * has to say where to ship it. An order that cannot be paid any more stays as it is.
 *
 * @returns whether a guest has to prove the email of the order first, because the code has a limit for each customer; an
 *   order without an email then has the typed one
 * @throws AppError NOT_AUTHENTICATED for a visitor who is not the buyer, VALIDATION_FAILED (`coupon`, `email`), RATE_LIMITED
 */
export function takeCoupon(
  shop: ShopContext,
  orderId: number,
  typed: TypedCode,
  { addressKey, visitor }: { addressKey: string; visitor: Visitor }
): Promise<{ needsProof: boolean }> {
  return evaluateCodes(shop, addressKey, (evaluate) =>
    writeWhenFree(shop.db, (tx) => evaluate(() => ({ needsProof: !apply(tx, shop, orderId, { ...typed, visitor }) })))
  )
}

/** Returns false if the guest has to prove the email first. */
function apply(
  tx: Tx,
  shop: ShopContext,
  orderId: number,
  { code, email, visitor }: TypedCode & { visitor: Visitor }
): boolean {
  const now = shop.clock.now()
  const before = getOrder(tx, orderId)
  if (!isPayable(tx, before, buyerStatusOf(tx, before, now), now)) return true
  assertBuyer(tx, shop, before, visitor, now)
  if (!canTakeCoupon(tx, before)) {
    throw validationFailed({ coupon: ['A payment has started, so the total can no longer change.'] })
  }
  if (isCardCode(code)) {
    holdTypedCard(tx, before, code, now)
    return true
  }
  const coupon = couponFor(tx, before, code, now)
  if (coupon === null) return true
  if (before.userId === null && limitsCustomers(coupon)) {
    if (before.email === null && email === null)
      throw validationFailed({ email: ['Please enter your email address to use this code.'] })
    const known = email === null ? before : recordBuyerEmail(tx, orderId, email, now)
    if (!hasProvenEmail(shop, known, visitor, now)) return false
  }
  addToOrder(tx, shop, { order: getOrder(tx, orderId), coupon }, now)
  return true
}

/** Lets a gift card pay what it can. The buyer confirms the order, or pays the rest. */
function holdTypedCard(tx: Tx, { id, totalMinor, currency }: OrderRow, code: string, now: number): void {
  const lines = itemsOf(tx, id)
  const card = findCard(tx, code)
  if (card !== undefined && creditsOf(tx, id).some((held) => held.card?.id === card.id)) return
  const [found] = cardsOfCart(tx, [code], { totalMinor, currency, lines }, now)
  if (found === undefined) return
  if (found.refusal !== null) throw couponsRefused({ coupon: [found.refusal.problem.message] })
  holdCards(tx, id, found.card === null ? [] : [found.card.id], now)
}

type Applied = { order: OrderRow; coupon: CouponRow }

function addToOrder(tx: Tx, shop: ShopContext, { order: before, coupon }: Applied, now: number): void {
  settleTotal(tx, shop, repriceShipping(tx, addCoupon(tx, before, coupon, now), now), 'coupon', now)
}

/**
 * Checks that an unpaid order whose total has changed can be paid, and pays it if nothing is due.
 *
 * @throws AppError as assertPayable
 */
export function settleTotal(tx: Tx, shop: ShopContext, order: OrderRow, path: string, now: number): void {
  // The total is not final while the shipping is missing.
  if (lacksMethod(tx, order)) return
  assertPayable(shop, order, path)
  if (!isCovered(tx, shop.cards, order) || lacksAddress(tx, itemsOf(tx, order.id), order)) return
  payNothing(tx, order, now)
}

/** @throws AppError VALIDATION_FAILED (`path`) for an order with less to pay than a card can, if there is no other way to pay */
export function assertPayable(shop: ShopContext, order: OrderRow, path: string): void {
  const totalMinor = dueMinor(shop.db, order)
  if (offeredMethods(shop, order).length === 0 && isTooSmallForCard(shop, { ...order, totalMinor }))
    throw cartRefused([belowMinimum(order, path)])
}

/** Whether the hosted page asks for the VAT id of a business: it can change the tax, and no payment has started. */
export function takesVatId(db: Db, order: OrderRow): boolean {
  return mayReverseCharge(db) && canTakeCoupon(db, order)
}

/** Whether a text is the VAT id that an order has. A text with a mistake is not. */
export function isVatIdOf(order: OrderRow, text: string): boolean {
  return readVatId(text)?.id === order.vatId
}

/**
 * Stores the VAT id that a buyer typed on the hosted page, or removes it, and computes the taxes again. An order that cannot
 * be paid any more stays as it is.
 *
 * @throws AppError NOT_AUTHENTICATED for a visitor who is not the buyer, VALIDATION_FAILED (`vatId`)
 */
export async function takeVatId(
  shop: ShopContext,
  orderId: number,
  text: string,
  { addressKey, visitor, name }: { addressKey: string; visitor: Visitor; name: string }
): Promise<void> {
  const vatId = readVatId(text)?.id ?? null
  if (vatId === null && text.trim() !== '')
    throw validationFailed({ vatId: ['Please enter a VAT id with its country code, such as ATU12345675.'] })
  await confirmVatId(shop, vatId, addressKey)
  await writeWhenFree(shop.db, (tx) => {
    const now = shop.clock.now()
    const before = getOrder(tx, orderId)
    if (!isPayable(tx, before, buyerStatusOf(tx, before, now), now)) return
    assertBuyer(tx, shop, before, visitor, now)
    if (!takesVatId(tx, before))
      throw validationFailed({ vatId: ['A payment has started, so the total can no longer change.'] })
    const vatCheck = vatCheckOf(tx, { vatId, names: [...namesOfOrder(before), name] }, now)
    const order = repriceShipping(tx, setVatId(tx, before, { vatId, vatCheck }, now), now)
    assertPayable(shop, order, 'vatId')
  })
}
