import { and, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import { orders } from '../orders/schema.ts'
import type { Db } from '../../platform/db/database.ts'
import { inPartsById } from '../../platform/db/in-parts.ts'
import { toIso } from '../../platform/iso-time.ts'
import { postalLines, shipToOf } from '../../platform/postal/address.ts'
import { unpaidStatuses } from '../orders/states.ts'
import { waitsForAddress } from '../orders/address.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { progressOf } from './find.ts'

/** An order with goods that are not shipped yet, and what to put into its parcel. */
export type OrderToPack = {
  id: number
  /** The order in whose parcel it goes, because it adds to that. */
  packWith: number | null
  placedAt: string
  paidAt: string | null
  email: string | null
  phone: string | null
  /** The lines of the shipping address, as on an envelope; without one, those of the billing address. */
  shipTo: string[]
  shippingMethod: string | null
  /** Whether the buyer picks the goods up in the shop. Then `shipTo` has only the name. */
  pickup: boolean
  /** Of all pieces; null if the weight of one is not known. */
  weightGrams: number | null
  notes: string | null
  /** `line` is the number of the line in the order, as `orders ship --items` takes it. */
  lines: { line: number; name: string; sku: string | null; quantity: number }[]
}

/**
 * The paid orders with something left to ship, the longest paid first, and after each those that add to it. Orders that wait
 * for an address, or for the payment of what changes them, are left out. They are read while they are used.
 *
 * @param only the one order that counts
 */
export function listOrdersToPack(db: Db, only?: number): Generator<OrderToPack, void> {
  const processing = db.orm
    .select({ id: orders.id, addedTo: orders.addedTo })
    .from(orders)
    .where(eq(orders.status, 'processing'))
    .orderBy(orders.paidAt, orders.id)
    .all()
  const waiting = new Set(
    db.orm
      .select({ addedTo: orders.addedTo })
      .from(orders)
      .where(and(isNotNull(orders.addedTo), isNull(orders.paidAt), inArray(orders.status, [...unpaidStatuses])))
      .all()
      .map(({ addedTo }) => addedTo)
  )
  const known = new Set(processing.map(({ id }) => id))
  const additions = Map.groupBy(processing, ({ addedTo }) => addedTo)
  const inTurn = processing.flatMap(({ id, addedTo }) =>
    addedTo !== null && known.has(addedTo) ? [] : [id, ...(additions.get(id) ?? []).map((each) => each.id)]
  )
  const wanted = only === undefined ? inTurn : inTurn.filter((id) => id === only)
  return inPartsById(db, wanted, (ids) =>
    ids
      .map((id) => getOrder(db, id))
      .filter(({ id, addedTo }) => !waiting.has(addedTo ?? id))
      .filter((order) => !waitsForAddress(order))
      .map((order) => toPack(db, order))
      .filter(({ lines }) => lines.length > 0)
  )
}

function toPack(db: Db, order: OrderRow): OrderToPack {
  const { id, createdAt, paidAt, email, contact, shippingAddress, billingAddress, shippingMethod, notes } = order
  const { firstName, lastName, companyName: company, phone } = contact
  const known = Object.entries({ firstName, lastName, company }).filter(([, value]) => value !== undefined)
  const pickup = shippingMethod?.pickup === true
  const address = shipToOf(order) ?? shippingAddress ?? billingAddress
  const items = new Map(itemsOf(db, id).map((item) => [item.id, item]))
  const open = progressOf(db, id).filter(({ left }) => left > 0)
  const weights = open.map(({ itemId, left }) => (items.get(itemId)?.weightGrams ?? Number.NaN) * left)
  const weightGrams = weights.reduce((sum, weight) => sum + weight, 0)
  return {
    id,
    packWith: order.addedTo,
    placedAt: toIso(createdAt),
    paidAt: paidAt === null ? null : toIso(paidAt),
    email,
    phone: address?.phone ?? phone ?? null,
    shipTo: postalLines({ ...Object.fromEntries(known), ...(pickup ? {} : address) }),
    shippingMethod: shippingMethod?.name ?? null,
    pickup,
    weightGrams: Number.isNaN(weightGrams) ? null : weightGrams,
    notes,
    lines: open.map(({ line, itemId, name, left }) => ({
      line,
      name,
      sku: items.get(itemId)?.sku ?? null,
      quantity: left
    }))
  }
}
