import { readSnapshot } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { hasPointsLeft, takePoints } from '../limits/points.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import type { PartProblem, Problem } from '../orders/shapes.ts'
import type { Quote } from './shapes.ts'
import { isVoucher } from '../catalog/product-types.ts'
import { freeMinor } from '../gift-cards/cards.ts'
import { takesToken } from '../orders/strategies.ts'
import { buyerOf, hasCodes, lineAt, pathOf, methodChoices, saleOf, vatIdOf } from './cart.ts'
import { heldRefusals, ifReleased, replacedOrders } from './held-orders.ts'
import { evaluateCodes } from './limits.ts'
import type { QuoteBody } from './input.ts'
import { unofferedMessages, unofferedReason } from './payment-config.ts'
import { currentHoliday, holidayText } from '../settings/holiday.ts'
import { translateProblem } from '../settings/translate.ts'
import { allRefusals } from './refusals.ts'
import type { CartCaller, Sale } from './cart.ts'
import { toMajor } from '../../platform/money.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { NewLine } from '../orders/create-order.ts'
import { asksDeliveryConsent } from '../declarations/delivery-consent.ts'
import { addInterval } from '../benefits/period.ts'
import { recurringOf, toRecurring } from '../orders/renewal-order.ts'
import type { Recurring } from '../orders/renewal-order.ts'
import { isReady } from '../payments/gateway.ts'
import { toTaxes } from '../orders/totals.ts'
import { confirmVatId } from '../tax/vat-checks.ts'

/** The client of a quote. */
export type QuoteCaller = CartCaller & { addressKey: string }

/**
 * The prices, discounts and problems that a checkout with the same body would have at `now`. It writes nothing and holds
 * nothing. What the buyer's own unpaid order holds for the same products counts as available, as for a checkout. A quote
 * with coupon codes takes a point of `checkout_ip`, and one of `coupon_failure` for each wrong code, so that codes cannot
 * be guessed faster than by checkouts.
 *
 * @throws AppError RATE_LIMITED (checkout_ip, coupon_failure) for a quote with coupon codes
 */
export async function quoteCart(shop: ShopContext, body: QuoteBody, caller: QuoteCaller, now: number): Promise<Quote> {
  await confirmVatId(shop, vatIdOf(body), caller.addressKey)
  const quoted = (): Quoted => readSnapshot(shop.db, () => quoteOf(shop, body, caller, now))
  const released = (work: () => Quoted): Promise<Quoted> =>
    ifReleased(shop.db, replacedOrders(shop.db, caller.holder, body), work)
  if (!hasCodes(body)) return (await released(quoted)).quote
  const { addressKey } = caller
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'checkout_ip', key: addressKey })
  const { quote } = await evaluateCodes(shop, addressKey, (evaluate) =>
    released(() => evaluate(quoted, ({ wrongCodes }) => wrongCodes))
  )
  return quote
}

type Quoted = { quote: Quote; wrongCodes: number }

function quoteOf(shop: ShopContext, body: QuoteBody, caller: QuoteCaller, now: number): Quoted {
  const sale = saleOf(shop.db, body, buyerOf(shop, body, caller, now), now)
  const refusals = allRefusals(shop, shop.db, sale, now).flatMap((group) => group.refusals)
  const all = [...refusals, ...shopRefusals(shop, sale, caller, now)]
  return {
    quote: toQuote(shop, sale, all, now),
    wrongCodes: sale.cart.codeRefusals.length + sale.giftCards.filter((card) => card.refusal !== null).length
  }
}

/** What prevents a checkout of any cart at the moment. */
function shopRefusals(shop: ShopContext, sale: Sale, { addressKey }: QuoteCaller, now: number): Refusal[] {
  const { strategy } = sale
  // What gift cards pay as a whole needs no gateway.
  const isCovered = sale.giftCards.length > 0 && sale.dueMinor === 0
  const unoffered = isCovered ? undefined : unofferedReason(shop, strategy)
  const buckets = takesToken(strategy) ? (['checkout_ip', 'checkout_decline'] as const) : (['checkout_ip'] as const)
  const isLimited = buckets.some((bucket) => !hasPointsLeft(shop, { bucket, key: addressKey }))
  const holiday = currentHoliday(shop.db, now)
  return [
    ...(holiday === null ? [] : [refusal({ path: '_body', code: 'shop_closed', message: holidayText(holiday) })]),
    ...(unoffered === undefined
      ? []
      : [refusal({ path: 'strategy', code: 'payment_unavailable', message: unofferedMessages[unoffered] })]),
    ...heldRefusals(shop.db, sale, now),
    ...(isLimited ? [refusal({ path: '_body', code: 'too_many_attempts', message: tooManyAttempts })] : [])
  ]
}

