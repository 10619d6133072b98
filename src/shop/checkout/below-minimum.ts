import { isBelowMinimum, minimumChargeMinor, formatMoney, toMajor } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import type { OrderRow } from '../orders/find.ts'

type Total = Pick<OrderRow, 'totalMinor' | 'currency'>

/** Whether a total is above zero and below the minimum charge of the card gateway. */
export function isTooSmallForCard({ cards }: Pick<ShopContext, 'cards'>, { totalMinor, currency }: Total): boolean {
  return cards !== null && isBelowMinimum(totalMinor, currency)
}

/** The refusal `below_minimum` on `path`, with the minimum in major units. */
export function belowMinimum({ currency }: Pick<OrderRow, 'currency'>, path: string): Refusal {
  const minimumMinor = minimumChargeMinor(currency)
  const message = `The total must be at least ${formatMoney(minimumMinor, currency)} to pay by card.`
  return refusal({ path, code: 'below_minimum', message, minimum: toMajor(minimumMinor, currency) })
}
