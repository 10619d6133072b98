import { writeWhenFree } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { redeemEmailToken, tokenInvalid } from '../accounts/email-tokens.ts'
import type { EmailTokenKind } from '../accounts/email-tokens.ts'
import type { Caller, EmailTokenRow, UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { runCountingFailures } from '../limits/counted-attempts.ts'

/** A link from an email, and the client that opened it. */
export type EmailLink = { kind: EmailTokenKind; token: string; caller: Pick<Caller, 'addressKey'> }

/**
 * Uses up the token of a link and runs `apply` in the same transaction. Without a usable token, or if `apply` returns
 * null, the attempt counts as a failed one of its address.
 *
 * @throws AppError TOKEN_INVALID; AUTH_RATE_LIMITED (token_ip) after too many of these
 */
export async function useEmailLink(
  shop: ShopContext,
  { kind, token, caller }: EmailLink,
  apply: (tx: Tx, row: EmailTokenRow) => UserRow | null,
  now: number
): Promise<UserRow> {
  const { user } = await runCountingFailures(shop, [{ bucket: 'token_ip', key: caller.addressKey }], async () => {
    const applied = await writeWhenFree(shop.db, (tx) => {
      const row = redeemEmailToken(tx, kind, token, now)
      return row === undefined ? null : apply(tx, row)
    })
    return { failed: applied === null, user: applied }
  })
  if (user === null) throw tokenInvalid()
  return user
}