const tooManyAttempts = 'Too many attempts. Please try again later.'

/** A sale and everything that prevents it, for a site. */
export function toQuote(
  { db, cards, publicUrl }: Pick<ShopContext, 'db' | 'cards' | 'publicUrl'>,
  sale: Sale,
  refusals: readonly Refusal[],
  now: number
): Quote {
  const { cart, currency, shipping, totals, vatCheck } = sale
  const { cartLines, lines } = cart
  const problems = refusals.map(({ problem }) => problem)
  const major = (minor: number): number => toMajor(minor, currency)
  const { subtotalMinor, discountMinor, shippingMinor, tax, totalMinor } = totals
  const recurring = recurringOfSale(sale, cards)
  return {
    currency,
    lines: cartLines.map((line) => ({
      productId: line.productId,
      variationId: line.variationId,
      name: line.name,
      quantity: line.quantity,
      unitPrice: line.unitPriceMinor === null ? null : major(line.unitPriceMinor),
      total: major(lines.find(({ path }) => path === pathOf(line))?.totalMinor ?? 0),
      image: line.name === null ? null : lineImage(db, line, publicUrl()),
      problem: partOf(problems.find(({ path }) => lineAt(cartLines, path) === line))
    })),
    coupons: cart.codes.map(({ path, code }) => {
      const problem = partOf(problems.find((each) => each.path === path))
      return { code, accepted: problem === null, problem }
    }),
    giftCards: sale.giftCards.map(({ code, card, amountMinor, refusal: refused }) => ({
      code,
      accepted: refused === null,
      amount: major(amountMinor),
      balance: card === null ? null : toMajor(freeMinor(card), card.currency),
      problem: refused === null ? null : partOf(refused.problem)
    })),
    subtotal: major(subtotalMinor),
    discount: major(discountMinor),
    shipping: {
      required: shipping.isRequired,
      methods: methodChoices(sale),
      chosen: shipping.chosen?.id ?? null,
      amount: major(shippingMinor)
    },
    tax: { included: tax.included, amount: major(tax.amountMinor), lines: toTaxes(tax.lines, currency) },
    total: major(totalMinor),
    due: major(sale.dueMinor),
    vatId: vatCheck && { outcome: vatCheck.outcome, accepted: vatCheck.accepted },
    recurring: recurring && toRecurring(recurring, currency, addInterval(now, recurring.interval)),
    asksDeliveryConsent: asksDeliveryConsent(db, lines),
    asksGiftRecipient: lines.some(({ type }) => isVoucher(type)),
    payable: problems.length === 0,
    problems
  }
}

/** A cart that costs nothing is renewed if the gateway's page asks for a card (`asksCard`). */
function recurringOfSale(
  { cart, shipping, currency, totals, strategy }: Sale,
  cards: ShopContext['cards']
): Recurring<NewLine> | null {
  if (totals.totalMinor === 0 && (takesToken(strategy) || !isReady(cards))) return null
  return recurringOf(cart.terms, { lines: cart.lines, shippingMinor: shipping.chosen?.renewalMinor ?? 0, currency })
}

/** A quote whose problems are in the language of whom the shop serves. */
export function translateQuote(shop: ShopContext, quote: Quote): Quote {
  const say = <T extends { problem: PartProblem | null }>(part: T): T => ({
    ...part,
    problem: translateProblem(shop, part.problem)
  })
  return {
    ...quote,
    lines: quote.lines.map(say),
    coupons: quote.coupons.map(say),
    giftCards: quote.giftCards.map(say),
    problems: quote.problems.map((problem) => translateProblem(shop, problem))
  }
}

function partOf(problem: Problem | undefined): PartProblem | null {
  if (problem === undefined) return null
  const { path: _path, ...part } = problem
  return part
}
