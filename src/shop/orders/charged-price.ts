import { chargeStepMinor } from '../../platform/money.ts'
import { withoutTax } from '../tax/arithmetic.ts'
import type { TaxedKind } from '../tax/tax-of.ts'
import type { SaleTerms } from '../tax/terms.ts'
import type { OrderItemRow } from './rows.ts'

/** The price of one unit for a buyer, and the catalogue's price if that contains a tax which the buyer does not pay. */
export type ChargedPrice = Pick<OrderItemRow, 'unitPriceMinor' | 'listPriceMinor'>

/** What one unit costs a buyer whose sale is taxed on these terms. */
export function chargedPrice(
  { removed }: Pick<SaleTerms, 'removed'>,
  kind: TaxedKind,
  catalogueMinor: number,
  currency: string
): ChargedPrice {
  if (removed === null) return { unitPriceMinor: catalogueMinor, listPriceMinor: null }
  const unitPriceMinor = withoutTax(catalogueMinor, removed(kind), chargeStepMinor(currency))
  return { unitPriceMinor, listPriceMinor: catalogueMinor }
}
