import { listRefunds } from '../shop/orders/refunds/refund-lines.ts'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { Db } from '../platform/db/database.ts'
import { toIso } from '../platform/iso-time.ts'
import { toMajor } from '../platform/money.ts'
import { findRenewed } from '../shop/benefits/records.ts'
import {
  accessOf,
  canCancel,
  cardsBoughtBy,
  cancelByBuyer,
  endGuestSubscription,
  sendSubscriptionLink,
  guestSubscriptionOf,
  payUrlOf,
  withdrawUrlOf
} from '../shop/checkout/buyer-order.ts'
import { askGateway, buyerStatuses, buyerStatusOf } from '../shop/checkout/buyer-status.ts'
import type { BuyerStatus } from '../shop/checkout/buyer-status.ts'
import { sendClaimAgain } from '../shop/customers/claim-order.ts'
import { documentsOf } from '../shop/invoices/find.ts'
import { addressPath, waitsForAddress } from '../shop/orders/address.ts'
import { addInterval } from '../shop/benefits/period.ts'
import { asksCard } from '../shop/payments/attempts.ts'
import { recurringOfOrder } from '../shop/orders/renewal-order.ts'
import { getOrder, getOrderByPublicToken, itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { lineAmountMinor, summaryRows } from '../shop/orders/totals.ts'
import { findSubscriptionOrder } from '../shop/orders/order-links.ts'
import { documentUrl, getOrderView, maskedEmail } from '../shop/orders/view.ts'
import { siteUrl } from '../shop/payments/gateway-page.ts'
import type { ReturnResult } from '../shop/payments/gateway-page.ts'
import { manualInstructions } from '../shop/settings/language.ts'
import { listShipments } from '../shop/shipments/find.ts'
import type { ShownOrder } from '../shop/checkout/shipping.ts'
import { listReturns } from '../shop/shipments/returns.ts'
import { readForm } from './page.ts'
import type { HtmlReply, PageCall, PageReply, PageRoute } from './page.ts'
import { homeLinks, isOpen, shopHome, shopPage, siteOf } from './shop-site.ts'
import { formView, message, sheet } from './storefront/form-view.ts'
import { dayText, money } from '../platform/texts/languages.ts'
import { renewalNote } from '../platform/texts/renewal.ts'
import { accessView, cardTexts, returnText, shipmentText } from './storefront/order-card.ts'
import type { Summary } from './storefront/order-card.ts'
import type { Site } from './storefront/site.ts'

const token = '([A-Za-z0-9_-]{1,100})'
const cancelPath = new RegExp(`^/checkout/cancel/${token}$`)

export const donePages: readonly PageRoute[] = [
  {
    method: 'GET',
    path: new RegExp(`^/checkout/done/${token}$`),
    name: '/checkout/done/:token',
    handle: ({ app, param, now }) => orderPage(app, getOrderByPublicToken(app.db, param), now)
  },
  { method: 'POST', path: new RegExp(`^/checkout/claim/${token}$`), name: '/checkout/claim/:token', handle: sendClaim },
  { method: 'GET', path: new RegExp(`^/checkout/return/${token}$`), name: '/checkout/return/:token', handle: comeBack },
  { method: 'GET', path: cancelPath, name: '/checkout/cancel/:token', handle: giveUp },
  { method: 'POST', path: cancelPath, name: '/checkout/cancel/:token', handle: cancel }
]

/** Sends the link that opens an account for the order again. */
async function sendClaim({ app, param, now, addressKey }: PageCall): Promise<PageReply> {
  const order = getOrderByPublicToken(app.db, param)
  const { t } = siteOf(app)
  try {
    await sendClaimAgain(app, param, { addressKey, now })
    return orderPage(app, order, now, { notice: t('access.sent') })
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'RATE_LIMITED')) throw error
    return orderPage(app, order, now, { status: error.status, message: t('access.tooOften') })
  }
}

/** The gateway's page and the bank send the buyer here after paying. The site gets the result that the gateway reports. */
async function comeBack({ app, param, now }: PageCall): Promise<PageReply> {
  const { id } = getOrderByPublicToken(app.db, param)
  await askGateway(app, id)
  const order = getOrder(app.db, id)
  const result = resultOf(buyerStatusOf(app.db, order, now))
  return { redirect: order.returnUrl === null ? donePath(order) : siteUrl(app.db, order, order.returnUrl, result) }
}

/**
 * The link back from the gateway's page leads here. The order is cancelled before the site learns of it, so that the cart
 * can be bought again at once. An order that was paid in the meantime stays, and the site learns that instead.
 */
async function giveUp(call: PageCall): Promise<PageReply> {
  const { app, param, now, request } = call
  const { id, status } = getOrderByPublicToken(app.db, param)
  // The gateway's page does not cancel a bank transfer that the buyer chose in another tab.
  const isOpen = status === 'pending' || status === 'failed'
  if (isOpen && isOpenedByPerson(request)) await tryToCancel(call)
  return leave(app, getOrder(app.db, id), now)
}

