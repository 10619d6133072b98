import { AppError } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import { createUser, displayNameOf } from '../accounts/create-user.ts'
import { tokenInvalid } from '../accounts/email-tokens.ts'
import { findUserByEmail } from '../accounts/find.ts'
import type { Caller, UserRow } from '../accounts/rows.ts'
import { bindCustomer } from '../affiliates/bindings.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import type { ShopContext } from '../context.ts'
import { takeRecoveryPoints } from '../limits/points.ts'
import { findClaimed } from '../orders/order-links.ts'
import { findAttribution, getOrderByPublicToken } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { mailBuyer, waitsForAccount } from '../orders/order-mails.ts'
import { claimGuestOrders } from './claim-guest-orders.ts'
import { hashNewPassword, openLink } from './use-email-link.ts'
import { confirmEmail, takeOverAccount } from './verify-email.ts'

/** A guest's order whose link is valid, its email, and the account that has this email already. */
export type Claim = { order: OrderRow; email: string; account: UserRow | undefined }

/** What a link leads to; undefined if it is not valid. */
export function findClaim(
  { db, keys }: Pick<ShopContext, 'keys'> & { db: Db },
  token: string,
  now: number
): Claim | undefined {
  const found = findClaimed(db, keys, token, now)
  return found && { ...found, account: findUserByEmail(db, found.email) }
}

/** Whether the buyer has to choose a password: no account has this email, or its owner has not proven it. */
export function needsPassword({ account }: Claim): boolean {
  return account === undefined || account.emailVerifiedAt === null
}

/**
 * Moves the guest orders of a link's email into the account with this email. Without one it opens an account. An account
 * whose email was never verified gets the new password, and its sessions end: a stranger may have registered it.
 *
 * @param password is ignored for an account whose email is verified
 * @throws AppError TOKEN_INVALID, AUTH_RATE_LIMITED (token_ip), AUTH_ACCOUNT_DEACTIVATED, PASSWORD_POLICY_VIOLATION (the
 *   link stays valid)
 */
export async function claimOrder(
  shop: ShopContext,
  { token, password }: { token: string; password: string },
  caller: Pick<Caller, 'addressKey'>,
  now: number
): Promise<void> {
  const claim = await openLink(shop, caller, () => findClaim(shop, token, now))
  if (claim.account !== undefined && claim.account.status !== 'active')
    throw new AppError('AUTH_ACCOUNT_DEACTIVATED', 'This account has been deactivated.')
  const owner = claim.account ?? { email: claim.email, displayName: nameOf(claim) }
  const passwordHash = needsPassword(claim) ? await hashNewPassword(shop, owner, password) : null
  await writeWhenFree(shop.db, (tx) => {
    const current = findClaim({ db: tx, keys: shop.keys }, token, now)
    // The order or its account changed while the password was hashed, such as by a verification of its email.
    if (current === undefined || current.account?.id !== claim.account?.id) throw tokenInvalid()
    if (needsPassword(current) !== needsPassword(claim)) throw tokenInvalid()
    if (passwordHash !== null) confirmEmail(tx, accountWith(tx, current, passwordHash, now).id, now)
    else if (current.account !== undefined) claimGuestOrders(tx, current.account, now)
  })
}

function accountWith(tx: Tx, claim: Claim, passwordHash: string, now: number): UserRow {
  const { order, email, account } = claim
  if (account !== undefined) return takeOverAccount(tx, account.id, passwordHash, now)
  const { firstName = null, lastName = null } = order.contact
  const said = { marketingOptIn: false, termsAcceptedAt: null, privacyAcceptedAt: null }
  const user = createUser(
    tx,
    {
      email,
      displayName: nameOf(claim),
      firstName,
      lastName,
      passwordHash,
      verified: false,
      language: order.language ?? undefined,
      ...said
    },
    now
  )
  const { affiliateId = null, affiliateCampaign = '' } = findAttribution(tx, order.id) ?? {}
  if (affiliateId !== null) {
    const credit = { affiliate: getAffiliateById(tx, affiliateId), campaign: affiliateCampaign || null }
    bindCustomer(tx, user.id, credit, now)
  }
  return user
}

function nameOf({ email, order: { contact } }: Claim): string {
  return displayNameOf(email, [contact.firstName ?? null, contact.lastName ?? null])
}

/**
 * Sends the link of a guest's order again, to the email of the order. For an order that does not wait for an account it
 * does nothing.
 *
 * @throws AppError NOT_FOUND; RATE_LIMITED (recovery_ip, recovery_email)
 */
export async function sendClaimAgain(
  shop: ShopContext,
  orderToken: string,
  { addressKey, now }: { addressKey: string; now: number }
): Promise<void> {
  const order = getOrderByPublicToken(shop.db, orderToken)
  if (order.email === null || !waitsForAccount(shop.db, order)) return
  await takeRecoveryPoints(shop, addressKey, emailKey(order.email))
  await writeWhenFree(shop.db, (tx) =>
    mailBuyer(tx, order, { template: 'claim_order', data: { orderId: order.id } }, now)
  )
}
