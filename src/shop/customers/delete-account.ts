import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { writeWhenFree, statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { findUserById } from '../accounts/find.ts'
import { invalidCredentials, verifyPassword } from '../accounts/login.ts'
import type { SessionRow, UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { countAccountChange } from '../limits/points.ts'
import { placedAsGuest } from '../orders/find.ts'
import { orders } from '../orders/schema.ts'
import { openBalanceOf } from '../referrals/ledger.ts'
import { erasePerson } from './erase-person.ts'

/**
 * Without its address such an order could not be sent. The guest orders with the email are erased with the account, so a
 * paid one counts, too. Anyone can place an unpaid one, which must not prevent the deletion.
 */
const openOrderOf = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.userId, sql.placeholder('id')), inArray(orders.status, ['pending', 'on-hold', 'processing'])))
    .unionAll(
      orm
        .select({ id: orders.id })
        .from(orders)
        .where(
          and(
            placedAsGuest(sql.placeholder('emailKey')),
            inArray(orders.status, ['on-hold', 'processing']),
            isNotNull(orders.paidAt)
          )
        )
    )
    .limit(1)
    .prepare()
)

/** An order of the account that is not completed, or a paid guest order with its email that is not. */
export function findOpenOrder(db: Db, { id, emailKey }: Pick<UserRow, 'id' | 'emailKey'>): { id: number } | undefined {
  return openOrderOf(db).get({ id, emailKey })
}

/**
 * Erases the account of the logged-in user for good, as erasePerson does: sessions and renewals end, and personal data
 * is removed. Orders, payments and their sums stay without it. The email must be verified: otherwise anyone could register
 * another person's address and erase the guest orders with it.
 *
 * @throws AppError AUTH_RATE_LIMITED (account_change, login_account), AUTH_INVALID_CREDENTIALS; AUTH_EMAIL_NOT_VERIFIED;
 *   CONFLICT while an order of the account is open, for an administrator, and for an affiliate with an open balance unless
 *   `despiteBalance` is true (details.balance); NOT_AUTHENTICATED when the account was deactivated in the meantime
 */
export async function deleteAccount(
  shop: ShopContext,
  { password, despiteBalance }: { password: string; despiteBalance?: boolean | undefined },
  { identity }: { readonly identity: { readonly session: SessionRow; readonly user: UserRow } },
  now: number
): Promise<void> {
  const { user, session } = identity
  await countAccountChange(shop, user.id, 'AUTH_RATE_LIMITED')
  await verifyPassword(shop, user, password, [{ bucket: 'login_account', key: `session:${session.tokenHash}` }])
  await writeWhenFree(shop.db, (tx) => {
    const current = findUserById(tx, user.id)
    if (current?.status !== 'active') throw new AppError('NOT_AUTHENTICATED', 'Please log in.')
    // A concurrent change came first: the checked password is no longer valid.
    if (current.passwordHash !== user.passwordHash) throw invalidCredentials()
    if (current.isAdmin)
      throw new AppError('CONFLICT', 'The account of an administrator can only be erased by the operator of the shop.')
    if (current.emailVerifiedAt === null)
      throw new AppError('AUTH_EMAIL_NOT_VERIFIED', 'Please verify your email first, so that we know that it is yours.')
    const open = findOpenOrder(tx, current)
    if (open !== undefined)
      throw new AppError(
        'CONFLICT',
        `Order ${open.id} is not completed yet. Cancel it, wait until it is completed, or contact the shop.`
      )
    const balance = openBalanceOf(tx, user.id)
    if (balance !== null && despiteBalance !== true)
      throw new AppError(
        'CONFLICT',
        'Your affiliate account has an open balance. Ask the shop about it, or confirm that the account is deleted anyway.',
        { balance }
      )
    erasePerson(tx, user.id, now)
  })
}
