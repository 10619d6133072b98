import { keysOf } from '../../platform/typed.ts'
/** Every type of product. `isShipped`: the buyer gives an address, and a paid order waits until it is sent. */
const types = {
  physical: { isShipped: true },
  digital: { isShipped: false }
} as const satisfies Record<string, { isShipped: boolean }>

export type ProductType = keyof typeof types

export const productTypes = keysOf(types)

/** Whether a product of a type is shipped. */
export function isShipped(type: ProductType): boolean {
  return types[type].isShipped
}

/** Whether any line of a cart or an order has to be shipped. */
export function needsShipping(items: readonly { type: ProductType }[]): boolean {
  return items.some(({ type }) => isShipped(type))
}
