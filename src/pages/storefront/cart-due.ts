import type { Quote } from '../../client/client.ts'
import { dayText, money } from '../../platform/texts/languages.ts'
import { dueNotes, renewalNote } from '../../platform/texts/renewal.ts'
import type { Wish } from './cart-order.ts'
import { taxLabel } from './order-card.ts'
import type { Site } from './site.ts'

/**
 * Whether the button of the cart orders, because no other page of the shop comes before the payment. It does with a test
 * card. It also does where EU law asks for a button that says so, if only cards are offered or a gift card pays everything:
 * the gateway's own button does not say so (directive 2011/83/EU, article 8(2); § 312j BGB).
 */
export function ordersHere(site: Site, { strategy }: Wish, { total, due, recurring }: Quote): boolean {
  if (strategy === 'token_handoff') return true
  const isCovered = total > 0 && due === 0
  return site.isEuLaw && (isCovered || !site.cart().byHand) && (total > 0 || recurring !== null)
}

/** The button of the cart. Without a country, the total is not known yet. */
export function submitOf(site: Site, wish: Wish, quote: Quote, isTotalKnown: boolean): { name: string; label: string } {
  const { t, isEuLaw } = site
  if (!ordersHere(site, wish, quote)) return { name: 'pay', label: t('cart.toPayment') }
  if (!isTotalKnown && isEuLaw) return { name: 'update', label: t('continue') }
  return { name: 'pay', label: t(isEuLaw ? 'pay.oblige' : 'cart.payNow') }
}

/** What the buyer owes, directly above a button that orders: now, and with each period of a subscription. */
export function dueTexts(site: Site, wish: Wish, quote: Quote): string[] {
  if (!site.isEuLaw || !ordersHere(site, wish, quote)) return []
  return dueNotes(site, money(quote.due, site), renewalOf(quote, site))
}

/** What each renewal of a subscription in the cart costs; null without one. */
export function renewalText(quote: Quote, site: Site): string | null {
  const renewal = renewalOf(quote, site)
  return renewal && renewalNote(site, renewal, quote.discount > 0)
}

function renewalOf({ recurring }: Quote, site: Site) {
  if (recurring === null) return null
  const { interval, amount, from } = recurring
  return { interval, amount: money(amount, site), day: dayText(from, site) }
}

/** The sums of a cart that lead to what is due. */
export function sumsOf({ subtotal, discount, shipping, tax, total, giftCards, due }: Quote, site: Site) {
  const { t } = site
  const taxes = tax.lines.map((line) => ({
    name: 'tax',
    label: taxLabel({ ...line, included: tax.included }, site),
    value: line.amount,
    isIncluded: tax.included && line.ratePercent > 0
  }))
  const sums = [
    ...(subtotal === total ? [] : [{ name: 'subtotal', label: t('sum.subtotal'), value: subtotal }]),
    ...(discount === 0 ? [] : [{ name: 'discount', label: t('sum.discount'), value: -discount }]),
    ...(shipping.amount === 0 ? [] : [{ name: 'shipping', label: t('sum.shipping'), value: shipping.amount }]),
    ...taxes.filter(({ isIncluded }) => !isIncluded),
    { name: 'total', label: t('sum.total'), value: total },
    ...taxes.filter(({ isIncluded }) => isIncluded),
    ...giftCards.flatMap(({ code, amount }) =>
      amount === 0 ? [] : [{ name: 'gift-card', label: t('sum.giftCard', { name: lastSigns(code) }), value: -amount }]
    ),
    ...(due === total ? [] : [{ name: 'due', label: t('sum.due'), value: due }])
  ]
  return sums.map(({ name, label, value }) => ({ name, label, amount: money(value, site) }))
}

const lastSigns = (code: string): string => code.trim().slice(-4).toUpperCase()
