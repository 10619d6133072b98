import { readLink, signLink } from '../../platform/crypto/signed-link.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { findOrder } from './find.ts'
import type { OrderRow } from './find.ts'

// Links in the emails about an order that prove more than the order's token, which a buyer may share: the mailbox.

/** Buyers open the email of an order late. The order's page sends the link again. */
const linkLifeMs = 30 * 24 * 60 * 60_000
/** An invoice must be readable for as long as its buyer has to keep it. */
const invoiceLifeMs = 10 * 366 * 24 * 60 * 60_000

type EmailKey = Pick<Keys, 'emailToken'>
type Guest = { order: OrderRow; email: string }

/** The token of the link that opens an account for the email of a guest's order. It proves the mailbox. */
export function claimToken(keys: EmailKey, order: OrderRow, now: number): string {
  return signGuestLink(keys, 'claim', order, now)
}

/**
 * The guest's order of a link and its email. Undefined if the link is forged or expired, or if the order is in an account
 * or lost its email.
 */
export function findClaimed(db: Db, keys: EmailKey, token: string, now: number): Guest | undefined {
  return findGuest(db, keys, 'claim', token, now)
}

/** The token of the link that ends the subscription of a guest's order. */
export function subscriptionLink(keys: EmailKey, order: OrderRow, now: number): string {
  return signGuestLink(keys, 'end-subscription', order, now)
}

/** The guest's order whose subscription a link ends; undefined as for `findClaimed`. */
export function findSubscriptionOrder(db: Db, keys: EmailKey, token: string, now: number): OrderRow | undefined {
  return findGuest(db, keys, 'end-subscription', token, now)?.order
}

/** What an invoice's address has in addition to the order's token to show the name and the address. It stays the same. */
export function invoiceProof(keys: EmailKey, { id, createdAt }: Pick<OrderRow, 'id' | 'createdAt'>): string {
  return signLink(keys.emailToken, { id, expiresAt: createdAt + invoiceLifeMs }, 'invoice')
}

/** Whether a text is the proof in the address of an order's invoice. */
export function provesInvoice(keys: EmailKey, { id }: Pick<OrderRow, 'id'>, proof: string, now: number): boolean {
  const link = readLink(proof)
  return link !== undefined && link.id === id && link.expiresAt > now && link.isSigned(keys.emailToken, 'invoice')
}

type Purpose = 'claim' | 'end-subscription'

function signGuestLink(keys: EmailKey, purpose: Purpose, order: OrderRow, now: number): string {
  return signLink(keys.emailToken, { id: order.id, expiresAt: now + linkLifeMs }, subjectOf(purpose, order))
}

function findGuest(db: Db, keys: EmailKey, purpose: Purpose, token: string, now: number): Guest | undefined {
  const link = readLink(token)
  const order = link && link.expiresAt > now ? findOrder(db, link.id) : undefined
  if (link === undefined || order === undefined || order.userId !== null || order.email === null) return undefined
  return link.isSigned(keys.emailToken, subjectOf(purpose, order)) ? { order, email: order.email } : undefined
}

function subjectOf(purpose: Purpose, { emailKey }: OrderRow): string {
  return `${purpose} ${emailKey}`
}
