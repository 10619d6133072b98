import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Tx, Db } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { countAccountChange, emailCounterKey, tryTakePoint } from '../limits/points.ts'
import { queueMail } from '../mail/queue.ts'
import { endEmailTokens, createEmailToken, findOpenToken } from './email-tokens.ts'
import { findUserById } from './find.ts'
import type { ChangeEmailInput } from './input.ts'
import { invalidCredentials, verifyPassword } from './login.ts'
import type { SessionRow, UserRow } from './rows.ts'
import { users } from './schema.ts'
import { toIso } from '../../platform/iso-time.ts'

/**
 * Sends a link to the address that the logged-in user wants for their account, and tells the current address. Nothing
 * else changes until the link is used (confirmEmailChange). A later request replaces this one. The result is the same
 * for an address of another account, which gets no email.
 *
 * Another spelling of the current address, such as with a capital letter, is stored at once and without an email, because
 * it is the same mailbox. It also withdraws a pending change.
 *
 * Past the limit of the new address (recovery_email) it sends nothing and says nothing, so that the shop cannot be used
 * to flood a mailbox.
 *
 * @throws AppError AUTH_RATE_LIMITED (account_change, login_account), AUTH_INVALID_CREDENTIALS, NOT_AUTHENTICATED when
 *   the account was deactivated in the meantime
 */
export async function requestEmailChange(
  shop: ShopContext,
  { email, password }: ChangeEmailInput,
  { identity }: { readonly identity: { readonly session: SessionRow; readonly user: UserRow } },
  now: number
): Promise<void> {
  const { user, session } = identity
  await countAccountChange(shop, user.id, 'AUTH_RATE_LIMITED')
  await verifyPassword(shop, user, password, [{ bucket: 'login_account', key: `session:${session.tokenHash}` }])
  const isSameMailbox = emailKey(email) === user.emailKey
  if (
    !isSameMailbox &&
    !(await tryTakePoint(shop, { bucket: 'recovery_email', key: emailCounterKey(emailKey(email)) }))
  )
    return
  await writeWhenFree(shop.db, (tx) => {
    const current = findUserById(tx, user.id)
    if (current?.status !== 'active') throw new AppError('NOT_AUTHENTICATED', 'Please log in.')
    // A concurrent change came first: the checked password is no longer valid.
    if (current.passwordHash !== user.passwordHash) throw invalidCredentials()
    if (isSameMailbox) return respell(tx, current, email, now)
    sendEmailLink(tx, shop, { userId: user.id, newEmail: email }, now)
    const notice = { userId: user.id, step: 'requested' } as const
    queueMail(tx, { template: 'email_changed', recipient: current.email, data: notice }, now)
  })
}

function respell(tx: Tx, { id, emailKey: key }: UserRow, email: string, now: number): void {
  endEmailTokens(tx, id, now, ['email'])
  // A concurrent change may have come first.
  if (emailKey(email) === key) tx.orm.update(users).set({ email, updatedAt: now }).where(eq(users.id, id)).run()
}

/** A change of the email whose link was not used yet. `expiresAt` is the time at which the link ends. */
export type PendingEmailChange = { email: string; expiresAt: string }

/** The pending change of an account; null without one. It does not depend on whether another account has the address. */
export function findPendingEmailChange(db: Db, userId: number, now: number): PendingEmailChange | null {
  const row = findOpenToken(db, userId, 'email', now)
  return row === undefined || row.newEmail === null ? null : { email: row.newEmail, expiresAt: toIso(row.expiresAt) }
}

/** Queues the email with the link that makes `newEmail` the account's; an earlier link ends. */
export function sendEmailLink(
  tx: Tx,
  { keys }: Pick<ShopContext, 'keys'>,
  { userId, newEmail }: { userId: number; newEmail: string },
  now: number
): void {
  const { id: tokenId } = createEmailToken(tx, keys, { kind: 'email', userId, newEmail }, now)
  // The mailer drops this email if the address belongs to another account.
  queueMail(tx, { template: 'confirm_email', recipient: newEmail, data: { userId, tokenId } }, now)
}

/**
 * Sends the link of the pending change again; the earlier link ends. It needs no password, because the request did. Past
 * the limit of the new address (recovery_email) it sends nothing and says nothing.
 *
 * @throws AppError CONFLICT without a pending change, AUTH_RATE_LIMITED (account_change)
 */
export async function resendEmailChange(shop: ShopContext, userId: number, now: number): Promise<void> {
  await countAccountChange(shop, userId, 'AUTH_RATE_LIMITED')
  const { email } = getPending(shop.db, userId, now)
  if (!(await tryTakePoint(shop, { bucket: 'recovery_email', key: emailCounterKey(emailKey(email)) }))) return
  await writeWhenFree(shop.db, (tx) => {
    // A concurrent request may have used, replaced or withdrawn it.
    if (getPending(tx, userId, now).email === email) sendEmailLink(tx, shop, { userId, newEmail: email }, now)
  })
}

/**
 * Withdraws the pending change: its link does not work any more. Without one it changes nothing.
 *
 * @throws AppError AUTH_RATE_LIMITED (account_change)
 */
export async function withdrawEmailChange(shop: ShopContext, userId: number, now: number): Promise<void> {
  await countAccountChange(shop, userId, 'AUTH_RATE_LIMITED')
  await writeWhenFree(shop.db, (tx) => endEmailTokens(tx, userId, now, ['email']))
}

function getPending(db: Db, userId: number, now: number): PendingEmailChange {
  const pending = findPendingEmailChange(db, userId, now)
  if (pending === null)
    throw new AppError('CONFLICT', 'No change of the email waits for its link. Please enter the new email again.')
  return pending
}
