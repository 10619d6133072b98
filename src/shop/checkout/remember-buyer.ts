import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { getUserById } from '../accounts/find.ts'
import { users } from '../accounts/schema.ts'
import type { OrderRow } from '../orders/find.ts'
import { addressInput } from './address-rules.ts'
import { shipToCountries } from './shipping.ts'

/**
 * Keeps the name and the address that the buyer gave with an order in their account, if it has none yet, so that the next
 * order does not ask again. What the account has stays: the buyer may send one order elsewhere.
 */
export function rememberBuyer(tx: Tx, { userId, contact, shippingAddress }: OrderRow, now: number): void {
  if (userId === null) return
  const user = getUserById(tx, userId)
  const { firstName = null, lastName = null } = contact
  const isUnnamed = user.firstName === null && user.lastName === null && (firstName ?? lastName) !== null
  const parsed = user.address === null ? addressInput(shipToCountries(tx)).safeParse(shippingAddress) : undefined
  const known = {
    ...(isUnnamed ? { firstName, lastName } : {}),
    ...(parsed?.success === true ? { address: parsed.data } : {})
  }
  if (Object.keys(known).length === 0) return
  tx.orm
    .update(users)
    .set({ ...known, updatedAt: now })
    .where(eq(users.id, userId))
    .run()
}
