import { keysOf } from '../../platform/typed.ts'
/**
 * Every type of product. `isShipped`: the buyer gives an address, and a paid order waits until it is sent. `isVoucher`: it is a
 * gift card, which is not turnover and not taxed until it is used, takes no coupon, and is not paid by another gift card.
 */
const types = {
  physical: { isShipped: true, isVoucher: false },
  digital: { isShipped: false, isVoucher: false },
  gift_card: { isShipped: false, isVoucher: true }
} as const satisfies Record<string, { isShipped: boolean; isVoucher: boolean }>

export type ProductType = keyof typeof types

export const productTypes = keysOf(types)

/** Whether a product of a type is shipped. */
export function isShipped(type: ProductType): boolean {
  return types[type].isShipped
}

/** Whether a product of a type is a gift card. */
export function isVoucher(type: ProductType): boolean {
  return types[type].isVoucher
}

/** What coupons can take a part of: not the price of a gift card. */
export function discountableMinor({ type, amountMinor }: { type: ProductType; amountMinor: number }): number {
  return isVoucher(type) ? 0 : amountMinor
}

/** Whether any line of a cart or an order has to be shipped. */
export function needsShipping(items: readonly { type: ProductType }[]): boolean {
  return items.some(({ type }) => isShipped(type))
}
