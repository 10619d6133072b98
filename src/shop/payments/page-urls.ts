import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import type { OrderRow } from '../orders/find.ts'
import { attemptsOf } from './attempts.ts'

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
