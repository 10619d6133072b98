import type { ShopContext } from '../context.ts'
import { findUserById } from '../accounts/find.ts'
import { toProfile } from '../accounts/view.ts'
import { toOwnOrder } from '../checkout/buyer-order.ts'
import type { OwnOrder } from '../checkout/shapes.ts'
import { eventTypes, isEventType } from '../events/event-types.ts'
import type { PublicEvent } from '../events/list-events.ts'
import { findOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'

/** The buyer of an order or the owner of an account. Everything but the id is null after the person is erased. */
export type EventCustomer = {
  /** Null for a guest. */
  id: number | null
  email: string | null
  firstName: string | null
  lastName: string | null
  phone: string | null
  companyName: string | null
}

/** What an event with full data contains besides its ids. Null if it does not exist. */
export type EventDetails = { order?: OwnOrder['order'] | null; customer?: EventCustomer | null }

/**
 * The order and its buyer, or the owner of the account, that an event is about, as they are now. Empty for events about
 * neither.
 */
export function eventDetails(shop: ShopContext, { type, payload }: PublicEvent, now: number): EventDetails {
  const subject = isEventType(type) ? eventTypes[type].subject : null
  if (subject === 'customer') return { customer: accountOwner(shop, Number(payload['userId'])) }
  if (subject === null) return {}
  const order = findOrder(shop.db, Number(payload['orderId'] ?? 0))
  if (order === undefined) return { order: null, customer: null }
  return { order: toOwnOrder(shop, order, now).order, customer: buyerOf(order) }
}

function accountOwner({ db }: ShopContext, userId: number): EventCustomer | null {
  const user = findUserById(db, userId)
  if (user === undefined || user.status === 'erased') return null
  const { firstName, lastName } = toProfile(db, user)
  const { id, email, billingPhone, companyName } = user
  return { id, email, firstName, lastName, phone: billingPhone, companyName }
}

function buyerOf({ userId, email, contact, billingAddress, shippingAddress }: OrderRow): EventCustomer {
  const named = { ...shippingAddress, ...billingAddress, ...contact }
  return {
    id: userId,
    email,
    firstName: named.firstName ?? null,
    lastName: named.lastName ?? null,
    phone: named.phone ?? null,
    companyName: contact.companyName ?? named.company ?? null
  }
}
