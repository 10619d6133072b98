import { mails } from '../mail/schema.ts'
import { desc, eq } from 'drizzle-orm'
import { toIso } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/database.ts'
import { sentTo } from './messages.ts'
import type { UserRow } from './rows.ts'
import { sessions } from './schema.ts'
import { toAccountRecord, toUser } from './view.ts'

/**
 * Everything that the shop keeps of a person, as one JSON document (GDPR Art. 15 and 20). Secrets such as the password's
 * hash are not of the person and stay out. So do messages about an order that is not among the person's: an unverified
 * email does not prove that what was ordered with it is this account's.
 *
 * @param above what the parts above accounts keep, under names of their own (`orders`, `affiliate`, `benefits` …)
 */
export function exportUser(
  db: Db,
  user: UserRow,
  roles: readonly string[],
  above: Readonly<Record<string, unknown>> & { readonly orders: readonly { readonly id: number }[] },
  now: number
) {
  return {
    exportedAt: toIso(now),
    user: toUser(user, roles, { billing: true }),
    account: toAccountRecord(db, user),
    sessions: sessionsOf(db, user.id),
    messages: messagesTo(db, user.emailKey, new Set(above.orders.map((order) => order.id))),
    ...above
  }
}

function sessionsOf(db: Db, userId: number) {
  return db.orm
    .select()
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.createdAt))
    .all()
    .map(({ createdAt, lastSeenAt, rememberMe }) => ({
      createdAt: toIso(createdAt),
      lastSeenAt: toIso(lastSeenAt),
      rememberMe
    }))
}

function messagesTo(db: Db, emailKey: string, orderIds: ReadonlySet<unknown>) {
  return db.orm
    .select()
    .from(mails)
    .where(sentTo(emailKey))
    .orderBy(desc(mails.id))
    .all()
    .filter(({ data: { orderId } }) => orderId === undefined || orderIds.has(orderId))
    .map(({ template, state, createdAt }) => ({ template, state, createdAt: toIso(createdAt) }))
}
