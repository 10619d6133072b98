import type { Db } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { Flags } from './flags.ts'
import { standingOf } from './standing.ts'
import type { Standing } from './standing.ts'

/** `user.roles` where nothing else of the account is asked for (/nonce): one statement. */
export function rolesOf(db: Db, user: UserRow): string[] {
  return toRoles(user, isActiveAffiliate(standingOf(db, user)))
}

/** `user.roles` and `roles.wpRoles`: everyone is a customer. */
export function toRoles(user: Pick<UserRow, 'isAdmin'>, isActiveAffiliate: boolean): string[] {
  return ['customer', ...(isActiveAffiliate ? ['affiliate'] : []), ...(user.isAdmin ? ['administrator'] : [])]
}

/** Whether a user has an active affiliate account. */
export function isActiveAffiliate({ isOn, affiliate }: Standing): boolean {
  return isOn('affiliates') && affiliate?.status === 'active'
}

/** `roles.serviceRoles`: what the entitlements make of a person. */
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
