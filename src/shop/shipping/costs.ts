import { chargeStepMinor } from '../../platform/money.ts'
import { isShipped, needsShipping } from '../catalog/product-types.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { ChosenMethod } from './input.ts'
import type { MethodRow } from './zones.ts'

/** What decides the shipping costs of a cart or an order. `totalMinor` is after discounts. */
export type Goods = { type: ProductType; quantity: number; weightGrams: number | null; totalMinor: number }

/** A method that a buyer can choose, with what it costs. */
export type OfferedMethod = ChosenMethod & { amountMinor: number }

/** Whether a cart or an order needs an address: something is shipped, and the buyer does not pick it up in the shop. */
export function needsAddress(
  lines: readonly { type: ProductType }[],
  method: Pick<ChosenMethod, 'pickup'> | null
): boolean {
  return needsShipping(lines) && method?.pickup !== true
}

/** The name of a method beside its costs, for buyers. */
export function methodLabel({ name, pickup = false }: Pick<ChosenMethod, 'name'> & { pickup?: boolean }): string {
  return pickup ? name : `Shipping: ${name}`
}

/** The weight of what has to be shipped. A product without a weight weighs nothing. */
export function shippedGrams(goods: readonly Goods[]): number {
  return goods
    .filter(({ type }) => isShipped(type))
    .reduce((sum, { quantity, weightGrams }) => sum + quantity * (weightGrams ?? 0), 0)
}

/** The methods that can ship these goods, with their costs in minor units of `currency`. */
export function offeredFor(methods: readonly MethodRow[], goods: readonly Goods[], currency: string): OfferedMethod[] {
  const grams = shippedGrams(goods)
  const goodsMinor = goods.reduce((sum, { totalMinor }) => sum + totalMinor, 0)
  return methods
    .filter(({ maxWeightGrams }) => maxWeightGrams === null || grams <= maxWeightGrams)
    .map((method) => {
      const { id, name, estimate, pickup, freeFromMinor } = method
      const isFree = freeFromMinor !== null && goodsMinor >= freeFromMinor
      return { id, name, estimate, pickup, amountMinor: isFree ? 0 : costMinor(method, grams, currency) }
    })
}

/** Rounded half up to an amount that Stripe can charge. BigInt, because prices and weights can be large. */
function costMinor({ amountMinor, perKgMinor }: MethodRow, grams: number, currency: string): number {
  const step = BigInt(chargeStepMinor(currency))
  const thousandths = 1000n * BigInt(amountMinor) + BigInt(perKgMinor ?? 0) * BigInt(grams)
  return Number(((thousandths + 500n * step) / (1000n * step)) * step)
}
