import { AppError } from '../../errors.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { provesMailbox, sendMailboxCode, proveMailbox } from '../accounts/mailbox-code.ts'
import type { ShopContext } from '../context.ts'
import { getOrderByPublicToken } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { findHolder } from '../orders/holds.ts'

/**
 * What the browser that opens an order's page has to show for itself. The token of the order does not count: buyers share
 * the link, and forward emails.
 */
export type Visitor = {
  /** The account of its session. */
  userId: number | null
  /** The buyer that its checkout cookie names (`Holder`). */
  guest: string | null
  /** Its proof of a mailbox (`proveMailbox`). */
  mailbox: string | null
  /** The email that this browser gave to the order, signed by the shop. */
  gaveEmail: string | null
}

/**
 * Whether a visitor is the buyer of an order: with the session of its account, the cookie of the checkout that placed it,
 * or a code that was sent to its email.
 */
export function isBuyerOf(
  { db, keys }: { db: Db; keys: Pick<Keys, 'emailToken'> },
  order: Pick<OrderRow, 'id' | 'userId' | 'email' | 'emailKey'>,
  { userId, guest, mailbox, gaveEmail }: Visitor,
  now: number
): boolean {
  if (order.userId !== null && order.userId === userId) return true
  if (hasProvenEmail({ keys }, order, { mailbox }, now)) return true
  if (order.userId !== null) return false
  if (order.email !== null && order.email === gaveEmail) return true
  return guest !== null && findHolder(db, order.id) === guest
}

/** Whether a visitor has entered the code that was sent to the email of an order. */
export function hasProvenEmail(
  { keys }: { keys: Pick<Keys, 'emailToken'> },
  { emailKey }: Pick<OrderRow, 'emailKey'>,
  { mailbox }: Pick<Visitor, 'mailbox'>,
  now: number
): boolean {
  return emailKey !== null && mailbox !== null && provesMailbox(keys, mailbox, emailKey, now)
}

/**
 * Whether a visitor may change an order's email, address, coupons, VAT id and way to pay. An order without an email has
 * no proven buyer: the first browser that adds one becomes the buyer, because a browser on a site with another address lacks
 * the checkout cookie, and the shop has no mailbox to send a code to.
 */
export function mayChange(
  shop: Parameters<typeof isBuyerOf>[0],
  order: Parameters<typeof isBuyerOf>[1],
  visitor: Visitor,
  now: number
): boolean {
  return (order.userId === null && order.email === null) || isBuyerOf(shop, order, visitor, now)
}

/** The error for a visitor who only has the link of an order and wants to change it. */
export function notTheBuyer(): AppError {
  return new AppError('NOT_AUTHENTICATED', 'Only the buyer can change this order. Prove that its email is yours.')
}

type Caller = { addressKey: string; now: number }

/**
 * Sends a code to the email of an order. It does nothing for an order without one.
 *
 * @throws AppError NOT_FOUND; RATE_LIMITED (recovery_ip, recovery_email)
 */
export async function sendOrderCode(shop: ShopContext, orderToken: string, caller: Caller): Promise<void> {
  const { email } = getOrderByPublicToken(shop.db, orderToken)
  if (email !== null) await sendMailboxCode(shop, email, caller)
}

/**
 * Checks the code of `sendOrderCode` and returns the cookie that makes the browser the buyer's.
 *
 * @throws AppError NOT_FOUND; TOKEN_INVALID; AUTH_RATE_LIMITED (token_ip, code_email)
 */
export function proveOrderEmail(shop: ShopContext, orderToken: string, code: string, caller: Caller): Promise<string> {
  const { email } = getOrderByPublicToken(shop.db, orderToken)
  if (email === null) throw new AppError('TOKEN_INVALID', 'This order has no email.')
  return proveMailbox(shop, { email, code }, caller)
}
