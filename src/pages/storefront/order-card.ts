import type { BoughtCard, BuyerOrder, Download, Order, Refund, Return, Shipment } from '../../client/api-types.ts'
import { dayText, money, taxName } from '../../platform/texts/languages.ts'
import { toPicture } from './products.ts'
import type { Picture } from './products.ts'
import type { Site } from './site.ts'

/** The colour of a state on pages. */
export type Tone = 'good' | 'wait' | 'bad'

type Status = BuyerOrder['status']

/** What the storefront knows about each state of an order. `over`: the order does not hold its goods any more. */
export const orderStates: Readonly<Record<Status, { tone: Tone; paid: boolean; over: boolean }>> = {
  pending: { tone: 'wait', paid: false, over: false },
  'on-hold': { tone: 'wait', paid: false, over: false },
  processing: { tone: 'good', paid: true, over: false },
  completed: { tone: 'good', paid: true, over: false },
  failed: { tone: 'bad', paid: false, over: true },
  cancelled: { tone: 'bad', paid: false, over: true },
  refunded: { tone: 'good', paid: false, over: true }
}

/** The lines and sums of an order as summary.eta shows them. */
export type Summary = {
  caption: string
  lines: { name: string; quantity: number; amount: string; href?: string | null; picture?: Picture | null }[]
  sums: { label: string; amount: string; isTotal: boolean }[]
  /** What each renewal costs; null for an order that nothing renews. */
  renewal?: string | null
}

/** An order as order-card.eta shows it: its state, lines and sums. */
export type OrderCard = {
  id: number
  name: string
  /** The address of its own page, if the viewer can open it. */
  href: string | null
  tone: Tone
  label: string
  createdAt: string
  day: string
  /** Which order it renews, or adds to. */
  renews: string | null
  summary: Summary
}

/** `unitPrice` is the price before the discount. */
type Line = { name: string; quantity: number; total: number; unitPrice?: number; productSlug?: string | null }
type ShownOrder = Order & Partial<Pick<BuyerOrder, 'taxes' | 'images' | 'refunds'>> & { lines?: Line[] }

/** The view of an order in a list, or of one with its sums. */
export function orderCard(order: ShownOrder, site: Site, { href = null }: { href?: string | null } = {}): OrderCard {
  const { id, status, refundState, createdAt, currency, lineItems, lines, images } = order
  const amount = (value: number): string => money(value, site, currency)
  const shown: Line[] = lines ?? lineItems
  return {
    id,
    name: site.t('order.name', { id }),
    href,
    tone: refundState === 'failed' ? 'bad' : orderStates[status].tone,
    label: labelOf(order, site),
    createdAt,
    day: dayText(createdAt, site),
    renews: relationOf(order, site),
    summary: {
      caption: site.t('order.contents', { id }),
      lines: shown.map(({ name, quantity, total, unitPrice, productSlug }, index) => ({
        name,
        quantity,
        href: productSlug == null ? null : `/products/${productSlug}`,
        amount: amount(unitPrice === undefined ? total : unitPrice * quantity),
        picture: images === undefined ? null : toPicture(images[index] ?? null, name, site)
      })),
      sums: sumsOf(order, site).map(([label, value, isTotal = false]) => ({ label, amount: amount(value), isTotal }))
    }
  }
}

/** How an order belongs to another one; null for an order of its own. */
function relationOf({ renewalOf, addedTo }: Pick<Order, 'renewalOf' | 'addedTo'>, { t }: Site): string | null {
  if (addedTo !== null) return t('order.addsTo', { id: addedTo })
  return renewalOf === null ? null : t('order.renewal', { id: renewalOf })
}

/** The state of an order, with what is known of its refunds. */
function labelOf({ status, refundState }: Pick<Order, 'status' | 'refundState'>, { t }: Site): string {
  if (refundState === 'failed') return t('state.refund_failed.label')
  const state = t(`state.${status}.label`)
  return refundState === 'partial' && status !== 'refunded' ? t('state.partly_refunded', { state }) : state
}

