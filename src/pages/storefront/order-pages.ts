import type { BuyerOrder } from '../../client/api-types.ts'
import { isShopError } from '../../client/client.ts'
import type { Address, Data, OwnOrder, OwnOrderLine, Quote, QuoteLine } from '../../client/client.ts'
import {
  cartCookie,
  isOrderToken,
  isPlaced,
  placedOrder,
  parseCart,
  returnedOrder,
  setCart,
  setPlaced,
  withItem,
  withoutToken
} from './cart-cookie.ts'
import type { CartItem } from './cart-cookie.ts'
import { outcomeOf, message } from './form-view.ts'
import type { Outcome } from './form-view.ts'
import { accessView, cardTexts, orderCard, orderStates, returnText, shipmentText } from './order-card.ts'
import type { Shown, ShownPage, Site, Visit } from './site.ts'
import { money } from '../../platform/texts/languages.ts'
import type { TextKey } from '../../platform/texts/languages.ts'

const perPage = 10

/** The customer's orders, the newest first. */
export async function showOrders({ client, site, query }: Visit): Promise<Shown> {
  const { t } = site
  const sent = query.get('page') ?? ''
  const page = /^[1-9]\d{0,5}$/.test(sent) ? Number(sent) : 1
  const { orders, pagination } = await client.get('/orders', { query: { page, perPage } })
  const last = Math.max(1, pagination.totalPages)
  if (page > last) return { redirect: `/orders?page=${last}` }
  const data = {
    isSignedIn: true,
    orders: orders.map((order) => orderCard(order, site, { href: `/orders/${order.id}` })),
    newer: page > 1 ? `/orders?page=${page - 1}` : null,
    older: page < last ? `/orders?page=${page + 1}` : null
  }
  return { template: 'orders', title: t('link.orders'), data }
}

/** One order of the customer. */
export async function showOrder(visit: Visit): Promise<ShownPage> {
  return orderPage(visit, {})
}

/** Cancels the order, or puts what is still sold of it into the cart. */
export async function changeOrder(visit: Visit): Promise<Shown> {
  const { client, site, param } = visit
  const form = await visit.form()
  try {
    const { order } = await client.get(`/orders/${Number(param)}`)
    if (form.get('action') === 'cancel') {
      await client.post(`/store/orders/${order.orderToken}/cancel`)
      return { redirect: `/orders/${param}` }
    }
    if (form.get('action') !== 'again') return { redirect: `/orders/${param}` }
    const cart = await fillCart(visit, order)
    return { redirect: `/orders/${param}?again=1#again`, cookies: [setCart(cart, site)] }
  } catch (error) {
    if (isShopError(error, 'NOT_FOUND')) return missingOrder(site)
    return orderPage(visit, outcomeOf(error, form))
  }
}

async function orderPage(visit: Visit, { status = 200, error = null }: Outcome): Promise<ShownPage> {
  const { client, site, param, query } = visit
  try {
    const known = await client.get(`/orders/${Number(param)}`)
    const { order, payUrl, canCancel, withdrawUrl, giftCards } = known
    const { over } = orderStates[order.status]
    // As long as the order can be paid, a second one would be a mistake.
    const isOpen = payUrl !== null || order.status === 'pending'
    const again = !isOpen && query.has('again') ? await reportOf(visit, order) : null
    const data = {
      isSignedIn: true,
      error,
      ...withOwed(wordsOf(known, site, 'order.atBankByEmail'), order, site),
      card: orderCard(order, site),
      giftCards: cardTexts(giftCards, site),
      ...detailsOf(order, site),
      payUrl,
      howToPay: order.status === 'on-hold' && canCancel ? `/checkout/done/${order.orderToken}` : null,
      canCancel: canCancel && !over,
      withdrawUrl,
      canRepeat: !isOpen && again === null,
      again
    }
    return { status, template: 'order', title: site.t('order.name', { id: param }), data }
  } catch (failure) {
    if (isShopError(failure, 'NOT_FOUND')) return missingOrder(site)
    throw failure
  }
}

function missingOrder({ t }: Site): ShownPage {
  const links = [
    { label: t('link.orders'), url: '/orders' },
    { label: t('link.shop'), url: '/' }
  ]
  return message(t('order.notFound'), t('order.notFoundText'), links, 404)
}

type Facts = { order: { status: BuyerOrder['status'] }; canPay: boolean; canCancel: boolean }

