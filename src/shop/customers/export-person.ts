import { desc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { personalFields } from '../../platform/db/personal.ts'
import { emailKey } from '../../platform/text.ts'
import { emailKeysOf, otherEmailsOf, sentTo } from '../accounts/messages.ts'
import type { UserRow } from '../accounts/rows.ts'
import { sessions, users } from '../accounts/schema.ts'
import { toAccountRecord, toUser } from '../accounts/view.ts'
import { findBinding } from '../affiliates/bindings.ts'
import { affiliates } from '../affiliates/schema.ts'
import { findAffiliateOfUser } from '../affiliates/find.ts'
import { toAffiliate } from '../affiliates/view.ts'
import { declarationsOf } from '../declarations/find.ts'
import { groupsOf } from '../groups/members.ts'
import { cardsOfPerson } from '../gift-cards/cards.ts'
import { benefitsAsJson } from '../benefits/list-benefits.ts'
import { rolesOf } from '../entitlements/roles.ts'
import { documentsOf } from '../invoices/find.ts'
import { toInvoice } from '../invoices/text.ts'
import { mails } from '../mail/schema.ts'
import { customersOf } from '../payments/gateway-customer.ts'
import { payoutsOfUser, showPayout } from '../payouts/find.ts'
import type { PayoutRow } from '../referrals/store.ts'
import { balanceOf } from '../referrals/ledger.ts'
import { listNotes } from './notes.ts'
import { listOrdersOfGuest, listOrdersOfPerson } from './admin-orders.ts'

/**
 * Everything that the shop stores about a person, as one JSON document (GDPR Art. 15 and 20). Secrets such as the
 * password's hash are not personal data and stay out. Guest orders with the email, and messages about them, are
 * included only if the email is verified: otherwise it does not prove that they are this person's.
 */
export function exportPerson(db: Db, user: UserRow, now: number) {
  const orders = listOrdersOfPerson(db, user)
  return {
    exportedAt: toIso(now),
    user: toUser(user, rolesOf(db, user), { billing: true }),
    account: accountOf(db, user),
    shopNotes: listNotes(db, { userId: user.id }),
    groups: groupsOf(db, user.id, now).map(({ name }) => name),
    sessions: sessionsOf(db, user.id),
    earlierEmails: otherEmailsOf(db, user.id).earlier,
    messages: messagesTo(db, user, new Set(orders.map((order) => order.id))),
    orders,
    invoices: orders.flatMap(({ id }) => documentsOf(db, id).map(toInvoice)),
    declarations: declarationsOf(db, idsOf(orders), user.emailVerifiedAt === null ? null : user.emailKey),
    giftCards: cardsOfPerson(db, idsOf(orders), user.emailVerifiedAt === null ? null : user.emailKey, now),
    stripeCustomers: customersOf(db, user.id),
    includesGuestOrders: user.emailVerifiedAt !== null,
    benefits: benefitsAsJson(db, user.id, now),
    affiliate: affiliateOf(db, user.id, now),
    registeredBy: registeredBy(db, user.id)
  }
}

/** Everything that the shop stores about a guest, as one JSON document like that of an account. */
export function exportGuest(db: Db, email: string, now: number) {
  const key = emailKey(email)
  const orders = listOrdersOfGuest(db, key)
  const messages = db.orm.select().from(mails).where(sentTo(key)).orderBy(desc(mails.id)).all()
  return {
    exportedAt: toIso(now),
    email,
    messages: messages.map(toMessage),
    orders,
    invoices: orders.flatMap(({ id }) => documentsOf(db, id).map(toInvoice)),
    declarations: declarationsOf(db, idsOf(orders), key),
    giftCards: cardsOfPerson(db, idsOf(orders), key, now),
    includesGuestOrders: true
  }
}

function idsOf(orders: readonly { id: number }[]): number[] {
  return orders.map(({ id }) => id)
}

function toMessage({ template, state, createdAt }: typeof mails.$inferSelect) {
  return { template, state, createdAt: toIso(createdAt) }
}

/** The account's own record. It also has the personal columns that neither the record nor the public user shows. */
function accountOf(db: Db, user: UserRow) {
  const record = toAccountRecord(db, user)
  const shown = { ...toUser(user, [], { billing: true }), ...record.coreProfile, ...record }
  const further = Object.entries(personalFields(users, user)).filter(
    ([name, value]) => value !== null && !(name in shown)
  )
  return { ...Object.fromEntries(further), ...record }
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

/**
 * The emails to the person. Of those to an earlier or a requested address, only the ones about the account or its orders,
 * because the address may have belonged to another person.
 */
function messagesTo(db: Db, { id, emailKey: key }: UserRow, orderIds: ReadonlySet<unknown>) {
  const { earlier, requested } = otherEmailsOf(db, id)
  const toOwn = sentTo(key)
  const rows = db.orm
    .select({ ...getTableColumns(mails), isOwn: sql<number>`${toOwn}` })
    .from(mails)
    .where(or(toOwn, ...emailKeysOf([...earlier, ...requested]).map(sentTo)))
    .orderBy(desc(mails.id))
    .all()
  return rows
    .filter(({ data: { orderId, userId }, isOwn }) => {
      if (orderId !== undefined) return orderIds.has(orderId)
      return isOwn === 1 || userId === id
    })
    .map(toMessage)
}

/** The affiliate whose customer the person is. */
function registeredBy(db: Db, userId: number) {
  const binding = findBinding(db, userId)
  if (binding === undefined) return null
  const { affiliate, campaign, boundAt, endsAt } = binding
  return { affiliateCode: affiliate.code, campaign, since: toIso(boundAt), until: toIsoOrNull(endsAt) }
}

function affiliateOf(db: Db, userId: number, now: number) {
  const affiliate = findAffiliateOfUser(db, userId)
  if (affiliate === undefined) return null
  return {
    ...personalFields(affiliates, affiliate),
    ...toAffiliate(db, affiliate, now),
    balance: balanceOf(db, affiliate.id),
    payouts: payoutsOfUser(db, userId).map((row) => payoutOf(db, row))
  }
}

function payoutOf(db: Db, { id, payee }: PayoutRow) {
  const { payout, lines } = showPayout(db, id)
  const { paidBy: _operator, ...shown } = payout
  return { ...shown, payee, lines }
}
