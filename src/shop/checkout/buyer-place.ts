import type { Db } from '../../platform/db/database.ts'
import { destinationOf, shipToOf } from '../../platform/postal/address.ts'
import { isShipped, isVoucher, needsShipping } from '../catalog/product-types.ts'
import { isNamed } from '../orders/address.ts'
import type { Address, OrderContact } from '../orders/address.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import { takesToken } from '../orders/strategies.ts'
import { setting } from '../settings/settings.ts'
import { isOwedByBuyer } from '../tax/categories.ts'
import { dependsOnPlace, saleTerms } from '../tax/terms.ts'
import type { TaxedBuyer, TaxedKind } from '../tax/terms.ts'
import { contactOf, errorsOf } from './address-rules.ts'
import { vatIdOf } from './cart.ts'
import type { Sale } from './cart.ts'

type Place = { readonly [Name in keyof Address]?: string | undefined }

/** What is known about a buyer, for the place of a sale. */
export type PlacedBuyer = TaxedBuyer & {
  contact: OrderContact
  billingAddress: Place | null
  shippingAddress: Place | null
}

/**
 * What a buyer must still say about where they are, besides where to ship to: the country, which decides the tax of what is
 * not shipped, or the name and the whole address of a business that buys without tax, which the law wants on its invoice.
 */
export type MissingPlace = 'country' | 'business' | null

/** What an order or a cart lacks. With `checkout.missingAddress` set to `ask`, a checkout needs no country. */
export function missingPlace(db: Db, lines: readonly TaxedKind[], buyer: PlacedBuyer): MissingPlace {
  const { rateOf } = saleTerms(db, buyer)
  const isTaxFree = lines.some((line) => {
    const rate = rateOf(line)
    return rate !== null && isOwedByBuyer(rate)
  })
  if (isTaxFree) return shipToOf(billingFirst(buyer)) !== null && isNamedBusiness(buyer) ? null : 'business'
  const isAsked = dependsOnPlace(db) && setting(db, 'checkout.missingAddress') === 'refuse'
  if (!isAsked || lines.every(({ type }) => isShipped(type) || isVoucher(type))) return null
  return destinationOf(buyer) === null ? 'country' : null
}

function billingFirst({ billingAddress, shippingAddress }: PlacedBuyer) {
  return { shippingAddress: billingAddress, billingAddress: shippingAddress }
}

function isNamedBusiness({ contact, billingAddress, shippingAddress }: PlacedBuyer): boolean {
  return isNamed(contact, billingAddress, shippingAddress)
}

/** Where a buyer's place is stored: with something to ship, the shipping address decides, else the billing address. */
export function placeColumn(lines: readonly Pick<TaxedKind, 'type'>[]): 'shippingAddress' | 'billingAddress' {
  return needsShipping(lines) ? 'shippingAddress' : 'billingAddress'
}

/** What a payment by token lacks. The page of a redirect asks for it. */
export function placeRefusals(db: Db, { sent, cart, strategy, totals, shipping, vatCheck, language }: Sale): Refusal[] {
  if (!takesToken(strategy) || totals.totalMinor === 0) return []
  const buyer = {
    billingAddress: sent.billingAddress ?? null,
    shippingAddress: sent.shippingAddress ?? null,
    vatId: vatIdOf(sent),
    vatCheck,
    contact: contactOf(sent.customer, null),
    shippingMethod: shipping.chosen
  }
  const missing = missingPlace(db, cart.lines, buyer)
  const needed = (path: string, message: string): Refusal => refusal({ path, code: 'address_needed', message })
  if (missing === null) return []
  if (missing === 'country')
    return [needed('billingAddress.country', 'Enter your country. It decides the tax of downloads and services.')]
  const parts =
    shipToOf(billingFirst(buyer)) === null ? errorsOf(sent.billingAddress ?? sent.shippingAddress ?? {}, language) : {}
  const name = isNamedBusiness(buyer) ? [] : [needed('customer.companyName', 'Enter the name of your company.')]
  return [...name, ...Object.entries(parts).map(([part, [message = '']]) => needed(`billingAddress.${part}`, message))]
}
