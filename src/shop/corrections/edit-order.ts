import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { AppError, validationFailed } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { toFieldErrors } from '../../platform/http/validation.ts'
import { destinationOf, shipToOf } from '../../platform/postal/address.ts'
import { isCountry } from '../../platform/postal/countries.ts'
import { emailKey } from '../../platform/text.ts'
import { emailField, lineField } from '../accounts/fields.ts'
import { addressInput, addressParts, lacksRecipient, recipientNeeded } from '../checkout/address-rules.ts'
import { orderShipping, shipToCountries, toChosenShipping } from '../checkout/shipping.ts'
import type { ShippingChoice } from '../checkout/shipping.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { Address, OrderContact } from '../orders/address.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { repriceOrder, setShipping } from '../orders/reprice-order.ts'
import { checkReferral } from '../orders/review.ts'
import { orderCoupons, orders } from '../orders/schema.ts'
import { isReleasedStatus } from '../orders/states.ts'
import { progressOf } from '../shipments/find.ts'
import { assertSameTax, isErased } from './correct-invoice.ts'

const name = lineField(100).optional()
const part = lineField(200).optional()

/** What an operator changes about the buyer of an order, and how it is shipped. An empty name or phone is removed. */
export const buyerEdits = z.strictObject({
  email: emailField.optional(),
  firstName: name,
  lastName: name,
  company: name,
  phone: lineField(50).optional(),
  address1: part,
  address2: part,
  postcode: part,
  city: part,
  state: part,
  country: part,
  shippingMethod: lineField(100).optional()
})
export type BuyerEdits = z.output<typeof buyerEdits>

/**
 * Changes the buyer of an order, where it is shipped to, and how an unpaid order is shipped, at the price for its lines, which
 * may have changed (`goodsChanged`). The tax of a paid order stays, and so does what its shipping costs.
 *
 * @returns the order as it is now
 * @throws AppError as assertOpen; CONFLICT if its goods have left, or if it would have another tax; VALIDATION_FAILED (the
 *   fields)
 */
export function editBuyer(
  tx: Tx,
  before: OrderRow,
  { goodsChanged, ...edits }: BuyerEdits & { goodsChanged: boolean },
  now: number
): OrderRow {
  assertOpen(before)
  const { email, shippingMethod, ...who } = edits
  const changed = { ...before, ...withPlace(tx, before, edits) }
  const named = { ...changed, ...withNames(changed, who) }
  if (before.paidAt !== null) assertSameTax(tx, before, named)
  const { contact, billingAddress, shippingAddress } = named
  const addressed = tx.orm
    .update(orders)
    .set({ contact, billingAddress, shippingAddress, updatedAt: now })
    .where(eq(orders.id, before.id))
    .returning()
    .get()
  if (lacksRecipient(tx, addressed) && !lacksRecipient(tx, before))
    throw validationFailed({ firstName: [recipientNeeded] })
  const shipped = shipBy(tx, { before, order: addressed, goodsChanged }, shippingMethod, now)
  return email === undefined ? shipped : storeEmail(tx, shipped, email, now)
}

/** @throws AppError TRANSITION_REFUSED for an order that is over; CONFLICT for one that has lost its buyer */
export function assertOpen(order: OrderRow): void {
  const { id, status, paidAt } = order
  if (isReleasedStatus(status)) {
    const message = `Order ${id} is ${status}, so it cannot be changed.`
    throw new AppError('TRANSITION_REFUSED', message, { from: status, to: status })
  }
  if (paidAt !== null && isErased(order))
    throw new AppError('CONFLICT', `The buyer of order ${id} is erased, so it cannot be changed.`)
}

/** @throws AppError CONFLICT if nothing of the order is left to be shipped */
function assertNotGone(tx: Tx, order: OrderRow, what: string): void {
  const { id } = order
  if (!needsShipping(itemsOf(tx, id)))
    throw new AppError('CONFLICT', `Nothing of order ${id} is shipped, so it has no ${what} to change.`)
  if (progressOf(tx, id).every(({ left }) => left === 0))
    throw new AppError('CONFLICT', `Everything of order ${id} has left, so its ${what} can no longer be changed.`)
}

/** The addresses of an order with another place to ship to. A billing address that names the same place moves with it. */
function withPlace(tx: Tx, order: OrderRow, edits: BuyerEdits): Pick<OrderRow, 'shippingAddress' | 'billingAddress'> {
  const { shippingAddress, billingAddress } = order
  const names = Object.keys(addressParts.shape)
  const typed = Object.fromEntries(
    Object.entries(edits).filter(([key, text]) => names.includes(key) && text !== undefined)
  )
  if (Object.keys(typed).length === 0) return { shippingAddress, billingAddress }
  assertNotGone(tx, order, 'address')
  const old = shipToOf(order) ?? shippingAddress ?? {}
  const countries = order.paidAt === null ? shipToCountries(tx) : [...shipToCountries(tx), ...known(old.country)]
  const { data: place, error } = addressInput(countries).safeParse(addressParts.parse({ ...old, ...typed }))
  if (error !== undefined) throw validationFailed(toFieldErrors(error))
  const moved = (address: Address): Address => ({ ...withoutPlace(address), ...place })
  const isSamePlace = billingAddress !== null && placeText(billingAddress) === placeText(old)
  return {
    shippingAddress: moved(shippingAddress ?? old),
    billingAddress: isSamePlace ? moved(billingAddress) : billingAddress
  }
}