/** What the page of an order says first. `atBank` is for a payment that the bank has not confirmed. */
function wordsOf({ order: { status }, canPay, canCancel }: Facts, { t }: Site, atBank: TextKey) {
  const { tone } = orderStates[status]
  if (status === 'pending' && !canCancel && !canPay)
    return { tone, heading: t('state.awaiting_bank.title'), text: t(atBank) }
  const shown = status === 'on-hold' && canCancel ? 'awaiting_money' : status
  return { tone, heading: t(`state.${shown}.title`), text: t(`state.${shown}.text`) }
}

type Words = ReturnType<typeof wordsOf>

/** The words, with what the shop owes the buyer because a refund did not arrive. */
function withOwed(words: Words, { status, refundState, refundOwed, currency }: OwnOrder, site: Site): Words {
  if (refundState !== 'failed') return words
  const owed = site.t('refund.owed', { amount: money(refundOwed, site, currency) })
  if (status === 'refunded') return { tone: 'bad', heading: site.t('state.refund_failed.title'), text: owed }
  return { ...words, text: `${words.text} ${owed}` }
}

/** Where the order goes, what was shipped of it, its invoice, and the credit note of each refund. */
function detailsOf(order: OwnOrder, site: Site) {
  const { email, shipments, returns, shippingAddress, billingAddress, documents } = order
  const { t } = site
  const addresses = [
    { title: t('order.shippingAddress'), lines: addressLines(shippingAddress, site) },
    { title: t('order.billingAddress'), lines: addressLines(billingAddress, site) }
  ]
  return {
    email,
    documents: documents.map(({ kind, number, url }) => ({ label: t(`document.${kind}`, { number }), url })),
    shipments: shipments.map((shipment) => shipmentText(shipment, site)),
    returns: returns.flatMap((each) => returnText(each, site)),
    addresses: addresses.filter(({ lines }) => lines.length > 0)
  }
}

/** An address as the buyer typed it, one part a line. */
function addressLines(address: Address | null, { language }: Site): string[] {
  if (address === null) return []
  const { firstName, lastName, company, address1, address2, postcode, city, state, country = '', phone } = address
  const joined = (...parts: (string | undefined)[]): string => parts.filter(Boolean).join(' ')
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'code' })
  const countryName = /^[A-Z]{2}$/.test(country) ? names.of(country) : country
  const name = joined(firstName, lastName)
  const lines = [name, company, address1, address2, joined(postcode, city), state, countryName, phone]
  return lines.flatMap((line) => line || [])
}

/** The cart with the lines of an order, as far as they can be bought. */
async function fillCart({ client, cookie }: Visit, order: OwnOrder): Promise<CartItem[]> {
  const cart = parseCart(cookie(cartCookie))
  const items = itemsOf(order)
  if (items.length === 0) return cart
  const quote = await client.post('/store/quote', { items })
  return quote.lines.reduce((filled, line) => {
    const quantity = quantityOf(line)
    return quantity === 0 ? filled : (withItem(filled, { ...itemOf(line), quantity }) ?? filled)
  }, cart)
}

/** Says what is in the cart of an order that was ordered again, and what is missing and why. */
async function reportOf({ client, site, cookie }: Visit, order: OwnOrder) {
  const { t } = site
  const items = itemsOf(order)
  const quote: Pick<Quote, 'lines'> = items.length === 0 ? { lines: [] } : await client.post('/store/quote', { items })
  const cart = parseCart(cookie(cartCookie))
  const isInCart = (line: QuoteLine): boolean =>
    cart.some((item) => item.productId === line.productId && (item.variationId ?? null) === line.variationId)
  const problems = quote.lines.flatMap((line) => {
    const { name, productSlug } = orderedLine(order, line)
    const href = productSlug === null ? null : `/products/${productSlug}`
    if (line.problem !== null) return { text: isGone(line) ? t('order.notSold', { name }) : line.problem.message, href }
    return isInCart(line) ? [] : { text: t('order.cartFull', { name }), href }
  })
  const gone = order.lines
    .filter(({ productSlug }) => productSlug === null)
    .map(({ name }) => ({ text: t('order.notSold', { name }), href: null }))
  const missing = [...gone, ...problems]
  const isEmpty = !quote.lines.some(isInCart)
  return { text: t(isEmpty ? 'order.noneAdded' : missing.length > 0 ? 'order.someAdded' : 'order.allAdded'), missing }
}

