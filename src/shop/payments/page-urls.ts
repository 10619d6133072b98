import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { statusUrl } from '../orders/order-url.ts'
import type { OrderRow } from '../orders/rows.ts'
import { attemptsOf } from './attempts.ts'

/** Where the gateway's page sends the buyer; both are GETs and prove nothing. */
export type PageUrls = { successUrl: string; cancelUrl: string }

/** What a buyer comes back with. */
export type ReturnResult = 'success' | 'pending' | 'failed' | 'cancelled'

/**
 * Stripe replaces this in a success URL by the id of the Checkout Session, if its braces are not percent-encoded
 * (docs.stripe.com/payments/checkout/custom-success-page). URL encodes them in a path.
 */
const sessionTemplate = '{CHECKOUT_SESSION_ID}'
const encodedTemplate = /%7BCHECKOUT_SESSION_ID%7D/gi

/** An address as URL writes it, with the template for the id of the Checkout Session as the site wrote it. */
export function withTemplate(url: URL): string {
  return url.href.replaceAll(encodedTemplate, sessionTemplate)
}

/** The site's own addresses with the result in their query, or the order's page here if the site gave none. */
export function pageUrls(shop: Pick<ShopContext, 'publicUrl'>, order: OrderRow): PageUrls {
  const own = statusUrl(shop, order)
  return {
    successUrl: order.returnUrl === null ? own : withResult(order.returnUrl, order.id, 'success'),
    // Stripe replaces the template in the success URL only.
    cancelUrl: order.cancelUrl === null ? own : withSession(withResult(order.cancelUrl, order.id, 'cancelled'), null)
  }
}

/**
 * The site's address to which the shop itself sends a buyer. The template is replaced by the id of the order's Checkout
 * Session, or by nothing if it has none (token_handoff, a free order, a bank transfer).
 */
export function siteUrl(db: Db, order: Pick<OrderRow, 'id'>, url: string, result: ReturnResult): string {
  const page = attemptsOf(db, order.id).find(({ kind, objectId }) => kind === 'checkout_session' && objectId !== null)
  return withSession(withResult(url, order.id, result), page?.objectId ?? null)
}

function withSession(url: string, sessionId: string | null): string {
  return url.replaceAll(sessionTemplate, sessionId ?? '')
}

/**
 * The address that a buyer comes back to. Its query proves nothing, so the site asks /orders. The rest of the query stays
 * as the site wrote it; an `orderId` or `result` of an earlier try is replaced.
 */
export function withResult(url: string, orderId: number, result: ReturnResult): string {
  const target = new URL(url)
  const others = target.search.slice(1).split('&').filter(isOther)
  target.search = [...others, `orderId=${orderId}`, `result=${result}`].join('&')
  return withTemplate(target)
}

function isOther(part: string): boolean {
  const [name] = new URLSearchParams(part).keys()
  return part !== '' && name !== 'orderId' && name !== 'result'
}
