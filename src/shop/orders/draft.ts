import type { affiliates } from '../affiliates/schema.ts'
import type { GrantSpec } from '../catalog/grants.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { TaxClass } from '../tax/input.ts'
import type { Address, OrderContact } from './address.ts'
import type { ShippingMethod } from './shipping-method.ts'
import type { Strategy } from './strategies.ts'

/**
 * An order that checkout has priced and attributed, before it takes stock and coupons. All amounts are minor units of
 * `currency`. It has no totals, because they follow from the lines and the shipping.
 */
export type OrderDraft = {
  /** Null for a guest. */
  userId: number | null
  email: string | null
  contact: OrderContact
  billingAddress: Address | null
  shippingAddress: Address | null
  vatId: string | null
  notes: string | null
  returnUrl: string | null
  cancelUrl: string | null
  strategy: Strategy
  /** How long the order keeps its stock and coupons without being paid. */
  holdMinutes: number
  currency: string
  /** Who places it, for its history; the checkout by default. */
  by?: 'operator'
  /** At least one; equal products and variations are merged. */
  lines: readonly DraftLine[]
  coupons: readonly DraftCoupon[]
  shipping: DraftShipping | null
  attribution: DraftAttribution
}

export type DraftLine = {
  /** Its path in the request (`items.0`), for the error when it is out of stock. */
  path: string
  productId: number
  variationId: number | null
  name: string
  /** The variation's SKU; null for a product without variations. */
  sku: string | null
  quantity: number
  unitPriceMinor: number
  /** With reverse charge: the price with the tax that the buyer does not pay; otherwise null. */
  listPriceMinor: number | null
  discountMinor: number
  /** unitPriceMinor × quantity − discountMinor. */
  totalMinor: number
  type: ProductType
  taxClass: TaxClass
  /** The weight of one unit; null if it is unknown. */
  weightGrams: number | null
  grants: readonly GrantSpec[]
}

/** How an order is shipped, and what that costs; a buyer with reverse charge pays it without the tax. */
export type DraftShipping = { method: ShippingMethod; amountMinor: number }

export type DraftCoupon = {
  /** Its path in the request (`couponCode`, `couponCodes.1`). */
  path: string
  couponId: number
  code: string
  discountMinor: number
  /** `user:7` or `email:<compare key>`; null while the buyer is unknown. */
  customerKey: string | null
}

/** The attribution and marketing values of an order, and their reasons (docs/contract.md 5.9). */
export type DraftAttribution = {
  sourceType: 'referral' | 'utm' | 'typein'
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  /** Replaced by `visit:<id>` when an affiliate is credited, because the order records the visit. */
  utmContent: string | null
  marketingUtmSource: string | null
  marketingUtmMedium: string | null
  marketingUtmCampaign: string | null
  marketingUtmContent: string | null
  refSent: string | null
  refOutcome: 'none' | 'credited' | 'unknown' | 'not_active' | 'self' | 'module_off'
  /** The credited affiliate; null unless `refOutcome` is `credited`. */
  credit: { affiliate: typeof affiliates.$inferSelect; campaign: string | null; note?: 'plus_address' } | null
}
