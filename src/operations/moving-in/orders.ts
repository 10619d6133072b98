import type { Tx } from '../../platform/db/database.ts'
import { definedFields } from '../../platform/input-fields.ts'
import type { Address } from '../../shop/orders/address.ts'
import { insertImportedOrder, updateImportedOrder } from '../../shop/orders/imported-order.ts'
import type { ImportedOrder, StoredOrder } from '../../shop/orders/imported-order.ts'
import { shipmentsOf } from '../../shop/shipments/find.ts'
import { importer, insertImportedShipment } from '../../shop/shipments/imported-shipment.ts'
import { lineOf } from './clean-text.ts'
import type { AddressPart } from './customers.ts'
import type { Move } from './move.ts'
import type { SubjectTally } from './report.ts'

/** A parcel of an order. `lines` name the order's lines as the other shop does. */
export type ParcelRecord = {
  carrier: string
  tracking: string
  url: string
  at: number | null
  lines: readonly { sourceId: string; quantity: number }[]
}

/** An order of another shop as this shop stores it, and what it was there. */
export type OrderRecord = {
  order: ImportedOrder
  parcels: readonly ParcelRecord[]
  foundMinor: number
  refundedMinor: number
  /** What is different here. */
  remarks: readonly string[]
}

/**
 * Stores an order as history, and reports what became of it. An order that moved in before gets what happened to it in the
 * other shop since.
 *
 * @param id of the order there
 * @param read the order, or why it is left out
 */
export function writeOrder(
  tx: Tx,
  { id, read }: { id: string; read: (tx: Tx) => OrderRecord | string },
  move: Move,
  tally: SubjectTally
): void {
  const before = move.moved.find(tx, 'order', id)
  const record = read(tx)
  if (typeof record === 'string') return before === undefined ? tally.leave(record, id) : tally.know()
  const { order } = record
  if (before !== undefined) {
    const { stored, changes } = updateImportedOrder(tx, before, order, move.now)
    for (const change of changes) tally.change(change, id)
    if (stored !== undefined && moveParcels(tx, record, stored)) tally.change('Parcels were sent since', id)
    return tally.know()
  }
  for (const remark of record.remarks) tally.change(remark, id)
  const stored = insertImportedOrder(tx, order)
  moveParcels(tx, record, stored)
  move.moved.remember(tx, 'order', id, stored.row.id, move.now)
  tally.arrive()
  const { currency, totalMinor, refundedMinor } = stored.row
  tally.add('orders', currency, { foundMinor: record.foundMinor, arrivedMinor: totalMinor })
  tally.add('refunds', currency, { foundMinor: record.refundedMinor, arrivedMinor: refundedMinor })
}

/** Stores the parcels that are not here yet: those after the ones that moved in before. @returns whether there are any */
function moveParcels(tx: Tx, { parcels, order }: OrderRecord, stored: StoredOrder): boolean {
  const packed = parcels
    .map((parcel) => ({ parcel, lines: linesOf(parcel, stored) }))
    .filter(({ lines }) => lines.length > 0)
  const known = parcels.length === 0 ? [] : shipmentsOf(tx, stored.row.id).filter(({ by }) => by === importer)
  const missing = packed.slice(known.length)
  for (const { parcel, lines } of missing)
    insertImportedShipment(tx, {
      orderId: stored.row.id,
      carrier: lineOf(parcel.carrier, 100),
      tracking: lineOf(parcel.tracking, 100),
      url: /^https?:\/\//i.test(parcel.url) && URL.canParse(parcel.url) ? parcel.url.slice(0, 2048) : null,
      shippedAt: parcel.at ?? order.updatedAt,
      lines
    })
  return missing.length > 0
}

/** The lines of a parcel that the order has here. */
function linesOf({ lines }: ParcelRecord, { items }: StoredOrder): { orderItemId: number; quantity: number }[] {
  const packed = new Map<number, number>()
  for (const { sourceId, quantity } of lines) {
    const orderItemId = items.get(sourceId)
    if (orderItemId !== undefined && quantity > 0) packed.set(orderItemId, (packed.get(orderItemId) ?? 0) + quantity)
  }
  return [...packed].map(([orderItemId, quantity]) => ({ orderItemId, quantity }))
}

/** The name and phone number of a buyer, by the parts of the billing address. */
export function contactOf(read: (part: AddressPart | 'phone') => string): ImportedOrder['contact'] {
  const part = (key: AddressPart | 'phone'): string | undefined => lineOf(read(key), 255) ?? undefined
  return definedFields({
    firstName: part('first_name'),
    lastName: part('last_name'),
    phone: part('phone'),
    companyName: part('company')
  })
}

/** The address of an order by its parts; null without a street, a city and a country. */
export function orderAddress(read: (part: AddressPart | 'phone' | 'email') => string): Address | null {
  const part = (key: AddressPart | 'phone' | 'email'): string | undefined => lineOf(read(key), 255) ?? undefined
  if (part('address_1') === undefined && part('city') === undefined && part('country') === undefined) return null
  return definedFields({
    firstName: part('first_name'),
    lastName: part('last_name'),
    company: part('company'),
    address1: part('address_1'),
    address2: part('address_2'),
    city: part('city'),
    state: part('state'),
    postcode: part('postcode'),
    country: part('country'),
    phone: part('phone'),
    email: part('email')
  })
}

/** Where an order came from if the other shop does not say. */
export const noAttribution: ImportedOrder['attribution'] = {
  sourceType: 'typein',
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmContent: null
}