/** What went back to the buyer, or is on its way, after the total. */
function refundSums(refunds: readonly Refund[], { t }: Site): [string, number][] {
  return refunds
    .filter(({ state }) => state !== 'failed')
    .map(({ state, lines, amount }) => {
      const what = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
      const label = t(state === 'done' ? 'sum.refunded' : 'sum.refundRequested')
      return [what === '' ? label : `${label}: ${what}`, -amount]
    })
}

/** The sums that lead to the total, and what was refunded of it. Without prices before the discount, the lines contain their share of it. */
function sumsOf({ total, totals, taxes = [], refunds = [], lines }: ShownOrder, site: Site): [string, number, true?][] {
  const { t } = site
  const { discount, shipping, taxIncluded } = totals
  const taxRows = (isShown: (tax: (typeof taxes)[number]) => boolean) =>
    taxes
      .filter(isShown)
      .map((tax): [string, number] => [taxLabel({ ...tax, included: taxIncluded }, site), tax.amount])
  return [
    ...(lines !== undefined && discount > 0 ? [[t('sum.discount'), -discount] satisfies [string, number]] : []),
    ...(shipping > 0 ? [[t('sum.shipping'), shipping] satisfies [string, number]] : []),
    ...taxRows(({ ratePercent }) => !taxIncluded || ratePercent === 0),
    [t('sum.total'), total, true],
    ...taxRows(({ ratePercent }) => taxIncluded && ratePercent > 0),
    ...refundSums(refunds, site)
  ]
}

/** The name of a tax, such as `incl. 19% VAT`. A rate of zero is in no price. */
export function taxLabel(
  { name, ratePercent, included }: { name: string; ratePercent: number; included: boolean },
  site: Site
): string {
  const { language, t } = site
  const label = taxName(name, site)
  if (ratePercent === 0) return label
  const rate = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 4 }).format(ratePercent / 100)
  const tax = `${rate} ${label}`
  return included ? t('sum.taxIncluded', { name: tax }) : tax
}

/** Only the path, because the page may be open under another host name than the public URL. */
export function pathOf(url: string): string {
  return new URL(url, 'http://this.invalid').pathname
}

/** A file that a buyer can download, with the day until which its link works. */
export function fileLink({ name, url, expiresAt }: Download, site: Site) {
  return { name, href: pathOf(url), note: site.t('account.linkUntil', { day: dayText(expiresAt, site) }) }
}

type Access = {
  downloads: Download[]
  accountAccess: 'waiting' | 'given' | null
  orderToken: string
  hasAccounts: boolean
}

/** How the buyer gets what the order gave, as access.eta shows it. */
export function accessView({ downloads, accountAccess, orderToken, hasAccounts }: Access, site: Site) {
  return {
    files: downloads.map((download) => fileLink(download, site)),
    claim: accountAccess === 'waiting' ? `/checkout/claim/${orderToken}` : null,
    account: accountAccess === 'given' && hasAccounts ? '/account' : null
  }
}

/** The codes of gift cards as gift-cards.eta shows them. */
export function cardTexts(cards: readonly BoughtCard[], site: Site) {
  return cards.map(({ code, balance, currency, expiresAt }) => {
    const until =
      expiresAt === null
        ? []
        : [`${site.t('giftCard.until')} ${dayText(new Date(Date.parse(expiresAt) - 1).toISOString(), site)}`]
    return { code, note: [money(balance, site, currency), ...until].join(' · ') }
  })
}

/** What a buyer reads of a return; nothing of one that was given up. */
export function returnText({ id, state, lines, exchange }: Return, { t }: Site): string[] {
  if (state === 'dropped') return []
  const goods = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  return [t(`order.return.${state}`, { id, goods, order: exchange ?? '' })]
}

/** A shipment as shipments.eta shows it. */
export function shipmentText({ shippedAt, carrier, tracking, url, lines }: Shipment, site: Site) {
  const how = [carrier, tracking].filter((part) => part !== null).join(' ')
  return {
    shippedAt,
    day: dayText(shippedAt, site),
    goods: lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', '),
    how: url === null ? how : '',
    url,
    track: carrier === null ? site.t('order.trackParcel') : site.t('order.track', { carrier })
  }
}