/** The lines that are still sold. */
function itemsOf({ lines }: OwnOrder): CartItem[] {
  return lines
    .filter(({ productSlug }) => productSlug !== null)
    .map((line) => ({ ...itemOf(line), quantity: line.quantity }))
}

function itemOf({ productId, variationId }: { productId: number; variationId: number | null }) {
  return { productId, ...(variationId === null ? {} : { variationId }) }
}

/** How many of a line can be bought. A choice is missing, or it is sold out: only the buyer can decide what to take instead. */
function quantityOf({ quantity, unitPrice, problem }: QuoteLine): number {
  if (unitPrice === null) return 0
  return problem === null ? quantity : (problem.left ?? 0)
}

function orderedLine(
  { lines }: OwnOrder,
  { productId, variationId, name }: QuoteLine
): Pick<OwnOrderLine, 'name' | 'productSlug'> {
  const same = lines.filter((line) => line.productId === productId)
  return same.find((line) => line.variationId === variationId) ?? same[0] ?? { name: name ?? '', productSlug: null }
}

/** The shop does not name a product that it does not show. */
function isGone({ problem }: QuoteLine): boolean {
  return problem?.code === 'unknown_product' || problem?.code === 'unavailable'
}

type Thanked = Data<'GET', `/store/orders/${string}`>

/**
 * Where the buyer comes back to. Only the shop knows the state of an order; the query of the address proves nothing. The
 * cart is emptied if it became this order and the buyer does not need it any more.
 */
export async function showThanks(visit: Visit): Promise<Shown> {
  const { query, cookie, site } = visit
  // A bank leads back to the address that the shop sent it, which was sent before the order had a token.
  const sent = query.get('orderToken') ?? (query.has('payment_intent') ? placedOrder(cookie) : null)
  if (sent === null) return thanksPage(visit, returnedOrder(cookie, '/thanks'))
  return isOrderToken(sent) ? withoutToken(sent, '/thanks', site) : unknown(site)
}

/** Cancels the order that the form names: another tab may show the page of another one. */
export async function cancelThanked(visit: Visit): Promise<Shown> {
  const { client, site } = visit
  const token = (await visit.form()).get('orderToken') ?? ''
  if (!isOrderToken(token)) return unknown(site)
  try {
    await client.post(`/store/orders/${token}/cancel`)
    return withoutToken(token, '/thanks', site)
  } catch (error) {
    const { status, error: text } = outcomeOf(error, new URLSearchParams())
    return thanksPage(visit, token, status, text)
  }
}

async function thanksPage(
  { client, site, cookie }: Visit,
  token: string | null,
  status = 200,
  error: string | null = null
): Promise<ShownPage> {
  const { t } = site
  if (token === null) return unknown(site)
  try {
    const [known, { userLoggedIn: isSignedIn }] = await Promise.all([
      client.get(`/store/orders/${token}`),
      client.get('/nonce')
    ])
    const { order, payUrl, canCancel } = known
    const { over, paid } = orderStates[order.status]
    const isUndecided = order.status === 'pending'
    const own = `/checkout/done/${token}`
    const data = {
      isSignedIn,
      error,
      ...wordsOf({ ...known, canPay: false }, site, 'order.atBankHere'),
      receipt: paid && order.email !== null ? t('order.receipt', { email: order.email }) : '',
      card: orderCard(order, site),
      giftCards: cardTexts(known.giftCards, site),
      ...accessView({ ...known, orderToken: token, hasAccounts: true }, site),
      payUrl,
      howToPay: order.status === 'on-hold' && canCancel ? own : null,
      again: isUndecided ? '/thanks' : null,
      token,
      canCancel: canCancel && !over,
      over,
      own: isUndecided ? null : own
    }
    const cookies = isPlaced(cookie, token) && isTaken(known) ? [setCart([], site), setPlaced('', site)] : []
    return { status, template: 'thanks', title: t('yourOrder'), data, cookies }
  } catch (failure) {
    if (isShopError(failure, 'NOT_FOUND')) return unknown(site)
    throw failure
  }
}

function unknown({ t }: Site): ShownPage {
  const links = [
    { label: t('link.orders'), url: '/orders' },
    { label: t('link.shop'), url: '/' }
  ]
  return message(t('order.unknown'), t('order.unknownText'), links, 404)
}

/** The order is paid, or waits for the bank or a transfer. */
function isTaken({ order, canPay, canCancel }: Thanked): boolean {
  return order.status === 'pending' ? !canPay && !canCancel : !orderStates[order.status].over
}
