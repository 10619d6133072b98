import { and, eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { recordMove, moveOrder } from '../orders/transition.ts'
import { getOrder } from '../orders/find.ts'
import { handOver } from '../orders/holds.ts'
import { mailBuyer } from '../orders/order-mails.ts'
import type { OrderRow } from '../orders/find.ts'
import { orders } from '../orders/schema.ts'
import { emit } from '../webhooks/emit.ts'
import { progressOf } from './find.ts'
import type { LineProgress } from './find.ts'
import { shipmentItems, shipments } from './schema.ts'
import { setting } from '../settings/settings.ts'
import { z } from 'zod'
import { codePoints } from '../../platform/text.ts'

type Packed = { itemId: number; quantity: number }

/**
 * Records that goods of a paid order were handed to a carrier: all that is left of it and of the orders that add to it, which
 * are in the same parcel, or the given quantities of its own lines. The buyer gets one email with the tracking link, and an
 * order completes when nothing is left to ship.
 *
 * @returns the ids of the orders in the parcel
 * @throws AppError NOT_FOUND; TRANSITION_REFUSED for an order that is not processing; CONFLICT when nothing is left to
 *   ship; VALIDATION_FAILED (`items`) for a line that does not exist, is not shipped or has less left
 */
export function shipOrder(db: Db, orderId: number, input: ShipmentInput, by: string, now: number): number[] {
  return write(db, (tx) => {
    const order = getOrder(tx, orderId)
    const parcel = input.items === null ? parcelOf(tx, order) : []
    if (order.status !== 'processing' && parcel.length === 0) throw notProcessing(order)
    const given = input.items === null ? parcel : [{ order, packed: pack(progressOf(tx, orderId), input.items) }]
    if (given.length === 0) throw new AppError('CONFLICT', `Nothing of order ${orderId} is left to ship.`)
    const shipped = given.map((each) => ({ ...each, ...ship(tx, each, { ...input, by }, now) }))
    const [first] = shipped
    if (first === undefined) return []
    const data = { orderId: first.order.id, shipmentId: first.shipmentId, isPart: !first.isComplete }
    mailBuyer(tx, first.order, { template: 'order_shipped', data }, now)
    return shipped.map((each) => each.order.id)
  })
}

/** What is left to ship of an order and of those that add to it. */
function parcelOf(tx: Tx, order: OrderRow): { order: OrderRow; packed: Packed[] }[] {
  const additions = tx.orm
    .select()
    .from(orders)
    .where(and(eq(orders.addedTo, order.id), eq(orders.status, 'processing')))
    .orderBy(orders.id)
    .all()
  return [...(order.status === 'processing' ? [order] : []), ...additions]
    .map((each) => ({ order: each, packed: allThatIsLeft(progressOf(tx, each.id)) }))
    .filter(({ packed }) => packed.length > 0)
}

function ship(
  tx: Tx,
  { order, packed }: { order: OrderRow; packed: Packed[] },
  about: ShipmentInput & { by: string },
  now: number
): { shipmentId: number; isComplete: boolean } {
  const { id: orderId } = order
  const { carrier, tracking, by } = about
  const shipmentId = store(tx, orderId, { ...about, packed }, now)
  const isComplete = progressOf(tx, orderId).every(({ left }) => left === 0)
  emit(tx, 'order.shipped', { orderId, shipmentId, carrier, tracking, complete: isComplete }, now)
  if (isComplete) moveOrder(tx, orderId, 'completed', { by, reason: `shipment ${shipmentId}: all is shipped` }, now)
  else recordPart(tx, order, shipmentId, by, now)
  return { shipmentId, isComplete }
}

/** A shipment of a part leaves the order in its state; the history says that it was made. */
function recordPart(tx: Tx, { id: orderId, status }: OrderRow, shipment: number, by: string, at: number): void {
  recordMove(tx, { orderId, from: status, to: status, by, reason: `shipment ${shipment}: a part is shipped`, at })
}

function allThatIsLeft(progress: readonly LineProgress[]): Packed[] {
  return progress.filter(({ left }) => left > 0).map(({ itemId, left }) => ({ itemId, quantity: left }))
}

function pack(progress: readonly LineProgress[], items: NonNullable<ShipmentInput['items']>): Packed[] {
  const problems: string[] = []
  const packed = items.flatMap(({ line, quantity }, index) => {
    const found = progress[line - 1]
    const isRepeated = items.slice(0, index).some((earlier) => earlier.line === line)
    const problem = isRepeated ? `Line ${line} is given twice.` : problemOf(found, line, quantity)
    if (problem !== null) problems.push(problem)
    return found === undefined ? [] : { itemId: found.itemId, quantity }
  })
  if (problems.length > 0) throw validationFailed({ items: problems })
  return packed
}

function problemOf(found: LineProgress | undefined, line: number, quantity: number): string | null {
  if (found === undefined) return `The order has no line ${line}.`
  if (!found.isShippable) return `Line ${line} (${found.name}) is not shipped.`
  return quantity > found.left ? `Of line ${line} (${found.name}), ${found.left} are left to ship.` : null
}

function store(
  tx: Tx,
  orderId: number,
  { carrier, tracking, url, by, packed }: ShipmentInput & { by: string; packed: readonly Packed[] },
  now: number
): number {
  const link = url ?? trackingUrl(tx, carrier, tracking)
  const { id: shipmentId } = tx.orm
    .insert(shipments)
    .values({ orderId, carrier, tracking, url: link, by, shippedAt: now })
    .returning({ id: shipments.id })
    .get()
  for (const { itemId: orderItemId, quantity } of packed) {
    tx.orm.insert(shipmentItems).values({ shipmentId, orderItemId, quantity }).run()
    handOver(tx, orderItemId, quantity)
  }
  return shipmentId
}

function notProcessing({ id, status }: OrderRow): AppError {
  const message = `Order ${id} is ${status}. Only a paid order that is processing can be shipped.`
  return new AppError('TRANSITION_REFUSED', message, { from: status, to: 'completed' })
}

/**
 * The carrier's page about a tracking number, by the setting `shipping.trackingUrls`; null for a carrier that is not in
 * it. Carriers compare without regard to case.
 */
export function trackingUrl(db: Db, carrier: string | null, tracking: string | null): string | null {
  if (carrier === null || tracking === null) return null
  const wanted = `${carrier.toLowerCase()}=`
  const entry = setting(db, 'shipping.trackingUrls').find((text) => text.toLowerCase().startsWith(wanted))
  return entry === undefined ? null : entry.slice(wanted.length).replaceAll('{tracking}', encodeURIComponent(tracking))
}

const line = (max: number) =>
  z
    .string()
    .trim()
    .refine(
      (text) => codePoints(text) <= max && !/\p{Cc}/u.test(text),
      `Must be one line of at most ${max} characters.`
    )
    .transform((text) => (text === '' ? null : text))
    .nullable()
    .default(null)

/** What an operator says about a shipment. Without `items`, it contains everything that is left. */
export const shipmentInput = z.strictObject({
  carrier: line(50),
  tracking: line(100),
  url: z
    .url({ protocol: /^https?$/, error: 'Must be an http or https address.' })
    .max(2048)
    .nullable()
    .default(null),
  items: z
    .array(z.strictObject({ line: z.int().positive(), quantity: z.int().positive() }))
    .min(1)
    .nullable()
    .default(null)
})

export type ShipmentInput = z.output<typeof shipmentInput>
