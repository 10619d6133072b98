import type { Db } from '../../platform/db/database.ts'
import { countryName } from '../../platform/postal/countries.ts'
import type { Place } from '../../platform/postal/ship-to.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ChosenShipping } from '../orders/create-order.ts'
import { refusal } from '../orders/problems.ts'
import type { ProblemCode, Refusal } from '../orders/problems.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { offeredFor } from '../shipping/costs.ts'
import type { Goods, OfferedMethod } from '../shipping/costs.ts'
import { methodsOfCountry, pickupMethods, zoneCountries } from '../shipping/zones.ts'
import { shipToCountries } from './ship-to.ts'

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
 */
export function shippingChoice(
  db: Db,
  goods: readonly Goods[],
  wanted: { country: string | undefined; methodId: string | undefined; currency: string }
): ShippingChoice {
  const { country, methodId, currency } = wanted
  const isRequired = needsShipping(goods)
  if (!isRequired || zoneCountries(db).length === 0)
    return { isRequired, hasMethods: false, needsMethod: false, methods: [], chosen: null }
  const isShippedTo = country !== undefined && shipToCountries(db).includes(country)
  const shipping = isShippedTo ? (methodsOfCountry(db, country) ?? []) : []
  const methods = offeredFor([...shipping, ...pickupMethods(db)], goods, currency)
  const chosen = methods.find(({ id }) => id === methodId) ?? null
  return { isRequired, hasMethods: true, needsMethod: chosen === null, methods, chosen }
}

/** The chosen method as an order stores it. */
export function toChosenShipping({ chosen }: Pick<ShippingChoice, 'chosen'>): ChosenShipping | null {
  if (chosen === null) return null
  const { amountMinor, ...method } = chosen
  return { method, amountMinor }
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
}

/**
 * Why a cart cannot be shipped as a checkout asks for it. A payment token needs an address and a method. The page of a
 * redirect asks for what is missing, so only an explicit country to which the shop has no shipping is refused.
 */
export function shippingRefusals(db: Db, choice: ShippingChoice, request: ShippingRequest): Refusal[] {
  if (!choice.isRequired || choice.chosen?.pickup === true) return []
  const { strategy, shipTo, country, isExplicit, methodId } = request
  const hasZones = zoneCountries(db).length > 0
  const isToken = takesToken(strategy)
  const problem = (path: string, code: ProblemCode, message: string): Refusal[] => [refusal({ path, code, message })]
  const mustFit = isToken ? shipTo !== null || hasZones : hasZones && isExplicit
  if (country !== undefined && mustFit && !shipToCountries(db).includes(country))
    return problem('shippingAddress', 'no_shipping_there', `We do not ship to ${countryName(country)}.`)
  if (!hasZones) return []
  if (country !== undefined && mustFit && choice.methods.length === 0) {
    const message = `We cannot ship an order of this weight to ${countryName(country)}.`
    return problem('shippingAddress', 'no_shipping_there', message)
  }
  if (!isToken) return []
  if (country === undefined || shipTo === null)
    return problem('shippingAddress', 'address_needed', 'Enter the address to ship to.')
  if (choice.chosen !== null) return []
  if (methodId === undefined) return problem('shippingMethod', 'address_needed', 'Choose a shipping method.')
  const message = `This shipping method is not available for ${countryName(country)}. Choose another one.`
  return problem('shippingMethod', 'no_shipping_there', message)
}
