import { readLink, signLink } from '../../platform/crypto/signed-link.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { findOrder } from './find.ts'
import type { OrderRow } from './find.ts'

/** Buyers open the email of an order late. The order's page sends the link again. */
const linkLifeMs = 30 * 24 * 60 * 60_000

type EmailKey = Pick<Keys, 'emailToken'>

/** The token of the link that opens an account for the email of a guest's order. It proves the mailbox. */
export function claimToken(keys: EmailKey, order: OrderRow, now: number): string {
  return signLink(keys.emailToken, { id: order.id, expiresAt: now + linkLifeMs }, subjectOf(order))
}

/**
 * The guest's order of a link and its email. Undefined if the link is forged or expired, or if the order is in an account
 * or lost its email.
 */
export function findClaimed(
  db: Db,
  keys: EmailKey,
  token: string,
  now: number
): { order: OrderRow; email: string } | undefined {
  const link = readLink(token)
  const order = link && link.expiresAt > now ? findOrder(db, link.id) : undefined
  if (link === undefined || order === undefined || order.userId !== null || order.email === null) return undefined
  return link.isSigned(keys.emailToken, subjectOf(order)) ? { order, email: order.email } : undefined
}

function subjectOf({ emailKey }: OrderRow): string {
  return `claim ${emailKey}`
}
