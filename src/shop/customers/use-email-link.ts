import { validationFailed } from '../../errors.ts'
import type { AppError } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { findUsableToken, redeemEmailToken, tokenInvalid } from '../accounts/email-tokens.ts'
import type { EmailTokenKind } from '../accounts/email-tokens.ts'
import { getUserById } from '../accounts/find.ts'
import { assertPassword } from '../accounts/password-rules.ts'
import type { PasswordOwner } from '../accounts/password-rules.ts'
import type { Caller, EmailTokenRow, UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { runCountingFailures } from '../limits/counted-attempts.ts'

/** A link from an email, and the client that opened it. */
export type EmailLink = { kind: EmailTokenKind; token: string; caller: Pick<Caller, 'addressKey'> }
/** The token of a link, with a password where the link needs one. */
export type LinkInput = { token: string; password?: string | undefined }
/** The client that opened a link: its address, and what shows that it is a browser of the account. */
export type LinkCaller = Pick<Caller, 'addressKey' | 'identity' | 'cookies'>

/**
 * Uses up the token of a link: `prepare` does what is slow, such as hashing a password, and `apply` runs in the
 * transaction that uses the token. If either throws, the token stays valid. An unusable token counts as a failed attempt of
 * its address.
 *
 * @throws AppError TOKEN_INVALID, also if `apply` returns null; AUTH_RATE_LIMITED (token_ip) after too many unusable tokens
 */
export async function useEmailLink<Prepared>(
  shop: ShopContext,
  { kind, token, caller }: EmailLink,
  prepare: (user: UserRow, row: EmailTokenRow) => Promise<Prepared>,
  apply: (tx: Tx, row: EmailTokenRow, prepared: Prepared) => UserRow | null,
  now: number
): Promise<UserRow> {
  const row = await openLink(shop, caller, () => findUsableToken(shop.db, kind, token, now))
  const prepared = await prepare(getUserById(shop.db, row.userId), row)
  return writeWhenFree(shop.db, (tx) => {
    const redeemed = redeemEmailToken(tx, kind, token, now)
    const user = redeemed === undefined ? null : apply(tx, redeemed, prepared)
    if (user === null) throw tokenInvalid()
    return user
  })
}

/**
 * What a link leads to. A link that leads to nothing counts as a failed attempt of its address.
 *
 * @throws AppError TOKEN_INVALID; AUTH_RATE_LIMITED (token_ip) after too many of these
 */
export async function openLink<Found>(
  shop: ShopContext,
  { addressKey }: Pick<Caller, 'addressKey'>,
  find: () => Found | undefined
): Promise<Found> {
  const { found } = await runCountingFailures(shop, [{ bucket: 'token_ip', key: addressKey }], async () => {
    const found = find()
    return { failed: found === undefined, found }
  })
  if (found === undefined) throw tokenInvalid()
  return found
}

/**
 * The hash of the password that the owner of an account chooses.
 *
 * @throws AppError VALIDATION_FAILED without one, PASSWORD_POLICY_VIOLATION
 */
export async function hashNewPassword(
  shop: ShopContext,
  owner: PasswordOwner,
  password: string | undefined
): Promise<string> {
  if (password === undefined) throw passwordNeeded('Choose a password for the account of this email.')
  await assertPassword(shop, password, owner)
  return shop.passwords.hash(password)
}

/** The error for a link that needs a password, without one. */
export function passwordNeeded(message: string): AppError {
  return validationFailed({ password: [message] })
}
