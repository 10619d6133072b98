import type { affiliates } from '../affiliates/schema.ts'
import type { GrantSpec } from '../catalog/grants.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { Address, OrderContact } from './address.ts'
import type { Strategy } from './strategies.ts'

/**
 * An order as checkout has worked it out: prices, discounts and attribution are decided, nothing has been taken yet.
 * All amounts are minor units of `currency`. Sums are not in here, they follow from the lines.
 */
export type OrderDraft = {
  /** Null for a guest. */
  userId: number | null
  email: string | null
  contact: OrderContact
  billingAddress: Address | null
  shippingAddress: Address | null
  notes: string | null
  returnUrl: string | null
  cancelUrl: string | null
  strategy: Strategy
  /** How long the order keeps its stock and coupons without being paid. */
  holdMinutes: number
  currency: string
  /** At least one; equal products and variations are merged. */
  lines: readonly DraftLine[]
  coupons: readonly DraftCoupon[]
  attribution: DraftAttribution
}

export type DraftLine = {
  /** Where the request has it (`items.0`), for the refusal when its stock is gone. */
  path: string
  productId: number
  variationId: number | null
  name: string
  quantity: number
  unitPriceMinor: number
  discountMinor: number
  /** unitPriceMinor × quantity − discountMinor. */
  totalMinor: number
  type: ProductType
  grants: readonly GrantSpec[]
}

export type DraftCoupon = {
  /** Where the request has it (`couponCode`, `couponCodes.1`). */
  path: string
  couponId: number
  code: string
  discountMinor: number
  /** `user:7` or `email:<compare key>`; null while nobody is known. */
  customerKey: string | null
}

/** The order-attribution values and the marketing values of an order, and why it has them (docs/contract.md 5.9). */
export type DraftAttribution = {
  sourceType: 'referral' | 'utm' | 'typein'
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  /** Replaced by `visit:<id>` when an affiliate is credited: the visit is recorded with the order. */
  utmContent: string | null
  marketingUtmSource: string | null
  marketingUtmMedium: string | null
  marketingUtmCampaign: string | null
  marketingUtmContent: string | null
  refSent: string | null
  refOutcome: 'none' | 'credited' | 'unknown' | 'not_active' | 'self' | 'module_off'
  /** Who is credited; present exactly when `refOutcome` is `credited`. */
  credit: { affiliate: typeof affiliates.$inferSelect; campaign: string | null; note?: 'plus_address' } | null
}
