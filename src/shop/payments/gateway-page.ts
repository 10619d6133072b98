import { setTimeout as sleep } from 'node:timers/promises'
import type Stripe from 'stripe'
import { writeWhenFree } from '../../platform/db/database.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Pictured } from '../catalog/public/image.ts'
import type { ShopContext } from '../context.ts'
import { creditedMinor } from '../orders/refunds/credits.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { getAttempt, takeUpAttempt, unanswered, updateAttempt, attemptsOf } from './attempts.ts'
import {
  startDeadline,
  checkoutFailed,
  emailRefused,
  isRunningAlready,
  readGatewayError,
  readyGateway
} from './gateway.ts'
import type { Deadline } from './gateway.ts'
import { stateOfSession, metadataOf, callOff } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { failAttempt, settleAttempt } from './settle.ts'
import { methodConfiguration, paymentDetails, keyFor, payAsCustomer, gatewayEmail } from './gateway-customer.ts'
import type { Db } from '../../platform/db/database.ts'
import { recurringOfOrder, subscriptionInterval } from '../orders/renewal-order.ts'
import type { Recurring } from '../orders/renewal-order.ts'
import { lineAmountMinor, taxesOfOrder } from '../orders/totals.ts'
import type { TaxLine } from '../tax/terms.ts'
import { rateLabel } from '../tax/terms.ts'
import { methodLabel } from '../shipping/zones.ts'
import { inLanguage, wordsOf } from '../settings/language.ts'
import { followsEuLaw } from '../settings/law.ts'
import { lawLinks } from '../settings/law-pages.ts'

/** Stripe accepts 30 minutes to 24 hours; one minute of margin covers a slow call. */
export const shortestPageMs = 31 * 60_000
const longestPageMs = 24 * 60 * 60_000 - 60_000
/** How long one click waits for the page that another click is opening. */
const pageWaitMs = 5_000

/**
 * The address of the gateway's payment page for an attempt; creates the page if there is none yet. A refused page fails
 * the order; a page that may exist is left to the reconciler. Concurrent calls get the same page.
 *
 * @throws AppError CHECKOUT_FAILED: 502 refused, 504 unknown; VALIDATION_FAILED (`customer.email`)
 */
export async function offerCheckoutPage(shop: ShopContext, attempt: AttemptRow): Promise<string> {
  try {
    const { url } = await openCheckoutPage(shop, await takeUpAttempt(shop, attempt.id))
    if (url === null) throw new Error('the gateway returned a page without an address')
    return url
  } catch (error) {
    const url = await pageOfAnother(shop, attempt.id, error)
    if (url !== null) return url
    throw await pageFailure(shop, attempt, error)
  }
}

/** The page that a concurrent call is creating, such as the first click of a double click; null if it does not appear. */
async function pageOfAnother(shop: ShopContext, attemptId: number, error: unknown): Promise<string | null> {
  const until = isRunningAlready(error) ? performance.now() + pageWaitMs : 0
  for (;;) {
    const { url, outcome } = getAttempt(shop.db, attemptId)
    if (url !== null && outcome === null) return url
    if (outcome !== null || performance.now() >= until) return null
    await sleep(100)
  }
}

/**
 * Opens the gateway's own payment page for an attempt and remembers it. Calling it again for the same attempt asks with
 * the same key and so finds the same page.
 *
 * @throws whatever stripe-node or the deadline throws; see readGatewayError
 */