/** To the site if the order is decided, else to the order's page. */
function leave({ db }: App, order: OrderRow, now: number): PageReply {
  const buyerStatus = buyerStatusOf(db, order, now)
  const isDecided = order.status === 'cancelled' || !canCancel(order, buyerStatus)
  return { redirect: (isDecided ? backUrl(db, order, buyerStatus) : null) ?? donePath(order) }
}

/** The button on the order's page, which shows what became of the order. The payment page's leads back to the site. */
async function cancel(call: PageCall): Promise<PageReply> {
  const { app, param, now, request } = call
  const { id } = getOrderByPublicToken(app.db, param)
  const leaves = (await readForm(request)).has('leave')
  const refusal = await tryToCancel(call)
  if (refusal?.code !== 'DEPENDENCY_UNAVAILABLE')
    return leaves ? leave(app, getOrder(app.db, id), now) : { redirect: donePath({ publicToken: param }) }
  const message = siteOf(app).t('order.cancelUnanswered')
  return orderPage(app, getOrder(app.db, id), now, { status: refusal.status, message })
}

/** The error if the order is paid or being decided, or if the gateway does not answer; null when it is cancelled. */
async function tryToCancel(call: PageCall): Promise<AppError | null> {
  try {
    await cancelByBuyer(call.app, call.param, call)
    return null
  } catch (error) {
    if (error instanceof AppError && (error.code === 'CONFLICT' || error.code === 'DEPENDENCY_UNAVAILABLE'))
      return error
    throw error
  }
}

/** What browsers and proxies say when they fetch a page before a person opens it. The last two are older names. */
const purposeHeaders = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

/**
 * Whether a browser opens the address as a page. A prefetch, a preview, a frame or a script must not cancel anything.
 * Older browsers do not send Sec-Fetch-Dest (https://www.w3.org/TR/fetch-metadata/).
 */
function isOpenedByPerson({ method, headers }: Request): boolean {
  const isTopLevel = (headers.get('sec-fetch-dest') ?? 'document') === 'document'
  const isAhead = purposeHeaders.some((name) => /\b(prefetch|prerender|preview)\b/i.test(headers.get(name) ?? ''))
  return method === 'GET' && isTopLevel && !isAhead
}

/** The path of an order's page. */
export function donePath({ publicToken }: Pick<OrderRow, 'publicToken'>): string {
  return `/checkout/done/${publicToken}`
}

/**
 * The page of an order: what was bought and its status. It shows no personal data, because people share such addresses.
 */
export function orderPage(
  app: App,
  order: OrderRow,
  now: number,
  {
    status = 200,
    message = null,
    notice = null
  }: { status?: number; message?: string | null; notice?: string | null } = {}
): HtmlReply {
  const site = siteOf(app)
  const { t } = site
  const buyerStatus = buyerStatusOf(app.db, order, now)
  const isUndecided = buyerStatus === 'pending' || buyerStatus === 'awaiting_bank'
  const owed = owedText(app, order, site)
  const isOwed = buyerStatus === 'refunded' && owed !== null
  const data = {
    tone: isOwed ? 'bad' : buyerStatuses[buyerStatus].tone,
    text: isOwed ? owed : t(`state.${buyerStatus}.text`),
    error: message,
    notice: notice ?? (isOwed ? null : owed),
    orderId: order.id,
    instructions: buyerStatus === 'awaiting_money' ? manualInstructions(app) : null,
    summary: summaryOf(app, order, site),
    shipments: listShipments(app.db, order.id).map((shipment) => shipmentText(shipment, site)),
    returns: listReturns(app.db, order.id).flatMap((each) => returnText(each, site)),
    shippedTitle: t(order.shippingMethod?.pickup === true ? 'order.readyForPickup' : 'order.shipped'),
    documents: documentsOf(app.db, order.id).map((row) => ({
      label: t(`document.${row.kind}`, { number: row.number }),
      url: documentUrl(app, order, row)
    })),
    subscription: subscriptionNote(app, order, site, now),
    ...accessView({ ...accessOf(app, order, now), orderToken: order.publicToken, hasAccounts: isOpen(app) }, site),
    giftCards: cardTexts(cardsBoughtBy(app.db, order, now), site),
    again: isUndecided ? donePath(order) : null,
    whereTo: waitsForAddress(order) ? addressPath(order) : null,
    pay: payUrlOf(app, order, buyerStatus, now),
    withdraw: withdrawUrlOf(app, order, now),
    cancel: canCancel(order, buyerStatus) ? `/checkout/cancel/${order.publicToken}` : null,
    back: backUrl(app.db, order, buyerStatus) ?? shopHome(app)
  }
  const title = t(isOwed ? 'state.refund_failed.title' : `state.${buyerStatus}.title`)
  return shopPage(app, { status, template: 'order-status', title, data }, {}, site)
}

