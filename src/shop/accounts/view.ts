import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { findRegistrationConsent, findRegistrationProfile } from './find.ts'
import type { UserRow } from './rows.ts'
import type { ConsentView, ProfileView, UserView } from './shapes.ts'
import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { emailKey, compareKey } from '../../platform/text.ts'
import { users } from './schema.ts'

/**
 * The public user (docs/interface.md 2.1). Unset optional fields are omitted, and all three without `billing` (/nonce).
 */
export function toUser(user: UserRow, roles: readonly string[], options: { billing: boolean }): UserView {
  return {
    id: user.id,
    email: user.email,
    displayName: user.displayName,
    roles: [...roles],
    createdAt: toIso(user.createdAt),
    ...(options.billing ? billingFields(user) : {})
  }
}

function billingFields(user: UserRow): Pick<UserView, 'billingEmail' | 'billingPhone' | 'companyName'> {
  return {
    ...(user.billingEmail === null ? {} : { billingEmail: user.billingEmail }),
    ...(user.billingPhone === null ? {} : { billingPhone: user.billingPhone }),
    ...(user.companyName === null ? {} : { companyName: user.companyName })
  }
}

/** The names of the registration profile; the core field replaces a missing name. */
export function toProfile(db: Db, user: UserRow): ProfileView {
  const custom = findRegistrationProfile(db, user.id)
  return { firstName: custom?.firstName ?? user.firstName, lastName: custom?.lastName ?? user.lastName }
}

/** The person's current consents. The consent record keeps those given at registration. */
export function toConsent(db: Db, user: UserRow): ConsentView {
  const record = findRegistrationConsent(db, user.id)
  return {
    marketingOptIn: user.marketingOptIn === 'yes',
    termsAcceptedAt: toIsoOrNull(record?.termsAcceptedAt),
    privacyAcceptedAt: toIsoOrNull(record?.privacyAcceptedAt)
  }
}

/** Everything that the shop stores about an account, for operators (`users show`) and for privacy requests. */
export function toAccountRecord(db: Db, user: UserRow) {
  const consent = findRegistrationConsent(db, user.id)
  return {
    username: user.username,
    status: user.status,
    emailVerifiedAt: toIsoOrNull(user.emailVerifiedAt),
    profile: toProfile(db, user),
    coreProfile: { firstName: user.firstName, lastName: user.lastName },
    address: user.address,
    consent: toConsent(db, user),
    registrationConsent:
      consent === undefined
        ? null
        : {
            marketingOptIn: consent.marketingOptIn,
            termsAcceptedAt: toIsoOrNull(consent.termsAcceptedAt),
            privacyAcceptedAt: toIsoOrNull(consent.privacyAcceptedAt),
            recordedAt: toIso(consent.recordedAt)
          },
    marketingOptIn: user.marketingOptIn,
    marketingOptInAt: toIsoOrNull(user.marketingOptInAt),
    partnerOptIn: user.partnerOptIn,
    partnerOptInAt: toIsoOrNull(user.partnerOptInAt),
    biography: user.biography
  }
}

export type UserFilter = {
  readonly status?: UserRow['status'] | undefined
  /** Part of an email, username or display name, in any case. */
  readonly search?: string | undefined
  /** Only accounts older than this one, for the next page. */
  readonly beforeId?: number | undefined
  readonly limit: number
}

/** Accounts, newest first. */
export function listUsers(db: Db, { status, search, beforeId, limit }: UserFilter): UserRow[] {
  const wanted = compareKey(search ?? '')
  const has = (key: SQL | SQLiteColumn) => sql`instr(${key}, ${wanted}) > 0`
  return db.orm
    .select()
    .from(users)
    .where(
      and(
        status === undefined ? undefined : eq(users.status, status),
        beforeId === undefined ? undefined : lt(users.id, beforeId),
        search === undefined
          ? undefined
          : or(
              eq(users.emailKey, emailKey(search)),
              has(sql`compare_key(${users.email})`),
              has(users.usernameKey),
              has(sql`compare_key(${users.displayName})`)
            )
      )
    )
    .orderBy(desc(users.id))
    .limit(limit)
    .all()
}