export async function openCheckoutPage(
  shop: ShopContext,
  attempt: AttemptRow,
  deadline: Deadline = startDeadline()
): Promise<AttemptRow> {
  const stripe = await readyGateway(shop).client()
  const order = getOrder(shop.db, attempt.orderId)
  const { successUrl, cancelUrl } = pageUrls(shop, order)
  const creditMinor = creditedMinor(shop.db, order.id)
  const isSubscription = subscriptionInterval(itemsOf(shop.db, order.id)) !== null
  const { offMinor, ...bought } =
    creditMinor === 0 || isSubscription ? purchase(shop, order, attempt) : rest(shop, order, attempt)
  // A gift card pays a part of the first period only, as a discount does.
  const off = isSubscription ? offMinor + creditMinor : offMinor
  const discounts = await adHocCoupon(stripe, { order, amountMinor: off }, attempt, deadline)
  const params: Stripe.Checkout.SessionCreateParams = {
    ...bought,
    ...(discounts === undefined ? {} : { discounts }),
    ...methodConfiguration(shop),
    ...lawText(shop, order),
    // An amount in another currency than the order's could not be compared with it.
    adaptive_pricing: { enabled: false },
    client_reference_id: String(order.id),
    metadata: metadataOf(shop, attempt),
    expires_at: Math.floor(pageEnd(attempt) / 1000),
    success_url: successUrl,
    cancel_url: cancelUrl
  }
  const session = await payAsCustomer(shop, order, { stripe, deadline }, (customer) =>
    deadline.call(({ timeout }) =>
      stripe.checkout.sessions.create(
        { ...params, ...payerOf(order, customer) },
        { idempotencyKey: keyFor(attempt.createKey, customer), timeout }
      )
    )
  )
  const { attempt: opened, verdict } = await settleAttempt(shop, attempt.id, stateOfSession(session), 'checkout')
  if (verdict === 'open' && !isWanted(shop, opened)) {
    // The buyer has not seen this page, and must not pay on it beside the other payment.
    const ended = await deadline.call((options) => callOff(stripe, opened, options))
    if (ended !== undefined) await settleAttempt(shop, opened.id, ended, 'checkout')
    throw new Error('the payment was given up while its page was opened')
  }
  return opened
}

/** Stripe's limit of a text beside its button (docs.stripe.com/payments/checkout/custom-components). */
const longestText = 1200

/**
 * The links to the law texts beside the gateway's button, in the buyer's language: a site of the shop's own may send its
 * buyers there without a page that shows them. Stripe links Markdown. Its `consent_collection` asks for an address in the
 * Stripe Dashboard, without which it refuses the page.
 */
function lawText(shop: ShopContext, { language }: OrderRow): Pick<Stripe.Checkout.SessionCreateParams, 'custom_text'> {
  if (!followsEuLaw(shop.db)) return {}
  const local = inLanguage(shop, language)
  const links = lawLinks(local, shop.publicUrl()).filter(({ page }) => page !== 'imprint')
  const texts = links.map(({ label, url }) => `[${label}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`)
  const message = `${wordsOf(local).t('law.readFirst')} ${texts.join(', ')}`
  return links.length === 0 || message.length > longestText ? {} : { custom_text: { submit: { message } } }
}

/** The account's customer, or the email of a guest; Stripe's page asks a guest without an email. */
function payerOf(
  { email }: OrderRow,
  customer: string | null
): Pick<Stripe.Checkout.SessionCreateParams, 'customer' | 'customer_email'> {
  if (customer !== null) return { customer }
  return email === null ? {} : { customer_email: gatewayEmail(email) }
}

function isWanted({ db }: ShopContext, { orderId, outcome }: AttemptRow): boolean {
  return outcome === null && getOrder(db, orderId).status === 'pending'
}

/** The end of the hold, within Stripe's limits. Counted from the attempt, so that a repeated call sends the same. */
function pageEnd({ expiresAt, createdAt }: AttemptRow): number {
  return Math.min(Math.max(expiresAt ?? 0, createdAt + shortestPageMs), createdAt + longestPageMs)
}

type Purchase = Pick<
  Stripe.Checkout.SessionCreateParams,
  'mode' | 'line_items' | 'payment_method_collection' | 'shipping_options' | 'payment_intent_data' | 'subscription_data'
> & {
  /** What a discount takes off the lines. */
  offMinor: number
}