/** What the shop owes the buyer because a refund failed; null if none did. */
function owedText(app: App, order: OrderRow, site: Site): string | null {
  const { refundState, refundOwed } = getOrderView(app.db, order.id)
  const amount = money(refundOwed, site, order.currency)
  return refundState === 'failed' ? site.t('refund.owed', { amount }) : null
}

/** An amount of an order, in the language of the page. */
export function moneyText(minor: number, { currency }: Pick<OrderRow, 'currency'>, site: Site): string {
  return money(toMajor(minor, currency), site, currency)
}

/** What each renewal of an order's subscription costs; null for an order that nothing renews. */
function renewalText(app: App, order: OrderRow, recurring: ShownOrder['recurring'], site: Site): string | null {
  if (recurring === null || order.renewalOf !== null) return null
  const isRenewed =
    order.paidAt === null ? asksCard(app.db, app.cards, order) : findRenewed(app.db, order.id) !== undefined
  if (order.totalMinor === 0 && !isRenewed) return null
  const { interval, totals } = recurring
  const from = addInterval(order.paidAt ?? order.createdAt, interval)
  const renewal = { interval, amount: moneyText(totals.totalMinor, order, site), day: dayText(toIso(from), site) }
  return renewalNote(site, renewal, order.discountMinor > 0)
}

const refundWords = { payment: 'sum.refunded', order: 'sum.credited', gift_card: 'sum.toCard' } as const

/** An order's lines and sums as summary.eta shows them. `preview` is what it would have, if that is not stored yet. */
export function summaryOf(
  app: App,
  order: OrderRow,
  site: Site,
  preview?: Pick<ShownOrder, 'taxes' | 'lines' | 'recurring'>
): Summary {
  const { id, createdAt, refundedMinor } = order
  const { t } = site
  const amountOf = (minor: number): string => moneyText(minor, order, site)
  const parts = summaryRows(app.db, order, site, preview?.taxes)
  const refunds = listRefunds(app.db, order).filter(({ state }) => state === 'done')
  const isNamed = refunds.some(({ lines }) => lines.length > 0)
  const refunded = isNamed
    ? refunds.map(({ amount, lines, way }) => ({
        label: [t(refundWords[way]), lines.map((line) => `${line.quantity} × ${line.name}`).join(', ')]
          .filter((part) => part !== '')
          .join(': '),
        amount: money(-amount, site, order.currency),
        isTotal: false
      }))
    : [{ label: t('sum.refunded'), amount: amountOf(-refundedMinor), isTotal: false }]
  return {
    caption: t('order.of', { id, day: dayText(toIso(createdAt), site) }),
    lines: (preview?.lines ?? itemsOf(app.db, id)).map((item) => ({
      name: item.name,
      quantity: item.quantity,
      amount: amountOf(lineAmountMinor(item))
    })),
    sums: [...parts, ...(refundedMinor > 0 ? refunded : [])],
    renewal: renewalText(app, order, preview?.recurring ?? recurringOfOrder(app.db, order), site)
  }
}

/** The site's page to go back to, with the result in its query; null if the site gave none. */
export function backUrl(db: Db, order: OrderRow, buyerStatus: BuyerStatus): string | null {
  const { returnUrl, cancelUrl } = order
  if (order.status === 'cancelled' && cancelUrl !== null) return siteUrl(db, order, cancelUrl, 'cancelled')
  return returnUrl === null ? null : siteUrl(db, order, returnUrl, resultOf(buyerStatus))
}

/** Only an order that is paid and in force is a success, so that a site can rely on it. */
function resultOf(buyerStatus: BuyerStatus): ReturnResult {
  const { paid, released } = buyerStatuses[buyerStatus]
  return paid ? 'success' : released ? 'failed' : 'pending'
}

const subscriptionPath = new RegExp(`^/checkout/subscription/${token}$`)
const subscriptionName = '/checkout/subscription/:token'
const endPath = /^\/checkout\/end-subscription$/
const endName = '/checkout/end-subscription'

/** The page that emails a guest the link to end a subscription, and the page of that link. Nothing is done by GET. */
export const subscriptionPages: readonly PageRoute[] = [
  { method: 'GET', path: subscriptionPath, name: subscriptionName, handle: askForLink },
  { method: 'POST', path: subscriptionPath, name: subscriptionName, handle: sendLink },
  { method: 'GET', path: endPath, name: endName, handle: askToEnd },
  { method: 'POST', path: endPath, name: endName, handle: endSubscription }
]

