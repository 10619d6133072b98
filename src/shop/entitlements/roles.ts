import type { Db } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { Flags } from './shapes.ts'
import { accountStateOf } from './account-state.ts'
import type { AccountState } from './account-state.ts'

/** `user.roles` alone, for /nonce; runs one statement. */
export function rolesOf(db: Db, user: UserRow): string[] {
  return toRoles(user, isActiveAffiliate(accountStateOf(db, user)))
}

/** `user.roles` and `roles.wpRoles`; every user is a customer. */
export function toRoles(user: Pick<UserRow, 'isAdmin'>, isActiveAffiliate: boolean): string[] {
  return ['customer', ...(isActiveAffiliate ? ['affiliate'] : []), ...(user.isAdmin ? ['administrator'] : [])]
}

/** Whether a user has an active affiliate account. */
export function isActiveAffiliate({ isOn, affiliate }: AccountState): boolean {
  return isOn('affiliates') && affiliate?.status === 'active'
}

/** `roles.serviceRoles`, derived from the flags. */
export function toServiceRoles(flags: Flags): string[] {
  const isMember = flags.hasActiveMembershipA || flags.hasActiveMembershipB
  const held = [
    isMember && 'member',
    flags.hasProAccess && 'pro',
    flags.isAffiliateApproved && 'affiliate',
    flags.isAdmin && 'admin'
  ]
  return held.filter((role) => role !== false)
}