/** What the credits of an order leave to be paid, as one line: they pay for no line of it in particular. */
function rest(shop: ShopContext, order: OrderRow, attempt: AttemptRow): Purchase {
  const description = `Order ${order.id}`
  const price = { unit_amount: attempt.amountMinor, currency: order.currency.toLowerCase() }
  return {
    mode: 'payment',
    line_items: [{ quantity: 1, price_data: { ...price, product_data: { name: description } } }],
    payment_intent_data: { metadata: metadataOf(shop, attempt), description, ...paymentDetails(shop, order) },
    offMinor: 0
  }
}

/** The line items, as a one-time payment or, with a subscription among them, as a subscription. */
function purchase(shop: ShopContext, order: OrderRow, attempt: AttemptRow): Purchase {
  const items = itemsOf(shop.db, order.id)
  const recurring = recurringOfOrder(shop.db, order, items)
  const interval = recurring?.interval ?? null
  const toLine = (product_data: ProductData, unit_amount: number, quantity: number, isRecurring: boolean) => ({
    quantity,
    price_data: {
      currency: order.currency.toLowerCase(),
      unit_amount,
      product_data,
      ...(isRecurring && interval !== null ? { recurring: { interval } } : {})
    }
  })
  const { taxes, overMinor } = addedTaxes(shop.db, order, recurring)
  const lines = [
    ...items.map((item) => {
      const { name, productId, variationId, unitPriceMinor, quantity } = item
      const image = imageFor(shop, { productId, variationId })
      const isRecurring = subscriptionInterval([item]) !== null
      const amountMinor = lineAmountMinor(item)
      if (amountMinor === unitPriceMinor * quantity)
        return toLine({ name, ...image }, unitPriceMinor, quantity, isRecurring)
      // The price of a unit without its tax is not a whole number of cents.
      return toLine({ name: `${quantity} × ${name}`, ...image }, amountMinor, 1, isRecurring)
    }),
    ...taxes.map(({ name, amountMinor, isRecurring }) => toLine({ name }, amountMinor, 1, isRecurring))
  ]
  const data = { metadata: metadataOf(shop, attempt), description: `Order ${order.id}` }
  if (recurring === null)
    return {
      mode: 'payment',
      line_items: lines,
      ...shippingOptions(order),
      payment_intent_data: { ...data, ...paymentDetails(shop, order) },
      offMinor: order.discountMinor + overMinor
    }
  const shipping = shippingLines(order, recurring)
  return {
    mode: 'subscription',
    // Also for a first period that costs nothing: the card pays the renewals.
    payment_method_collection: 'always',
    line_items: [...lines, ...shipping.lines],
    subscription_data: data,
    offMinor: order.discountMinor + overMinor + shipping.overMinor
  }
}

type ProductData = { name: string; images?: string[] }

/** The picture of a line item on Stripe's page. Stripe fetches it, so the shop must be reached by https. */
function imageFor({ db, publicUrl }: ShopContext, line: Pictured): { images?: string[] } {
  const image = publicUrl().startsWith('https:') ? lineImage(db, line, publicUrl()) : null
  return image === null ? {} : { images: [image.url] }
}

/** The order's discount as a coupon at Stripe that can be used once. */
async function adHocCoupon(
  stripe: Stripe,
  { order, amountMinor }: { order: OrderRow; amountMinor: number },
  attempt: AttemptRow,
  deadline: Deadline
): Promise<{ coupon: string }[] | undefined> {
  if (amountMinor === 0) return undefined
  const coupon = await deadline.call(({ timeout }) =>
    stripe.coupons.create(
      {
        ...(attempt.discountCouponId === null ? {} : { id: attempt.discountCouponId }),
        amount_off: amountMinor,
        currency: order.currency.toLowerCase(),
        duration: 'once',
        max_redemptions: 1,
        name: 'Discount'
      },
      { idempotencyKey: `${attempt.createKey}-coupon`, timeout }
    )
  )
  return [{ coupon: coupon.id }]
}

