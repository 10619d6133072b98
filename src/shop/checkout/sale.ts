import type { Db } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/email-key.ts'
import { destinationOf, shipToOf } from '../../platform/postal/ship-to.ts'
import { readVatId } from '../../platform/vat/vat-id.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { Holder } from '../orders/holds.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import { defaultStrategy, takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { computeTotals } from '../orders/totals.ts'
import type { Totals } from '../orders/totals.ts'
import { setting } from '../settings/settings.ts'
import { evaluateCart, sentCodes } from './cart.ts'
import type { EvaluatedCart } from './cart.ts'
import type { QuoteBody } from './input.ts'
import { shippingChoice } from './shipping.ts'
import type { ShippingChoice, ShippingRequest } from './shipping.ts'
import { findPickup } from '../shipping/zones.ts'

/** A cart that a buyer wants to buy, for checkout and quotes alike. */
export type Sale = {
  cart: EvaluatedCart
  /** With the chosen shipping. The total is not final while `shipping.needsMethod`. */
  totals: Totals
  currency: string
  strategy: Strategy
  /** The account that owns the order; null for a guest. */
  userId: number | null
  email: string | null
  /** As the buyer typed it. */
  vatId: string | undefined
  holder: Pick<Holder, 'isGuest' | 'addressKey'>
  /** Where to ship to and how, as the request says it. */
  shippingRequest: ShippingRequest
  shipping: ShippingChoice
  /** Buys a product that the customer already subscribes to. */
  subscribeAgain: boolean
}

/** The sale that a request asks for, with its prices at `now`. */
export function saleOf(db: Db, body: QuoteBody, buyer: Pick<Sale, 'userId' | 'email' | 'holder'>, now: number): Sale {
  const { userId, email } = buyer
  const currency = setting(db, 'shop.currency')
  const customer = { userId, emailKey: email === null ? null : emailKey(email) }
  const taxed = {
    shippingAddress: body.shippingAddress ?? null,
    billingAddress: body.billingAddress ?? null,
    vatId: vatIdOf(body),
    shippingMethod: findPickup(db, body.shippingMethod)
  }
  const cart = evaluateCart(db, { items: body.items, codes: sentCodes(body), currency, taxed }, customer, now)
  const strategy = body.strategy ?? defaultStrategy
  const shippingRequest = shippingRequestOf(body, strategy)
  const { country, methodId } = shippingRequest
  const shipping = shippingChoice(db, cart.lines, { country, methodId, currency })
  const shippingMinor = shipping.chosen?.amountMinor ?? 0
  const totals = computeTotals(cart.terms, { lines: cart.lines, shippingMinor, currency })
  const vatId = body.customer?.vatId
  return {
    ...buyer,
    vatId,
    cart,
    totals,
    currency,
    strategy,
    shippingRequest,
    shipping,
    subscribeAgain: body.subscribeAgain === true
  }
}

function shippingRequestOf(body: QuoteBody, strategy: Strategy): ShippingRequest {
  const shipTo = shipToOf(body)
  const country = destinationOf(body)?.country
  const isExplicit = country !== undefined && body.shippingAddress?.country === country
  return { strategy, shipTo, country, isExplicit, methodId: body.shippingMethod }
}

/** A logged-in customer's own email; a guest's customer.email, else billingAddress.email. */
export function emailOf(body: QuoteBody, user: UserRow | null): string | null {
  return user === null ? (body.customer?.email ?? body.billingAddress?.email ?? null) : user.email
}

/** The VAT id of a business in its stored form; null if there is none, or if it is not valid. */
export function vatIdOf({ customer }: QuoteBody): string | null {
  return readVatId(customer?.vatId ?? '')?.id ?? null
}

/** The refusal of a text that is not a VAT id. */
export function vatIdRefusals(vatId: string | undefined): Refusal[] {
  if (vatId === undefined || readVatId(vatId) !== undefined) return []
  const message = 'Enter a VAT id with its country code, such as ATU12345675.'
  return [refusal({ path: 'customer.vatId', code: 'vat_id_invalid', message })]
}

/** Whether the shop requires the email of a guest before a payment by token. */
export function emailRefusals(db: Db, { email, strategy }: Pick<Sale, 'email' | 'strategy'>): Refusal[] {
  if (email !== null || !takesToken(strategy) || setting(db, 'checkout.guestEmail') !== 'required') return []
  const problem = { path: 'customer.email', code: 'email_needed', message: 'Enter an email.' } as const
  return [refusal(problem, { message: 'Is required.' })]
}
