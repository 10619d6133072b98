import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bool, instant, oneOf } from '../../platform/db/columns.ts'

export const users = sqliteTable(
  'users',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    email: text('email').notNull(),
    /** What emails are compared by (platform/text.ts). */
    emailKey: text('email_key').notNull(),
    username: text('username').notNull(),
    usernameKey: text('username_key').notNull(),
    displayName: text('display_name').notNull(),
    passwordHash: text('password_hash').notNull(),
    status: text('status', { enum: ['active', 'deactivated', 'erased'] }).notNull(),
    isAdmin: bool('is_admin').notNull().default(false),
    emailVerifiedAt: instant('email_verified_at'),
    /** True from a registration that asks for verification until it has happened. */
    verificationPending: bool('verification_pending').notNull().default(false),
    /** Core profile fields, which profile.firstName and lastName fall back to. */
    firstName: text('first_name'),
    lastName: text('last_name'),
    biography: text('biography'),
    billingEmail: text('billing_email'),
    billingPhone: text('billing_phone'),
    companyName: text('company_name'),
    marketingOptIn: text('marketing_opt_in', { enum: ['yes', 'no'] })
      .notNull()
      .default('no'),
    marketingOptInAt: instant('marketing_opt_in_at'),
    partnerOptIn: text('partner_opt_in', { enum: ['yes', 'no'] })
      .notNull()
      .default('no'),
    partnerOptInAt: instant('partner_opt_in_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    uniqueIndex('users_email_key').on(t.emailKey),
    uniqueIndex('users_username_key').on(t.usernameKey),
    check('users_status', oneOf(t.status)),
    check('users_is_admin', sql`${t.isAdmin} IN (0, 1)`),
    check('users_verification_pending', sql`${t.verificationPending} IN (0, 1)`),
    check('users_marketing_opt_in', oneOf(t.marketingOptIn)),
    check('users_partner_opt_in', oneOf(t.partnerOptIn))
  ]
)

/** The custom profile of a registration. */
export const registrationProfiles = sqliteTable('registration_profiles', {
  userId: integer('user_id')
    .primaryKey()
    .references(() => users.id),
  firstName: text('first_name'),
  lastName: text('last_name')
})

/** What a person agreed to, and when. */
export const registrationConsents = sqliteTable(
  'registration_consents',
  {
    userId: integer('user_id')
      .primaryKey()
      .references(() => users.id),
    marketingOptIn: bool('marketing_opt_in').notNull(),
    termsAcceptedAt: instant('terms_accepted_at'),
    privacyAcceptedAt: instant('privacy_accepted_at'),
    recordedAt: instant('recorded_at').notNull()
  },
  (t) => [check('registration_consents_marketing', sql`${t.marketingOptIn} IN (0, 1)`)]
)

export const sessions = sqliteTable(
  'sessions',
  {
    /** SHA-256 of the cookie's token, hex; the token itself is stored nowhere. */
    tokenHash: text('token_hash').primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id),
    rememberMe: bool('remember_me').notNull(),
    /** SHA-256 of the anonymous nonce that was sent with the request which started the session; it stays good for it. */
    startNonceHash: text('start_nonce_hash'),
    createdAt: instant('created_at').notNull(),
    lastSeenAt: instant('last_seen_at').notNull(),
    /** When it ends however much it is used. */
    endsAt: instant('ends_at').notNull()
  },
  (t) => [
    index('sessions_by_user').on(t.userId, t.lastSeenAt),
    index('sessions_by_end').on(t.endsAt),
    check('sessions_remember_me', sql`${t.rememberMe} IN (0, 1)`)
  ]
)

/** Links sent by email; the token is derived from the row and the shop's secret, only its hash is stored. */
export const emailTokens = sqliteTable(
  'email_tokens',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    kind: text('kind', { enum: ['verify', 'reset'] }).notNull(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id),
    /** Random part from which the token is derived again when its message is written. */
    salt: text('salt').notNull(),
    tokenHash: text('token_hash').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at')
  },
  (t) => [
    uniqueIndex('email_tokens_hash').on(t.tokenHash),
    index('email_tokens_by_user').on(t.userId, t.kind),
    check('email_tokens_kind', oneOf(t.kind))
  ]
)
