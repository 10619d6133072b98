import { and, asc, count, eq, getTableColumns, inArray, isNotNull, isNull, lt, max, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import { users } from '../accounts/schema.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { gatewaySubscriptions } from '../benefits/schema.ts'
import { listBenefits } from '../benefits/list-benefits.ts'
import { forgetDeclarersOf } from '../declarations/find.ts'
import { queueMail } from '../mail/queue.ts'
import { anonymiseOrders } from '../orders/buyer.ts'
import { ofPerson, placedAsGuest } from '../orders/find.ts'
import { guestWithData, orders } from '../orders/schema.ts'
import { isReleasedStatus } from '../orders/states.ts'
import { setting } from '../settings/settings.ts'
import { forgetTrackingOf } from '../shipments/find.ts'
import { findOpenOrder } from './delete-account.ts'
import { erasePerson } from './erase-person.ts'

const dayMs = 24 * 60 * 60_000
const yearMs = 365 * dayMs
/** How long before its erasure the owner of a dormant account gets an email. */
const noticeMs = 30 * dayMs

/** A step of orders, in the order of their times; `after` is the time of the last one. */
type Range = { after: number; limit: number }

/**
 * Removes the buyer from guest orders that are older than `privacy.guestYears`, among the next `limit` paid ones. An order
 * that is not finished, or whose subscription still renews, keeps its buyer. Amounts, lines and the documents stay.
 *
 * @returns the time to continue after; null at the end
 */
export function forgetGuests(tx: Tx, now: number, { after, limit }: Range): number | null {
  const years = setting(tx, 'privacy.guestYears')
  if (years === 0) return null
  const next = tx.orm
    .select({ id: orders.id, createdAt: orders.createdAt, status: orders.status, renewalOf: orders.renewalOf })
    .from(orders)
    // The index has the guest orders that are paid and still have a buyer.
    .where(
      inArray(
        orders.id,
        sql`(SELECT id FROM orders INDEXED BY orders_paid_guests
          WHERE ${sql.raw(guestWithData(getTableColumns(orders), 'paid'))} AND created_at > ${after} AND created_at < ${now - years * yearMs}
          ORDER BY created_at LIMIT ${limit})`
      )
    )
    .orderBy(asc(orders.createdAt))
    .all()
  const ids = next
    .filter(({ status }) => status === 'completed' || isReleasedStatus(status))
    .filter(({ id, renewalOf }) => !renews(tx, renewalOf ?? id))
    .map(({ id }) => id)
  if (ids.length > 0) {
    forgetTrackingOf(tx, inArray(orders.id, ids))
    forgetDeclarersOf(tx, inArray(orders.id, ids))
    anonymiseOrders(tx, ids)
  }
  return next.length < limit ? null : (next.at(-1)?.createdAt ?? null)
}

/** The subscriptions of a guest's orders that the gateway still charges for. */
export function renewalsOfGuest(db: Db, emailKey: string): { gatewayId: string; orderId: number }[] {
  return db.orm
    .select({ gatewayId: gatewaySubscriptions.gatewayId, orderId: gatewaySubscriptions.orderId })
    .from(gatewaySubscriptions)
    .innerJoin(orders, eq(orders.id, gatewaySubscriptions.orderId))
    .where(
      and(
        placedAsGuest(emailKey),
        isNull(gatewaySubscriptions.endedAt),
        eq(gatewaySubscriptions.cancelAtPeriodEnd, false)
      )
    )
    .all()
}

function renews(tx: Tx, orderId: number): boolean {
  const running = and(eq(gatewaySubscriptions.orderId, orderId), isNull(gatewaySubscriptions.endedAt))
  return (
    tx.orm.select({ id: gatewaySubscriptions.gatewayId }).from(gatewaySubscriptions).where(running).get() !== undefined
  )
}

/**
 * Emails the owners of accounts that will have been dormant for `privacy.dormantYears` in 30 days, at most `limit`: no login,
 * no order, and nothing that they can still use. Returns how many accounts it looked at.
 */
export function remindDormant(tx: Tx, now: number, limit: number): number {
  const years = setting(tx, 'privacy.dormantYears')
  if (years === 0) return 0
  const before = now - years * yearMs + noticeMs
  const found = tx.orm
    .select()
    .from(users)
    .where(and(lt(users.activeAt, before), isNull(users.dormantMailAt)))
    .orderBy(asc(users.activeAt))
    .limit(limit)
    .all()
  for (const user of found) {
    const activeAt = lastUse(tx, user, now)
    if (activeAt >= before) setActivity(tx, user.id, { activeAt })
    else {
      setActivity(tx, user.id, { dormantMailAt: now })
      const mail = { template: 'account_dormant', recipient: user.email, data: { userId: user.id } } as const
      queueMail(tx, mail, now)
    }
  }
  return found.length
}

/**
 * Erases the accounts whose owners got that email 30 days ago and did not come back, at most `limit`. Returns how many
 * accounts it looked at.
 */
export function eraseDormant(tx: Tx, now: number, limit: number): number {
  const years = setting(tx, 'privacy.dormantYears')
  const found = tx.orm
    .select()
    .from(users)
    .where(and(isNotNull(users.dormantMailAt), lt(users.dormantMailAt, now - noticeMs)))
    .limit(limit)
    .all()
  for (const user of found) {
    const activeAt = lastUse(tx, user, now)
    const isDormant = years > 0 && activeAt < now - years * yearMs
    if (isDormant) erasePerson(tx, user.id, now)
    else setActivity(tx, user.id, { activeAt, dormantMailAt: null })
  }
  return found.length
}

/** How many accounts will be erased within 30 days unless their owners log in. */
export function countDormant(db: Db): number {
  return db.orm.select({ found: count() }).from(users).where(isNotNull(users.dormantMailAt)).get()?.found ?? 0
}

/** When an account was last used: `now` while it has something that the person can use, or a role in the shop. */
function lastUse(tx: Tx, user: UserRow, now: number): number {
  const { id, isAdmin, emailKey, activeAt } = user
  const hasRole = isAdmin || findAffiliateOfUser(tx, id) !== undefined
  if (hasRole || findOpenOrder(tx, { id, emailKey }) !== undefined || hasBenefit(tx, id, now)) return now
  const newest = tx.orm
    .select({ at: max(orders.createdAt) })
    .from(orders)
    .where(ofPerson(user))
    .get()?.at
  return Math.max(activeAt ?? 0, newest ?? 0)
}

/** Whether a benefit of the person is in force. A donation is over once it is given. */
function hasBenefit(tx: Tx, userId: number, now: number): boolean {
  return listBenefits(tx, userId, now).some(
    ({ kind, line: { state, until } }) =>
      kind !== 'donation' && state !== 'cancelled' && (until === null || Date.parse(until) > now)
  )
}

function setActivity(tx: Tx, userId: number, activity: Partial<Pick<UserRow, 'activeAt' | 'dormantMailAt'>>): void {
  tx.orm.update(users).set(activity).where(eq(users.id, userId)).run()
}
