import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree, statement } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { emailCounterKey, takePoints, tryTakePoint } from '../limits/points.ts'
import { mails } from '../mail/schema.ts'
import { findUserByEmail } from './find.ts'
import { queueLink } from './email-tokens.ts'
import type { LinkKind } from './email-tokens.ts'
import type { Caller, UserRow } from './rows.ts'
import { emailTokens } from './schema.ts'

/** An id that is never used by an account. */
const noUser = { id: -1, email: '' }
const dropLastMail = statement((orm) =>
  orm
    .delete(mails)
    .where(eq(mails.id, sql`last_insert_rowid()`))
    .prepare()
)
const dropTokens = statement((orm) => orm.delete(emailTokens).where(eq(emailTokens.userId, noUser.id)).prepare())

type Asked = { readonly email: string } & Pick<Caller, 'addressKey'>

/**
 * Sends a link to choose a new password if there is an active account. Response and timing are the same without one.
 *
 * Past the limit of an email (recovery_email) it sends nothing and says nothing, because anyone can use the limit up. The
 * last link that was sent is then still valid: it lives as long as the limit's window.
 *
 * @throws AppError AUTH_RATE_LIMITED (recovery_ip)
 */
export async function forgotPassword(shop: ShopContext, asked: Asked, now: number): Promise<void> {
  await sendLink(shop, asked, 'reset', now, (user) => user.status === 'active')
}

/**
 * Sends the verification link again if there is an active account whose email is not verified. Response and timing are
 * the same without one. Past the limit of an email it sends nothing and says nothing.
 *
 * @throws AppError AUTH_RATE_LIMITED (recovery_ip)
 */
export async function resendVerification(shop: ShopContext, asked: Asked, now: number): Promise<void> {
  await sendLink(shop, asked, 'verify', now, (user) => user.status === 'active' && user.emailVerifiedAt === null)
}

async function sendLink(
  shop: ShopContext,
  { email, addressKey }: Asked,
  kind: LinkKind,
  now: number,
  mayHave: (user: UserRow) => boolean
): Promise<void> {
  // Before any write: an unknown email costs as much as a known one.
  await takePoints(shop, 'AUTH_RATE_LIMITED', { bucket: 'recovery_ip', key: addressKey })
  const bucket = 'recovery_email'
  if (!(await tryTakePoint(shop, { bucket, key: emailCounterKey(emailKey(email)) }))) return
  await writeWhenFree(shop.db, (tx) => {
    const user = findUserByEmail(tx, email)
    const receiver = user !== undefined && mayHave(user) ? user : noUser
    // A token without an account is deleted before the end of the transaction, when SQLite checks foreign keys.
    tx.sqlite.pragma('defer_foreign_keys = ON')
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
  dropTokens(tx).run()
}
