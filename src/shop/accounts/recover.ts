import { rawStatement, write } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { countFailures, emailCounter, takePoint } from './attempts.ts'
import { findUsableToken, redeemEmailToken } from './email-tokens.ts'
import type { EmailTokenKind } from './email-tokens.ts'
import { findUserByEmail, getUserById } from './find.ts'
import type { ResetPasswordInput } from './input.ts'
import { assertPassword } from './password-rules.ts'
import { queueLink } from './queue-link.ts'
import type { Caller, UserRow } from './rows.ts'
import { replacePassword } from './set-password.ts'
import { markVerified, tokenInvalid } from './verify-email.ts'
import type { OnVerified } from './verify-email.ts'

/** No account has this number. */
const nobody = -1
const dropLastMail = rawStatement('DELETE FROM mails WHERE id = last_insert_rowid()')
const dropTokens = rawStatement<[number]>('DELETE FROM email_tokens WHERE user_id = ?')

/**
 * Sends a link to choose a new password, if there is such an account; the answer and its time are the same if not.
 *
 * @throws AppError AUTH_RATE_LIMITED (recovery_email)
 */
export async function forgotPassword(shop: ShopContext, email: string, now: number): Promise<void> {
  await sendLink(shop, email, 'reset', now, (user) => user.status === 'active')
}

/**
 * Sends the verification link again, if there is such an account and its email has not been verified.
 *
 * @throws AppError AUTH_RATE_LIMITED (recovery_email)
 */
export async function resendVerification(shop: ShopContext, email: string, now: number): Promise<void> {
  await sendLink(shop, email, 'verify', now, (user) => user.status === 'active' && user.emailVerifiedAt === null)
}

async function sendLink(
  shop: ShopContext,
  email: string,
  kind: EmailTokenKind,
  now: number,
  mayHave: (user: UserRow) => boolean
): Promise<void> {
  await takePoint(shop, { bucket: 'recovery_email', key: emailCounter(compareKey(email)) })
  write(shop.db, (tx) => {
    const user = findUserByEmail(tx, email)
    if (user === undefined || !mayHave(user)) queueNothing(tx, shop, kind, now)
    else queueLink(tx, shop, kind, user, now)
  })
}

/**
 * The same rows written and taken back before they are committed: without the work and the wait for the disk, an answer's
 * time would tell which emails have accounts.
 */
function queueNothing(tx: Tx, shop: Pick<ShopContext, 'keys'>, kind: EmailTokenKind, now: number): void {
  tx.sqlite.pragma('defer_foreign_keys = ON')
  queueLink(tx, shop, kind, { id: nobody, email: '' }, now)
  dropLastMail(tx).run()
  dropTokens(tx).run(nobody)
}

/**
 * Chooses a new password by a link's token. Every session of the account ends, and whoever read the email has shown that
 * it is his.
 *
 * @throws AppError TOKEN_INVALID, AUTH_RATE_LIMITED (token_ip), PASSWORD_POLICY_VIOLATION (the token stays good)
 */
export async function resetPassword(
  shop: ShopContext,
  input: ResetPasswordInput,
  caller: Pick<Caller, 'addressKey'>,
  now: number,
  onVerified: OnVerified
): Promise<UserRow> {
  const { row } = await countFailures(shop, [{ bucket: 'token_ip', key: caller.addressKey }], async () => {
    const found = findUsableToken(shop.db, 'reset', input.token, now)
    return { failed: found === undefined, row: found }
  })
  if (row === undefined) throw tokenInvalid()
  await assertPassword(shop, input.password, getUserById(shop.db, row.userId))
  const passwordHash = await shop.passwords.hash(input.password)
  return write(shop.db, (tx) => {
    if (redeemEmailToken(tx, 'reset', input.token, now) === undefined) throw tokenInvalid()
    replacePassword(tx, row.userId, passwordHash, now)
    return markVerified(tx, row.userId, now, onVerified)
  })
}
