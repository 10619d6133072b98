import type { Db } from '../../platform/db/database.ts'
import { isShipped } from '../catalog/product-types.ts'
import { itemsOf, lastMoveOf } from '../orders/find.ts'
import type { OrderItemRow, OrderRow } from '../orders/find.ts'
import { isAwaited } from '../orders/order-mails.ts'
import { isPaidStatus } from '../orders/states.ts'
import { setting } from '../settings/settings.ts'
import { progressOf, shipmentsOf } from '../shipments/find.ts'

const dayMs = 24 * 60 * 60_000
/** The period of goods begins when the buyer has them. The shop knows when they left, and a parcel may take this long. */
const deliveryDays = 14

/**
 * Whether the period to withdraw from the contract of an order runs, as far as the shop knows (directive 2011/83/EU, article
 * 9): for goods until some days after the last of them left, else from the order. A renewal is not a new contract, and files
 * that were delivered with the buyer's consent have no period.
 */
export function isWithdrawable(db: Db, order: OrderRow, now: number): boolean {
  if (order.renewalOf !== null || !(isPaidStatus(order.status) || isAwaited(order))) return false
  const days = setting(db, 'law.withdrawalDays')
  const items = itemsOf(db, order.id)
  if (items.every(isDelivered(order))) return false
  if (!items.some(({ type }) => isShipped(type))) return now < (order.paidAt ?? order.createdAt) + days * dayMs
  if (order.status !== 'completed' && progressOf(db, order.id).some(({ left }) => left > 0)) return true
  const leftAt = shipmentsOf(db, order.id).at(-1)?.shippedAt ?? lastMoveOf(db, order.id)?.at ?? order.updatedAt
  return now < leftAt + (days + deliveryDays) * dayMs
}

/** Whether a line item is only files of whose delivery at once the buyer knew the effect. */
function isDelivered({ deliveryConsentAt }: OrderRow): (item: OrderItemRow) => boolean {
  return ({ type, grants }) =>
    deliveryConsentAt !== null &&
    !isShipped(type) &&
    grants.length > 0 &&
    grants.every(({ kind }) => kind === 'download')
}
