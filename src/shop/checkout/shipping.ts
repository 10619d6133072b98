import type { Db, Tx } from '../../platform/db/database.ts'
import { shipToOf, destinationOf } from '../../platform/postal/address.ts'
import { countryName, countryCodes } from '../../platform/postal/countries.ts'
import type { Place, Addresses } from '../../platform/postal/address.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ChosenShipping } from '../orders/create-order.ts'
import { refusal } from '../orders/problems.ts'
import type { MethodChoice, ProblemCode } from '../orders/shapes.ts'
import type { Refusal } from '../orders/problems.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import {
  needsAddress,
  offeredFor,
  methodsOfCountry,
  pickupMethods,
  zoneCountries,
  everywhereElse
} from '../shipping/zones.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import type { Goods, OfferedMethod } from '../shipping/zones.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { Address } from '../orders/address.ts'
import { setting } from '../settings/settings.ts'
import { validationFailed } from '../../errors.ts'
import { recurringOfOrder, renewingLines } from '../orders/renewal-order.ts'
import type { Recurring, RenewingLine } from '../orders/renewal-order.ts'
import { itemsOf } from '../orders/find.ts'
import { repriced, repriceOrder, setShipping, withShipping } from '../orders/reprice-order.ts'
import type { OrderItemRow, OrderRow } from '../orders/find.ts'
import { toColumns } from '../orders/totals.ts'
import type { TaxLine } from '../tax/terms.ts'

/** What a cart or an order can be shipped by. */
export type ShippingChoice = {
  /** Whether something has to be shipped. */
  isRequired: boolean
  /** Whether the buyer chooses a method: something has to be shipped, and the shop has shipping zones. */
  hasMethods: boolean
  /** Whether a method is missing. */
  needsMethod: boolean
  /** In the order of the zone, then those for picking up, which need no country. */
  methods: OfferedMethod[]
  chosen: OfferedMethod | null
}

/**
 * The methods that can ship these goods, and the chosen one.
 *
 * @param wanted.country undefined if it is not known
 * @param wanted.methodId what the buyer chose, if anything; a method that is not offered counts as no choice
 * @param wanted.orCheapest without a choice, the cheapest method that ships is chosen
 */
export function shippingChoice(
  db: Db,
  goods: readonly (Goods & RenewingLine)[],
  wanted: { country: string | undefined; methodId: string | undefined; currency: string; orCheapest?: boolean }
): ShippingChoice {
  const { country, methodId, currency, orCheapest = false } = wanted
  const isRequired = needsShipping(goods)
  if (!isRequired || zoneCountries(db).length === 0)
    return { isRequired, hasMethods: false, needsMethod: false, methods: [], chosen: null }
  const isShippedTo = country !== undefined && shipToCountries(db).includes(country)
  const shipping = isShippedTo ? (methodsOfCountry(db, country) ?? []) : []
  const methods = offeredFor([...shipping, ...pickupMethods(db)], { goods, renewing: renewingLines(goods), currency })
  const cheapest = orCheapest && methodId === undefined ? cheapestOf(methods) : null
  const chosen = methods.find(({ id }) => id === methodId) ?? cheapest
  return { isRequired, hasMethods: true, needsMethod: chosen === null, methods, chosen }
}

function cheapestOf(methods: readonly OfferedMethod[]): OfferedMethod | null {
  return methods
    .filter(({ pickup }) => !pickup)
    .reduce<OfferedMethod | null>(
      (best, each) => (best !== null && best.amountMinor <= each.amountMinor ? best : each),
      null
    )
}

/** The chosen method as an order stores it. */
export function toChosenShipping({ chosen }: Pick<ShippingChoice, 'chosen'>): ChosenShipping | null {
  if (chosen === null) return null
  const { amountMinor, renewalMinor, ...method } = chosen
  return { method, amountMinor, renewalMinor }
}

/** What a checkout says about where to ship and how. */
export type ShippingRequest = {
  strategy: Strategy
  /** The address for what has to be shipped. */
  shipTo: Place | null
  country: string | undefined
  /** Whether the country is that of the shipping address, and not of the billing address. */
  isExplicit: boolean
  methodId: string | undefined
  /** The buyer is asked for a missing address after the payment (setting checkout.missingAddress). */
  asksLater: boolean
}

/**
 * Why a cart cannot be shipped as a checkout asks for it. A payment token needs an address and a method. The page of a
 * redirect asks for what is missing, so only an explicit country to which the shop has no shipping is refused.
 *
 * @param choices the methods to choose from, with their prices
 */
export function shippingRefusals(
  db: Db,
  choice: ShippingChoice,
  request: ShippingRequest,
  choices: () => MethodChoice[]
): Refusal[] {
  if (!choice.isRequired || choice.chosen?.pickup === true) return []
  const { strategy, shipTo, country, isExplicit, methodId, asksLater } = request
  const hasZones = zoneCountries(db).length > 0
  const isToken = takesToken(strategy)
  const problem = (path: string, code: ProblemCode, message: string): Refusal[] => [refusal({ path, code, message })]
  const choose = (code: ProblemCode, message: string): Refusal[] => [
    refusal({ path: 'shippingMethod', code, message, choices: choices() })
  ]
  const mustFit = isToken ? shipTo !== null || hasZones : hasZones && isExplicit
  if (country !== undefined && mustFit && !shipToCountries(db).includes(country))
    return problem('shippingAddress', 'no_shipping_there', `We do not ship to ${countryName(country)}.`)
  if (!hasZones) return []
  if (country !== undefined && mustFit && choice.methods.length === 0) {
    const message = `We cannot ship an order of this weight to ${countryName(country)}.`
    return problem('shippingAddress', 'no_shipping_there', message)
  }
  if (!isToken) return []
  if (country === undefined || (shipTo === null && !asksLater))
    return problem('shippingAddress', 'address_needed', 'Enter the address to ship to.')
  if (choice.chosen !== null) return []
  if (methodId === undefined) return choose('address_needed', 'Choose a shipping method.')
  const message = `This shipping method is not available for ${countryName(country)}. Choose another one.`
  return choose('no_shipping_there', message)
}

