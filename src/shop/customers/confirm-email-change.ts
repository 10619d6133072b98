import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import {
  createEmailToken,
  endEmailTokens,
  endLaterUndos,
  findUsableToken,
  isReserved,
  mailboxLinks,
  markVerified
} from '../accounts/email-tokens.ts'
import { getUnerasedUser, getUserById, findUserByEmail } from '../accounts/find.ts'
import { isBrowserOf, verifyPassword } from '../accounts/login.ts'
import type { Caller, EmailTokenRow, UserRow } from '../accounts/rows.ts'
import { users } from '../accounts/schema.ts'
import { resetPasswordOf } from '../accounts/set-password.ts'
import type { ShopContext } from '../context.ts'
import { queueMail } from '../mail/queue.ts'
import { claimGuestOrders } from './claim-guest-orders.ts'
import { hashNewPassword, passwordNeeded, useEmailLink } from './use-email-link.ts'
import type { LinkCaller, LinkInput } from './use-email-link.ts'

/**
 * Uses the link that requestEmailChange has sent: its address becomes the account's, and is verified. The old address
 * gets a notice with a link that undoes the change, its open links end, and the guest orders with the new address move into
 * the account. Sessions stay.
 *
 * The link proves the new mailbox. Its reader must hold the account as well: the link works in a browser of the account, or
 * with its password. Otherwise a typing error would give the account to another person, and a person who changes their
 * email to another's would get that person's guest orders.
 *
 * @throws AppError TOKEN_INVALID for a token that is unknown, used or expired, or if another account has the address by
 *   now; AUTH_RATE_LIMITED (token_ip) after too many of these; VALIDATION_FAILED on `password` where it is needed,
 *   AUTH_INVALID_CREDENTIALS, AUTH_RATE_LIMITED (login_account) (the token stays valid)
 */
export function confirmEmailChange(
  shop: ShopContext,
  { token, password }: LinkInput,
  caller: LinkCaller,
  now: number
): Promise<UserRow> {
  return useEmailLink(
    shop,
    { kind: 'email', token, caller },
    async (user, { id }) => {
      if (isBrowserOf(shop, user, caller)) return
      if (password === undefined) throw passwordNeeded('Enter the password of your account, or log in first.')
      await verifyPassword(shop, user, password, [{ bucket: 'login_account', key: `link:${id}` }])
    },
    (tx, { userId, newEmail }) => (newEmail ? changeEmail(tx, shop, { userId, email: newEmail }, now) : null),
    now
  )
}

/** The new email of a valid link, and whether it needs the password of the account; undefined for another link. */
export function findEmailChange(
  shop: ShopContext,
  token: string,
  caller: LinkCaller,
  now: number
): { email: string; needed: boolean } | undefined {
  const row = findUsableToken(shop.db, 'email', token, now)
  if (row === undefined || row.newEmail === null) return undefined
  return { email: row.newEmail, needed: !isBrowserOf(shop, getUserById(shop.db, row.userId), caller) }
}

function changeEmail(
  tx: Tx,
  shop: Pick<ShopContext, 'keys'>,
  { userId, email }: { userId: number; email: string },
  now: number
): UserRow | null {
  const user = getUnerasedUser(tx, userId)
  if (!mayHave(tx, user, email, now)) return null
  // An address that was never verified may be a typing error, and its owner a person who has nothing to do with the account.
  const undo = user.emailVerifiedAt === null ? undefined : createEmailToken(tx, shop.keys, undoOf(user), now).id
  replaceEmail(tx, user, { email, undo }, now)
  const { user: verified } = markVerified(tx, userId, now)
  claimGuestOrders(tx, verified, now)
  return verified
}

function undoOf({ id, email }: UserRow) {
  return { kind: 'undo', userId: id, newEmail: email } as const
}

function mayHave(tx: Db, user: UserRow, email: string, now: number): boolean {
  const holder = findUserByEmail(tx, email)
  const isFree = holder === undefined || holder.id === user.id
  return user.status === 'active' && isFree && !isReserved(tx, email, user.id, now)
}

/**
 * Gives an account another email, ends the links that the old address has got, and tells the old address.
 *
 * @param change.undo the token of the link that undoes the change, for the notice
 */
export function replaceEmail(
  tx: Tx,
  user: UserRow,
  change: { email: string; undo?: number | undefined },
  now: number
): void {
  const { email, undo } = change
  const userId = user.id
  endEmailTokens(tx, userId, now, mailboxLinks)
  tx.orm
    .update(users)
    .set({ email, emailKey: emailKey(email), updatedAt: now })
    .where(eq(users.id, userId))
    .run()
  const data = { userId, step: 'done', ...(undo === undefined ? {} : { tokenId: undo }) } as const
  queueMail(tx, { template: 'email_changed', recipient: user.email, data }, now)
}

/**
 * Undoes a change of the email by the link that the old address has got: the account has that address again, a new
 * password and no session, and what an intruder may have left is removed (resetPasswordOf).
 *
 * @throws AppError TOKEN_INVALID, AUTH_RATE_LIMITED (token_ip); VALIDATION_FAILED without a password, PASSWORD_POLICY_VIOLATION (the
 *   token stays valid)
 */
export function undoEmailChange(
  shop: ShopContext,
  { token, password }: LinkInput,
  caller: Pick<Caller, 'addressKey'>,
  now: number
): Promise<UserRow> {
  return useEmailLink(
    shop,
    { kind: 'undo', token, caller },
    (user) => hashNewPassword(shop, user, password),
    (tx, row, passwordHash) => restoreEmail(tx, row, passwordHash, now),
    now
  )
}

function restoreEmail(tx: Tx, row: EmailTokenRow, passwordHash: string, now: number): UserRow | null {
  const { userId, newEmail } = row
  const user = getUnerasedUser(tx, userId)
  if (newEmail === null || !mayHave(tx, user, newEmail, now)) return null
  endLaterUndos(tx, row, now)
  replaceEmail(tx, user, { email: newEmail }, now)
  return resetPasswordOf(tx, userId, passwordHash, now)
}
