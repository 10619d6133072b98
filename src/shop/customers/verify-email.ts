import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { findUsableToken, markVerified } from '../accounts/email-tokens.ts'
import { getUserById } from '../accounts/find.ts'
import { isBrowserOf } from '../accounts/login.ts'
import type { UserRow } from '../accounts/rows.ts'
import { endUserSessions } from '../accounts/sessions.ts'
import { resetPasswordOf } from '../accounts/set-password.ts'
import { forgetBinding } from '../affiliates/bindings.ts'
import type { ShopContext } from '../context.ts'
import { claimGuestOrders } from './claim-guest-orders.ts'
import { hashNewPassword, useEmailLink } from './use-email-link.ts'
import type { LinkCaller, LinkInput } from './use-email-link.ts'

/**
 * Uses a verification token up and confirms the email of its account. The account can then log in; no session starts.
 *
 * The link proves the mailbox, not that its owner opened the account: another person may have registered it. So outside
 * of a browser of the account the owner of the mailbox chooses the password, as by a reset link, and all sessions end. The
 * password that the account has is accepted too, and stays.
 *
 * @throws AppError TOKEN_INVALID for a token that is unknown, used or expired, AUTH_RATE_LIMITED (token_ip) after too
 *   many of these; VALIDATION_FAILED on `password` where one is needed, PASSWORD_POLICY_VIOLATION (the token stays valid)
 */
export function verifyEmail(
  shop: ShopContext,
  { token, password }: LinkInput,
  caller: LinkCaller,
  now: number
): Promise<UserRow> {
  return useEmailLink(
    shop,
    { kind: 'verify', token, caller },
    (user) => chosenPassword(shop, user, password, caller),
    (tx, { userId }, chosen) => {
      if (chosen !== 'unchanged') takeOver(tx, userId, chosen, now)
      return confirmEmail(tx, userId, now)
    },
    now
  )
}

/** Whether the holder of a verification link has to choose a password; undefined for a link that is not valid. */
export function needsPasswordToVerify(
  shop: ShopContext,
  token: string,
  caller: LinkCaller,
  now: number
): { email: string; needed: boolean } | undefined {
  const row = findUsableToken(shop.db, 'verify', token, now)
  if (row === undefined) return undefined
  const user = getUserById(shop.db, row.userId)
  return { email: user.email, needed: !isBrowserOf(shop, user, caller) }
}

/** The account's password hash before the link was used, and the new one; they are equal for the same password. */
type Chosen = { before: string; after: string }

async function chosenPassword(
  shop: ShopContext,
  user: UserRow,
  password: string | undefined,
  caller: LinkCaller
): Promise<Chosen | 'unchanged'> {
  if (isBrowserOf(shop, user, caller)) return 'unchanged'
  const before = user.passwordHash
  const isSame = password !== undefined && (await shop.passwords.verify(before, password))
  return { before, after: isSame ? before : await hashNewPassword(shop, user, password) }
}

function takeOver(tx: Tx, userId: number, { before, after }: Chosen, now: number): void {
  // A concurrent change came first: the password that was entered does not count any more.
  const isSame = before === after && getUserById(tx, userId).passwordHash === before
  if (isSame) endUserSessions(tx, userId)
  else takeOverAccount(tx, userId, after, now)
}

/**
 * Gives an account to the owner of its mailbox, with a new password. If the mailbox was never proven before, another person
 * may have registered the account, by a link of their own: it is nobody's customer then.
 */
export function takeOverAccount(tx: Tx, userId: number, passwordHash: string, now: number): UserRow {
  if (getUserById(tx, userId).emailVerifiedAt === null) forgetBinding(tx, userId)
  return resetPasswordOf(tx, userId, passwordHash, now)
}

/**
 * Records that the email belongs to the account's owner, and moves the orders placed as a guest with it into the
 * account. An account that is already verified stays as it is.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function confirmEmail(db: Db, userId: number, now: number): UserRow {
  return write(db, (tx) => {
    const { user, changed } = markVerified(tx, userId, now)
    if (changed) claimGuestOrders(tx, user, now)
    return user
  })
}