/** The codes of the countries that the shop ships to: those of the setting that have a shipping zone, if there are zones. */
export function shipToCountries(db: Db): readonly string[] {
  const listed = setting(db, 'checkout.shipTo')
  const wanted = listed.length === 0 ? countryCodes() : listed
  const zoned = new Set(zoneCountries(db))
  return zoned.size === 0 || zoned.has(everywhereElse) ? wanted : wanted.filter((country) => zoned.has(country))
}

/** Whether an order needs an address, but has none in a country that the shop ships to. */
export function lacksAddress(
  db: Db,
  lines: readonly { type: ProductType }[],
  { shippingMethod, ...addresses }: Addresses<Address> & { shippingMethod: Pick<ChosenMethod, 'pickup'> | null }
): boolean {
  if (!needsAddress(lines, shippingMethod)) return false
  const address = shipToOf(addresses)
  return address === null || isElsewhere(db, address)
}

function isElsewhere(db: Db, { country }: Place): boolean {
  // A zone cannot be found without a country.
  if (country === undefined) return zoneCountries(db).length > 0
  return !shipToCountries(db).includes(country)
}

/** Whether an order must get a shipping method before it can be paid. */
export function lacksMethod(db: Db, order: OrderRow): boolean {
  return order.shippingMethod === null && orderShipping(db, order).needsMethod
}

/** The methods that can ship an unpaid order, and the chosen one: by default the one that it has. */
export function orderShipping(db: Db, order: OrderRow, methodId?: string): ShippingChoice {
  const wanted = { country: destinationOf(order)?.country, methodId: methodId ?? order.shippingMethod?.id }
  return shippingChoice(db, itemsOf(db, order.id), { ...wanted, currency: order.currency })
}

/** What a form shows of an unpaid order before its input is stored. */
export type ShownOrder = {
  shown: OrderRow
  lines: readonly OrderItemRow[]
  taxes: readonly TaxLine[]
  choice: ShippingChoice
  recurring: Recurring<OrderItemRow> | null
}

/**
 * An unpaid order as a form shows it before its input is stored: for the address, and with the method, that are chosen
 * there. Without a choice, it has its own method, else the first one that ships.
 */
export function showOrder(
  db: Db,
  order: OrderRow,
  wanted: { address: { country?: string | undefined; state?: string | undefined } | null; methodId: string | undefined }
): ShownOrder {
  const { country, state } = wanted.address ?? {}
  const place = { ...(country === undefined ? {} : { country }), ...(state === undefined ? {} : { state }) }
  const items = itemsOf(db, order.id)
  const isShipped = needsShipping(items)
  const at = isShipped ? { shippingAddress: { address1: '-', ...place } } : { billingAddress: place }
  const moved = wanted.address === null ? order : { ...order, ...at }
  const choice = orderShipping(db, moved, wanted.methodId)
  const own = choice.methods.find(({ id }) => id === order.shippingMethod?.id)
  const chosen = choice.chosen ?? own ?? choice.methods.find(({ pickup }) => !pickup) ?? null
  const shipped = choice.hasMethods ? withShipping(moved, toChosenShipping({ chosen })) : moved
  const { totals, lines } = repriced(db, shipped)
  const shown = { ...order, ...toColumns(totals), shippingMethod: shipped.shippingMethod }
  const recurring = recurringOfOrder(db, shipped, lines)
  return { shown, lines, taxes: totals.tax.lines, choice: { ...choice, chosen }, recurring }
}

/**
 * Stores the shipping method that the buyer chose, and computes the sums for the address. An order that has this method to
 * this address already keeps its price, also if the shop has changed it.
 *
 * @param before the order before the buyer's address was stored
 * @throws AppError VALIDATION_FAILED (`shipping_method`) without a method that is offered
 */
export function chooseShipping(
  tx: Tx,
  { before, order }: { before: OrderRow; order: OrderRow },
  methodId: string | undefined,
  now: number
): OrderRow {
  const isMoved = placesOf(before) !== placesOf(order)
  const isOther = methodId !== undefined && methodId !== order.shippingMethod?.id
  if (order.shippingMethod !== null && !isMoved && !isOther) return order
  const choice = orderShipping(tx, order, methodId)
  if (choice.needsMethod) throw validationFailed({ shipping_method: ['Please choose how to ship the order.'] })
  if (choice.hasMethods) return setShipping(tx, order, toChosenShipping(choice), now)
  return isMoved ? repriceOrder(tx, order, now) : order
}

/** Computes the price of an unpaid order's shipping method again, because its goods cost something else. */
export function repriceShipping(tx: Tx, order: OrderRow, now: number): OrderRow {
  const { chosen } = orderShipping(tx, order)
  if (order.shippingMethod === null || chosen === null) return order
  const isSame = chosen.amountMinor === (order.listShippingMinor ?? order.shippingMinor)
  return isSame ? order : setShipping(tx, order, toChosenShipping({ chosen }), now)
}

/** The parts of the addresses that the shipping and the tax depend on. */
function placesOf(order: OrderRow): string {
  return JSON.stringify(
    [destinationOf(order), order.billingAddress].map((address) => [address?.country, address?.state])
  )
}
