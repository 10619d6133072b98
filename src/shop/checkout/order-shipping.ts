import { validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { destinationOf } from '../../platform/postal/ship-to.ts'
import { itemsOf } from '../orders/find.ts'
import { repriced, repriceOrder, setShipping, withShipping } from '../orders/reprice-order.ts'
import type { OrderRow } from '../orders/find.ts'
import { toColumns } from '../orders/totals.ts'
import type { TaxLine } from '../tax/arithmetic.ts'
import { shippingChoice, toChosenShipping } from './shipping-choice.ts'
import type { ShippingChoice } from './shipping-choice.ts'

/** Whether an order must get a shipping method before it can be paid. */
export function lacksMethod(db: Db, order: OrderRow): boolean {
  return order.shippingMethod === null && orderShipping(db, order).needsMethod
}

/** The methods that can ship an unpaid order, and the chosen one: by default the one that it has. */
export function orderShipping(db: Db, order: OrderRow, methodId?: string): ShippingChoice {
  const wanted = { country: destinationOf(order)?.country, methodId: methodId ?? order.shippingMethod?.id }
  return shippingChoice(db, itemsOf(db, order.id), { ...wanted, currency: order.currency })
}

/** What a form shows of an unpaid order before its input is stored. */
export type ShownOrder = { shown: OrderRow; taxes: readonly TaxLine[]; choice: ShippingChoice }

/**
 * An unpaid order as a form shows it before its input is stored: for the address, and with the method, that are chosen
 * there. Without a choice, it has its own method, else the first one that ships.
 */
export function showOrder(
  db: Db,
  order: OrderRow,
  wanted: { address: { country?: string | undefined; state?: string | undefined } | null; methodId: string | undefined }
): ShownOrder {
  const { country, state } = wanted.address ?? {}
  const place = { ...(country === undefined ? {} : { country }), ...(state === undefined ? {} : { state }) }
  const moved = wanted.address === null ? order : { ...order, shippingAddress: { address1: '-', ...place } }
  const choice = orderShipping(db, moved, wanted.methodId)
  const own = choice.methods.find(({ id }) => id === order.shippingMethod?.id)
  const chosen = choice.chosen ?? own ?? choice.methods.find(({ pickup }) => !pickup) ?? null
  const shipped = choice.hasMethods ? withShipping(moved, toChosenShipping({ chosen })) : moved
  const { totals } = repriced(db, shipped)
  const shown = { ...order, ...toColumns(totals), shippingMethod: shipped.shippingMethod }
  return { shown, taxes: totals.tax.lines, choice: { ...choice, chosen } }
}

/**
 * Stores the shipping method that the buyer chose, and computes the sums for the address. An order that has this method to
 * this address already keeps its price, also if the shop has changed it.
 *
 * @param before the order before the buyer's address was stored
 * @throws AppError VALIDATION_FAILED (`shipping_method`) without a method that is offered
 */
export function chooseShipping(
  tx: Tx,
  { before, order }: { before: OrderRow; order: OrderRow },
  methodId: string | undefined,
  now: number
): OrderRow {
  const isMoved = placesOf(before) !== placesOf(order)
  const isOther = methodId !== undefined && methodId !== order.shippingMethod?.id
  if (order.shippingMethod !== null && !isMoved && !isOther) return order
  const choice = orderShipping(tx, order, methodId)
  if (choice.needsMethod) throw validationFailed({ shipping_method: ['Please choose how to ship the order.'] })
  if (choice.hasMethods) return setShipping(tx, order, toChosenShipping(choice), now)
  return isMoved ? repriceOrder(tx, order, now) : order
}

/** Computes the price of an unpaid order's shipping method again, because its goods cost something else. */
export function repriceShipping(tx: Tx, order: OrderRow, now: number): OrderRow {
  const { chosen } = orderShipping(tx, order)
  if (order.shippingMethod === null || chosen === null) return order
  const isSame = chosen.amountMinor === (order.listShippingMinor ?? order.shippingMinor)
  return isSame ? order : setShipping(tx, order, toChosenShipping({ chosen }), now)
}

/** The parts of the addresses that the shipping and the tax depend on. */
function placesOf(order: OrderRow): string {
  return JSON.stringify(
    [destinationOf(order), order.billingAddress].map((address) => [address?.country, address?.state])
  )
}