/** An order that is paid may stay in a country to which the shop does not ship any more. */
function known(country: string | undefined): string[] {
  return country !== undefined && isCountry(country) ? [country] : []
}

function withoutPlace(address: Address): Address {
  const { address1: _1, address2: _2, city: _3, state: _4, postcode: _5, country: _6, ...rest } = address
  return rest
}

function placeText({ address1, address2, postcode, city, state, country }: Address): string {
  return JSON.stringify([address1, address2, postcode, city, state, country])
}

type Names = Pick<BuyerEdits, 'firstName' | 'lastName' | 'company' | 'phone'>

/** The contact of an order with other names, and its addresses where they repeat the contact. */
function withNames(order: OrderRow, { firstName, lastName, company, phone }: Names) {
  const { contact, shippingAddress, billingAddress } = order
  const changed = { firstName, lastName, company, phone }
  const given = Object.entries(changed).filter(([, text]) => text !== undefined)
  const former: Readonly<Record<string, string | undefined>> = { ...contact, company: contact.companyName }
  const shipTo = shipToOf(order)
  const renamed = (address: Address | null): Address | null => {
    if (address === null) return null
    const applied = given.filter(([key]) => {
      const own: string | undefined = Object.entries(address).find(([each]) => each === key)?.[1]
      return own !== undefined && (address === shipTo || own === former[key])
    })
    return present({ ...address, ...Object.fromEntries(applied) })
  }
  const { company: companyName, ...person } = Object.fromEntries(given)
  const named: OrderContact = present({ ...contact, ...person, ...(companyName === undefined ? {} : { companyName }) })
  return { contact: named, shippingAddress: renamed(shippingAddress), billingAddress: renamed(billingAddress) }
}

function present(parts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([key, text]) => (text === undefined || text === '' ? [] : [[key, text]]))
  )
}

/**
 * Ships an unpaid order at the price of the method. A paid one stays with its method, which must ship to its address.
 *
 * @throws AppError VALIDATION_FAILED (`shippingMethod`)
 */
function shipBy(
  tx: Tx,
  { before, order, goodsChanged }: { before: OrderRow; order: OrderRow; goodsChanged: boolean },
  methodId: string | undefined,
  now: number
): OrderRow {
  if (methodId !== undefined) assertNotGone(tx, before, 'shipping method')
  // What another method costs a paid order more or less is settled with its lines.
  if (methodId !== undefined && order.paidAt !== null) return order
  const isMoved = placesOf(before) !== placesOf(order)
  const isOther = methodId !== undefined && methodId !== order.shippingMethod?.id
  if (!isMoved && !isOther && !goodsChanged) return order
  const choice = orderShipping(tx, order, methodId)
  // The page on which a pending order is paid asks for the method.
  const asksLater = order.shippingMethod === null && order.status === 'pending' && methodId === undefined
  if (choice.needsMethod && !asksLater) throw notOffered(choice)
  if (order.paidAt === null) {
    const isSame = choice.chosen === null && order.shippingMethod === null
    return isSame ? repriceOrder(tx, order, now) : setShipping(tx, order, toChosenShipping(choice), now)
  }
  return order
}

/** The parts of the addresses that decide what shipping costs. */
function placesOf(order: OrderRow): string {
  const { country, state } = destinationOf(order) ?? {}
  return JSON.stringify([country, state])
}

/** The error for a method that cannot ship an order, with those that can. */
export function notOffered({ methods }: ShippingChoice): AppError {
  const offered = methods.map(({ id }) => id).join(', ')
  const why = offered === '' ? 'No method ships this order there.' : `Must be one of: ${offered}.`
  return validationFailed({ shippingMethod: [why] })
}

/** Stores another email of the buyer. Their use of coupons and the check of the affiliate follow. */
function storeEmail(tx: Tx, order: OrderRow, email: string, now: number): OrderRow {
  if (email === order.email) return order
  const key = emailKey(email)
  const ofFormer = and(
    eq(orderCoupons.orderId, order.id),
    eq(orderCoupons.customerKey, `email:${order.emailKey ?? ''}`)
  )
  tx.orm
    .update(orderCoupons)
    .set({ customerKey: `email:${key}` })
    .where(ofFormer)
    .run()
  const known = tx.orm.update(orders).set({ email, emailKey: key }).where(eq(orders.id, order.id)).returning().get()
  checkReferral(tx, known, now)
  return getOrder(tx, order.id)
}
