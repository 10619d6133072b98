import type { listBenefits } from '../shop/benefits/list-benefits.ts'
import type { Entitlements } from '../shop/entitlements/entitlements.ts'
import { timeText } from './table.ts'

/** The lines about a person's orders, benefits and affiliate account. */
export function entitlementLines(
  { ordersSummary, affiliate, flags }: Entitlements,
  benefits: ReturnType<typeof listBenefits>
): string[] {
  const held = [
    ...benefits.map(({ kind, line: { what, state, until } }) => {
      return `${kind} ${what}: ${state}${until === null ? '' : `, until ${until}`}`
    }),
    ...(affiliate.status === null ? [] : [`Affiliate ${affiliate.id ?? ''}: ${affiliate.status}`]),
    ...(flags.hasProAccess ? ['Has pro access'] : [])
  ]
  const orders = `Orders: ${ordersSummary.totalOrders}${ordersSummary.lastOrderAt === null ? '' : `, the last ${timeText(ordersSummary.lastOrderAt)}`}`
  return [orders, ...(held.length === 0 ? ['No benefits.'] : held)]
}