function askForLink({ app, param }: PageCall): PageReply {
  const order = getOrderByPublicToken(app.db, param)
  if (guestSubscriptionOf(app, order)?.canCancel !== true || order.email === null) return { redirect: donePath(order) }
  const site = siteOf(app)
  const { t } = site
  const text = t('subscription.linkText', { email: maskedEmail(order.email) })
  const to = `/checkout/subscription/${param}`
  const form = formView({ action: 'send', submit: t('subscription.sendLink'), rows: [], to }, {})
  const links = [{ label: t('subscription.keep'), url: donePath(order) }]
  return shopPage(app, sheet(200, t('subscription.confirm'), { text, form, links }), {}, site)
}

async function sendLink(call: PageCall): Promise<PageReply> {
  const { app, param, now } = call
  const order = getOrderByPublicToken(app.db, param)
  const { t } = siteOf(app)
  try {
    await sendSubscriptionLink(app, param, call)
    return orderPage(app, order, now, { notice: t('subscription.linkSent') })
  } catch (error) {
    // The order belongs to an account by now, which its page says.
    if (!(error instanceof AppError) || (error.code !== 'RATE_LIMITED' && error.code !== 'CONFLICT')) throw error
    const message = t(error.code === 'CONFLICT' ? 'subscription.inAccount' : 'access.tooOften')
    return orderPage(app, order, now, { status: error.status, message })
  }
}

function askToEnd({ app, request, now }: PageCall): PageReply {
  const link = new URL(request.url).searchParams.get('token') ?? ''
  const order = findSubscriptionOrder(app.db, app.keys, link, now)
  if (order === undefined) return linkOver(app)
  const subscription = guestSubscriptionOf(app, order)
  if (subscription === null || !subscription.canCancel) return { redirect: donePath(order) }
  const site = siteOf(app)
  const { t } = site
  const { currentPeriodEnd } = subscription
  const isPaid = Date.parse(currentPeriodEnd) > now
  const access = isPaid ? t('subscription.access', { day: dayText(currentPeriodEnd, site) }) : t('subscription.now')
  const text = `${access} ${t('subscription.noCharge')}`
  const blank = { action: 'end', submit: t('subscription.yes'), rows: [], to: endName, hidden: { token: link } }
  const links = [{ label: t('subscription.keep'), url: donePath(order) }]
  return shopPage(app, sheet(200, t('subscription.confirm'), { text, form: formView(blank, {}), links }), {}, site)
}

async function endSubscription(call: PageCall): Promise<PageReply> {
  const { app, now } = call
  const link = (await readForm(call.request)).get('token') ?? ''
  const order = findSubscriptionOrder(app.db, app.keys, link, now)
  if (order === undefined) return linkOver(app)
  try {
    await endGuestSubscription(app, link, call)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DEPENDENCY_UNAVAILABLE') throw error
    return orderPage(app, order, now, { status: error.status, message: siteOf(app).t('subscription.unanswered') })
  }
  return { redirect: donePath(order) }
}

/** The page for a link that has expired, or whose order belongs to an account by now. */
function linkOver(app: App): PageReply {
  const { t } = siteOf(app)
  return shopPage(app, message(t('emailLink.over'), t('subscription.linkOver'), homeLinks(app), 410))
}

/** What an order's page says about its subscription, and the link to end it. */
type SubscriptionNote = { text: string; link: { label: string; url: string } | null }

/**
 * What the page of an order says about the subscription that the gateway renews for it; null without one. A guest ends it
 * from here, a customer in their account.
 */
function subscriptionNote(app: App, order: OrderRow, site: Site, now: number): SubscriptionNote | null {
  if (order.userId !== null) return accountNote(app, order, site)
  const subscription = guestSubscriptionOf(app, order)
  if (subscription === null) return null
  const { t } = site
  const { currentPeriodEnd, nextPaymentAt, canCancel } = subscription
  const isRunning = Date.parse(currentPeriodEnd) > now
  const day = dayText(currentPeriodEnd, site)
  if (nextPaymentAt === null) {
    const text = t(isRunning ? 'subscription.yoursEndsOn' : 'subscription.yoursEndedOn', { day })
    return { text: `${text} ${t('subscription.noCharge')}`, link: null }
  }
  const text = t(isRunning ? 'subscription.renewsOn' : 'subscription.waits', { day })
  if (!canCancel) return { text, link: null }
  return {
    text: `${text} ${t('subscription.anyTime')}`,
    link: { label: t('subscription.endYours'), url: `/checkout/subscription/${order.publicToken}` }
  }
}

function accountNote(app: App, { id, renewalOf }: OrderRow, { t }: Site): SubscriptionNote | null {
  const row = findRenewed(app.db, renewalOf ?? id)
  if (row === undefined || row.endedAt !== null) return null
  const link = isOpen(app) ? { label: t('myAccount'), url: '/account' } : null
  return { text: t('subscription.anyTimeInAccount'), link }
}
