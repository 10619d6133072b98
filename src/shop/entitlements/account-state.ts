import { toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/database.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ConsentView, ProfileView } from '../accounts/shapes.ts'
import { isStopped } from '../benefits/records.ts'
import { modulesBySwitches } from '../settings/modules.ts'
import type { Modules } from '../settings/modules.ts'

type Row = {
  /** `name=1` or `name=0` of each module that was switched. */
  switches: string | null
  affiliateId: number | null
  affiliateStatus: string | null
  profileFirstName: string | null
  profileLastName: string | null
  termsAcceptedAt: number | null
  privacyAcceptedAt: number | null
  totalOrders: number | null
  hasCompletedOrder: number
  hasEnrolment: number
}

/**
 * Reads the modules and all facts that exist at most once for a user in one statement, because /me may run only eight.
 * Without a user, it reads only the modules. `status = 'completed'` is written as in the partial index, otherwise
 * SQLite does not use it.
 */
const accountStateStatement = rawStatement<{ userId: number | null }, Row>(
  `SELECT (SELECT group_concat(name || '=' || enabled) FROM modules) AS switches,
          a.id AS affiliateId, a.status AS affiliateStatus,
          p.first_name AS profileFirstName, p.last_name AS profileLastName,
          c.terms_accepted_at AS termsAcceptedAt, c.privacy_accepted_at AS privacyAcceptedAt,
          t.total AS totalOrders,
          EXISTS (SELECT 1 FROM orders WHERE user_id = u.id AND status = 'completed') AS hasCompletedOrder,
          EXISTS (SELECT 1 FROM enrolments e WHERE e.user_id = u.id AND e.revoked_at IS NULL
                    AND NOT ${isStopped('e.order_id')}) AS hasEnrolment
     FROM (SELECT @userId AS id) AS u
     LEFT JOIN affiliates a ON a.user_id = u.id
     LEFT JOIN registration_profiles p ON p.user_id = u.id
     LEFT JOIN registration_consents c ON c.user_id = u.id
     LEFT JOIN customer_order_totals t ON t.user_id = u.id`
)

/** The facts about an account that exist at most once, regardless of which modules are on. */
export type AccountState = {
  isOn: Modules
  affiliate: { id: number; status: string } | null
  profile: ProfileView
  consent: ConsentView
  totalOrders: number
  hasCompletedOrder: boolean
  isEnrolled: boolean
}

/** Reads the facts about a user that exist at most once, and which modules are on, in one statement. */
export function accountStateOf(db: Db, user: UserRow | null): AccountState {
  const row = accountStateStatement(db).get({ userId: user?.id ?? null })
  const { affiliateId = null, affiliateStatus = null } = row ?? {}
  return {
    isOn: modulesBySwitches(readSwitches(row?.switches ?? null)),
    affiliate: affiliateId === null || affiliateStatus === null ? null : { id: affiliateId, status: affiliateStatus },
    profile: {
      firstName: row?.profileFirstName ?? user?.firstName ?? null,
      lastName: row?.profileLastName ?? user?.lastName ?? null
    },
    consent: {
      marketingOptIn: user?.marketingOptIn === 'yes',
      termsAcceptedAt: toIsoOrNull(row?.termsAcceptedAt),
      privacyAcceptedAt: toIsoOrNull(row?.privacyAcceptedAt)
    },
    totalOrders: row?.totalOrders ?? 0,
    hasCompletedOrder: row?.hasCompletedOrder === 1,
    isEnrolled: row?.hasEnrolment === 1
  }
}

function readSwitches(text: string | null): Map<string, boolean> {
  return new Map(text?.split(',').map((entry) => [entry.slice(0, -2), entry.endsWith('=1')]))
}
