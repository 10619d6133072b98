import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { emailKey } from '../../platform/email-key.ts'
import type { ShopContext } from '../context.ts'
import { emailCounterKey, takePoints } from '../limits/points.ts'
import type { EmailTokenKind } from './email-tokens.ts'
import { findUserByEmail } from './find.ts'
import { queueLink } from './queue-link.ts'
import type { UserRow } from './rows.ts'

/** An id that is never used by an account. */
const noUser = { id: -1, email: '' }
const deferForeignKeys = rawStatement('PRAGMA defer_foreign_keys = ON')
const dropLastMail = rawStatement('DELETE FROM mails WHERE id = last_insert_rowid()')
const dropTokens = rawStatement<[number]>('DELETE FROM email_tokens WHERE user_id = ?')

/**
 * Sends a link to choose a new password if there is an active account. Response and timing are the same without one.
 *
 * @throws AppError AUTH_RATE_LIMITED (recovery_email)
 */
export async function forgotPassword(shop: ShopContext, email: string, now: number): Promise<void> {
  await sendLink(shop, email, 'reset', now, (user) => user.status === 'active')
}

/**
 * Sends the verification link again if there is an active account whose email is not verified. Response and timing are
 * the same without one.
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
  await takePoints(shop, 'AUTH_RATE_LIMITED', { bucket: 'recovery_email', key: emailCounterKey(emailKey(email)) })
  await writeWhenFree(shop.db, (tx) => {
    const user = findUserByEmail(tx, email)
    const receiver = user !== undefined && mayHave(user) ? user : noUser
    // A token without an account is deleted before the end of the transaction, when SQLite checks foreign keys.
    deferForeignKeys(tx).run()
    queueLink(tx, shop, kind, receiver, now)
    if (receiver === noUser) deleteQueued(tx)
  })
}

/**
 * Deletes the rows of a link without an account before they are committed. Without this work, a response for an unknown
 * email would be faster by the writes and the wait for the disk, which would reveal which emails have accounts.
 */
function deleteQueued(tx: Tx): void {
  dropLastMail(tx).run()
  dropTokens(tx).run(noUser.id)
}