async function pageFailure(shop: ShopContext, attempt: AttemptRow, error: unknown): Promise<Error> {
  if (isStorageError(error) && error instanceof Error) return error
  const failure = readGatewayError(error)
  const kind = failure.answered && !isRunningAlready(error) ? 'broken' : 'unknown'
  const now = shop.clock.now()
  await writeWhenFree(shop.db, (tx) => {
    // A concurrent call has created the page, or the buyer chose another payment method.
    const { objectId, outcome } = getAttempt(tx, attempt.id)
    if (objectId !== null || outcome !== null) return
    if (kind === 'broken') failAttempt(tx, attempt.id, 'the payment page was refused', now)
    else updateAttempt(tx, attempt.id, { gatewayStatus: unanswered }, now)
  })
  const { code, type, param } = failure.error
  shop.log.warn('a payment page could not be opened', { orderId: attempt.orderId, kind, code: code ?? type, param })
  return emailRefused(failure) ?? checkoutFailed({ ...failure, kind }, 'create_intent')
}

/** A tax that the gateway's page adds to the lines of an order. */
export type AddedTax = {
  name: string
  amountMinor: number
  /** Charged again with each renewal. */
  isRecurring: boolean
}

/** The added taxes, and what a discount must take off them so that the order's total results. */
export type AddedTaxes = { taxes: AddedTax[]; overMinor: number }

/**
 * The taxes of an order whose prices do not include them, as lines of the gateway's page: the gateway does not compute
 * them, so that its total is the order's. With a subscription, the tax on its full price is a recurring line, because a
 * discount counts only for the first period; what the first period's discount takes off that tax is `overMinor`.
 */
export function addedTaxes(
  db: Db,
  order: OrderRow,
  renewal: Pick<Recurring<unknown>, 'totals'> | null = recurringOfOrder(db, order)
): AddedTaxes {
  const again = renewal === null || renewal.totals.tax.included ? [] : renewal.totals.tax.lines
  const recurring = byLabel(again.filter(({ amountMinor }) => amountMinor > 0))
  if (order.taxIncluded || (order.taxMinor === 0 && recurring.size === 0)) return { taxes: [], overMinor: 0 }
  const once = new Map<string, number>()
  let overMinor = 0
  for (const [name, amountMinor] of byLabel(taxesOfOrder(db, order.id))) {
    const restMinor = amountMinor - (recurring.get(name) ?? 0)
    if (restMinor > 0) once.set(name, restMinor)
    else overMinor -= restMinor
  }
  return {
    taxes: [
      ...[...recurring].map(([name, amountMinor]) => ({ name, amountMinor, isRecurring: true })),
      ...[...once].map(([name, amountMinor]) => ({ name, amountMinor, isRecurring: false }))
    ],
    overMinor
  }
}

/** The taxes by their labels. Two countries can have a rate of the same name. */
function byLabel(taxes: readonly TaxLine[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const tax of taxes) {
    const label = rateLabel(tax)
    sums.set(label, (sums.get(label) ?? 0) + tax.amountMinor)
  }
  return sums
}

/** Where the gateway's page and the bank send the buyer; both are GETs and prove nothing. */
export type PageUrls = { successUrl: string; cancelUrl: string }

/** What a buyer comes back with. */
export type ReturnResult = 'success' | 'pending' | 'failed' | 'cancelled'

/**
 * Stripe replaces this in a success URL by the id of the Checkout Session, if its braces are not percent-encoded
 * (docs.stripe.com/payments/checkout/custom-success-page). The shop does so in a site's address, which Stripe does not
 * get. URL encodes the braces in a path.
 */
const sessionTemplate = '{CHECKOUT_SESSION_ID}'
const encodedTemplate = /%7BCHECKOUT_SESSION_ID%7D/gi

