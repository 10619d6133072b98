import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { eraseAccount, eraseMailsTo } from '../accounts/deactivate.ts'
import { getUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import { forgetBinding } from '../affiliates/bindings.ts'
import { anonymiseAffiliateOf } from '../affiliates/decide.ts'
import { endRenewals } from '../benefits/kinds/subscription.ts'
import { forgetDeclarer } from '../declarations/find.ts'
import { leaveGroups } from '../groups/members.ts'
import { forgetRecipient } from '../gift-cards/cards.ts'
import { anonymiseOrdersOf } from '../orders/buyer.ts'
import { countGuestOrders } from '../orders/find.ts'
import { forgetCustomersOf } from '../payments/gateway-customer.ts'
import { deleteNotesOf } from './notes.ts'
import { forgetTracking } from '../shipments/find.ts'

/**
 * Erases a guest: their orders lose the buyer, and queued emails to the address are deleted, and sent ones no longer name it.
 * Sums and history stay. A second call changes nothing.
 */
export function eraseGuest(db: Db, emailKey: string): void {
  write(db, (tx) => {
    const guest = { id: null, emailKey }
    forgetTracking(tx, guest)
    forgetDeclarer(tx, guest)
    forgetRecipient(tx, emailKey)
    anonymiseOrdersOf(tx, guest)
    eraseMailsTo(tx, emailKey)
  })
}

/**
 * Erases a person (GDPR Art. 17) in one transaction: renewals end, the orders of the account and the guest orders with
 * its email lose their buyer, the affiliate account and the account itself lose all personal data. Sums, history and
 * ledger stay. It cannot be undone; a second time it changes nothing.
 *
 * @returns the account as it is now, and how many guest orders with its email were found
 * @throws AppError NOT_FOUND
 */
export function erasePerson(db: Db, userId: number, now: number): { user: UserRow; guestOrders: number } {
  return write(db, (tx) => {
    const user = getUserById(tx, userId)
    const guestOrders = countGuestOrders(tx, user.emailKey)
    if (user.status === 'erased') return { user, guestOrders }
    endRenewals(tx, userId, now)
    forgetCustomersOf(tx, userId)
    forgetTracking(tx, user)
    forgetDeclarer(tx, user)
    forgetRecipient(tx, user.emailKey)
    anonymiseOrdersOf(tx, user)
    anonymiseAffiliateOf(tx, userId, now)
    forgetBinding(tx, userId)
    deleteNotesOf(tx, userId)
    leaveGroups(tx, userId)
    // Last, because ending renewals may queue a message, and messages are erased with the account.
    return { user: eraseAccount(tx, user, now), guestOrders }
  })
}
