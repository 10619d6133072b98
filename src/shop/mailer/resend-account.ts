import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { getUser } from '../accounts/find.ts'
import { findPendingEmailChange, sendEmailLink } from '../accounts/request-email-change.ts'
import { queueLink } from '../accounts/email-tokens.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { lastMail, queueMail } from '../mail/queue.ts'
import { assertSendable } from './resend.ts'

/** The emails about an account that an operator can send again. */
export const accountEmails = [
  'verify_email',
  'reset_password',
  'confirm_email',
  'email_changed',
  'password_changed'
] as const
export type AccountEmail = (typeof accountEmails)[number]

/**
 * Sends an email about an account again. Links are new, and the earlier ones end; notices are repeated as they were sent
 * last, to the same address.
 *
 * @throws AppError NOT_FOUND; CONFLICT when the email does not fit the account, was not sent in the last 30 days, or
 *   `emails.off` names it
 */
export function resendAccountEmail(
  shop: ShopContext,
  who: string,
  template: AccountEmail,
  now: number
): { template: AccountEmail; to: string } {
  return write(shop.db, (tx) => ({ template, to: send(tx, shop, getUser(tx, who), template, now) }))
}

function send(tx: Tx, shop: ShopContext, user: UserRow, template: AccountEmail, now: number): string {
  const { id: userId, email } = user
  if (user.status !== 'active') throw new AppError('CONFLICT', `Account ${userId} is ${user.status}.`)
  if (template === 'verify_email') {
    if (user.emailVerifiedAt !== null) throw new AppError('CONFLICT', `The email of account ${userId} is verified.`)
    queueLink(tx, shop, 'verify', user, now)
    return email
  }
  if (template === 'reset_password') {
    queueLink(tx, shop, 'reset', user, now)
    return email
  }
  if (template === 'confirm_email') {
    const pending = findPendingEmailChange(tx, userId, now)
    if (pending === null) throw new AppError('CONFLICT', `Account ${userId} does not wait for a new email.`)
    sendEmailLink(tx, shop, { userId, newEmail: pending.email }, now)
    return pending.email
  }
  const { data, recipient } = lastMail(tx, template, { userId })
  assertSendable(shop, { template, data, recipient }, now)
  queueMail(tx, { template, data, recipient }, now)
  return recipient
}
