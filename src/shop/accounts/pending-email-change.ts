import { AppError } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/email-key.ts'
import { toIso } from '../../platform/iso-time.ts'
import type { ShopContext } from '../context.ts'
import { countAccountChange, emailCounterKey, tryTakePoint } from '../limits/points.ts'
import { queueMail } from '../mail/queue-mail.ts'
import { createEmailToken, endEmailTokens, findOpenToken } from './email-tokens.ts'

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
  await writeWhenFree(shop.db, (tx) => endEmailTokens(tx, userId, now, 'email'))
}

function getPending(db: Db, userId: number, now: number): PendingEmailChange {
  const pending = findPendingEmailChange(db, userId, now)
  if (pending === null)
    throw new AppError('CONFLICT', 'No change of the email waits for its link. Please enter the new email again.')
  return pending
}