/** An address as URL writes it, with the template for the id of the Checkout Session as the site wrote it. */
export function withTemplate(url: URL): string {
  return url.href.replaceAll(encodedTemplate, sessionTemplate)
}

/**
 * The shop's own addresses. They contain no result: the shop asks the gateway when the buyer comes back, and then
 * sends the buyer to the site.
 */
export function pageUrls(
  shop: Pick<ShopContext, 'publicUrl'>,
  { publicToken }: Pick<OrderRow, 'publicToken'>
): PageUrls {
  const root = `${shop.publicUrl()}/checkout`
  return { successUrl: `${root}/return/${publicToken}`, cancelUrl: `${root}/cancel/${publicToken}` }
}

type SiteOrder = Pick<OrderRow, 'id' | 'publicToken'>

/**
 * The site's address to which the shop sends a buyer, with the result. The template is replaced by the id of the order's
 * Checkout Session, or by nothing if it has none (token_handoff, a free order, a bank transfer) and in a cancel URL, as
 * Stripe does.
 */
export function siteUrl(db: Db, order: SiteOrder, url: string, result: ReturnResult): string {
  const pages = result === 'cancelled' ? [] : attemptsOf(db, order.id)
  const page = pages.find(({ kind, objectId }) => kind === 'checkout_session' && objectId !== null)
  return withResult(url, order, result).replaceAll(sessionTemplate, page?.objectId ?? '')
}

/**
 * The address with order, token and result in its query. The rest of the query stays as the site wrote it; what an
 * earlier try appended is replaced.
 */
export function withResult(url: string, { id, publicToken }: SiteOrder, result: ReturnResult): string {
  const target = new URL(url)
  const others = target.search.slice(1).split('&').filter(isOther)
  const own = [`orderId=${id}`, `orderToken=${publicToken}`, `result=${result}`]
  target.search = [...others, ...own].join('&')
  return withTemplate(target)
}

const ownNames: ReadonlySet<string | undefined> = new Set(['orderId', 'orderToken', 'result'])

function isOther(part: string): boolean {
  const [name] = new URLSearchParams(part).keys()
  return part !== '' && !ownNames.has(name)
}

type Params = Stripe.Checkout.SessionCreateParams

/** The shipping of an order on Stripe's page: one option with a fixed amount, already chosen. */
export function shippingOptions(order: OrderRow): Pick<Params, 'shipping_options'> {
  const { shippingMethod, shippingMinor, currency } = order
  if (shippingMethod === null) return {}
  const amount = { amount: shippingMinor, currency: currency.toLowerCase() }
  const rate = { type: 'fixed_amount', display_name: shippingMethod.name, fixed_amount: amount } as const
  return { shipping_options: [{ shipping_rate_data: rate }] }
}

/**
 * The shipping of an order as line items, because a subscription cannot have shipping options
 * (docs.stripe.com/payments/checkout/shipping): what is charged again with each renewal, and the rest of the first parcel.
 * If the first parcel costs less, such as by its value, a discount must take off `overMinor`.
 */
export function shippingLines(
  { shippingMethod, shippingMinor, currency }: OrderRow,
  recurring: Pick<Recurring<unknown>, 'interval' | 'totals'>
): { lines: NonNullable<Params['line_items']>; overMinor: number } {
  if (shippingMethod === null) return { lines: [], overMinor: 0 }
  const again = recurring.totals.shippingMinor
  const parts = [
    { amount: again, recurring: { interval: recurring.interval } },
    { amount: shippingMinor - again, recurring: undefined }
  ]
  const lines = parts
    .filter(({ amount }) => amount > 0)
    .map(({ amount, recurring: renewal }) => ({
      quantity: 1,
      price_data: {
        currency: currency.toLowerCase(),
        unit_amount: amount,
        product_data: { name: methodLabel(shippingMethod) },
        ...(renewal === undefined ? {} : { recurring: renewal })
      }
    }))
  return { lines, overMinor: Math.max(0, again - shippingMinor) }
}
