import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bool, instant, json, oneOf } from '../../platform/db/columns.ts'
import { deletedWithPerson, internal, notPersonal, personal } from '../../platform/db/personal.ts'
import { postalAddress } from '../../platform/postal/address.ts'

/** Where a person says yes or no to news: at registration, in the account, in a former shop, or by a link in an email. */
const consentPlaces = ['registration', 'account', 'import', 'link'] as const
export type ConsentPlace = (typeof consentPlaces)[number]

export const users = sqliteTable(
  'users',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    email: personal(text('email').notNull(), sql`'erased-' || id || '@erased.invalid'`),
    /** The key by which emails are compared (platform/text.ts). */
    emailKey: internal(text('email_key').notNull(), sql`'erased ' || id`),
    username: personal(text('username').notNull(), sql`'erased-' || id`),
    usernameKey: internal(text('username_key').notNull(), sql`'erased ' || id`),
    displayName: personal(text('display_name').notNull(), 'Erased'),
    passwordHash: internal(text('password_hash').notNull(), ''),
    status: internal(text('status', { enum: ['active', 'deactivated', 'erased'] }).notNull(), 'erased'),
    isAdmin: internal(bool('is_admin').notNull().default(false), false),
    emailVerifiedAt: personal(instant('email_verified_at'), null),
    /** True from a registration that requires verification until the email is verified. */
    verificationPending: internal(bool('verification_pending').notNull().default(false), false),
    /** Core profile fields, the fallback of profile.firstName and lastName. */
    firstName: personal(text('first_name'), null),
    lastName: personal(text('last_name'), null),
    biography: personal(text('biography'), null),
    /** The language tag in which the person uses the shop, for emails; null for that of the shop. */
    language: personal(text('language'), null),
    billingEmail: personal(text('billing_email'), null),
    billingPhone: personal(text('billing_phone'), null),
    companyName: personal(text('company_name'), null),
    /** Where the person's goods go; a checkout starts with it. */
    address: personal(json('address', postalAddress), null),
    marketingOptIn: personal(
      text('marketing_opt_in', { enum: ['yes', 'no'] })
        .notNull()
        .default('no'),
      'no'
    ),
    marketingOptInAt: personal(instant('marketing_opt_in_at'), null),
    /** Where the person last said yes or no to news; null before the first answer. */
    marketingOptInFrom: personal(text('marketing_opt_in_from', { enum: consentPlaces }), null),
    partnerOptIn: personal(
      text('partner_opt_in', { enum: ['yes', 'no'] })
        .notNull()
        .default('no'),
      'no'
    ),
    partnerOptInAt: personal(instant('partner_opt_in_at'), null),
    /** The newest login or other use, to the day. Null once the account is erased. */
    activeAt: personal(instant('active_at'), null),
    /** When the owner was told that the account is dormant (customers/retention.ts). */
    dormantMailAt: internal(instant('dormant_mail_at'), null),
    createdAt: notPersonal(instant('created_at').notNull()),
    updatedAt: notPersonal(instant('updated_at').notNull())
  },
  (t) => [
    index('users_by_activity')
      .on(t.activeAt)
      .where(sql`dormant_mail_at IS NULL`),
    index('users_dormant')
      .on(t.dormantMailAt)
      .where(sql`dormant_mail_at IS NOT NULL`),
    // A login asks which kinds of hash the shop has (login.ts).
    index('users_by_password_hash').on(t.passwordHash),
    uniqueIndex('users_email_key').on(t.emailKey),
    uniqueIndex('users_username_key').on(t.usernameKey),
    check('users_status', oneOf(t.status)),
    check('users_is_admin', sql`${t.isAdmin} IN (0, 1)`),
    check('users_verification_pending', sql`${t.verificationPending} IN (0, 1)`),
    check('users_marketing_opt_in', oneOf(t.marketingOptIn)),
    check('users_marketing_opt_in_from', oneOf(t.marketingOptInFrom)),
    check('users_partner_opt_in', oneOf(t.partnerOptIn))
  ]
)

/** The custom profile of a registration. */
export const registrationProfiles = deletedWithPerson(
  sqliteTable('registration_profiles', {
    userId: integer('user_id')
      .primaryKey()
      .references(() => users.id),
    firstName: text('first_name'),
    lastName: text('last_name')
  })
)

/** The consents given at registration, with their times. */
export const registrationConsents = deletedWithPerson(
  sqliteTable(
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
)

export const sessions = deletedWithPerson(
  sqliteTable(
    'sessions',
    {
      /** SHA-256 of the cookie's token, hex; the token itself is not stored. */
      tokenHash: text('token_hash').primaryKey(),
      userId: integer('user_id')
        .notNull()
        .references(() => users.id),
      rememberMe: bool('remember_me').notNull(),
      /** SHA-256 of the anonymous nonce of the request that started the session; it stays valid for the session. */
      startNonceHash: text('start_nonce_hash'),
      createdAt: instant('created_at').notNull(),
      lastSeenAt: instant('last_seen_at').notNull(),
      /** The end of the session, regardless of its use. */
      endsAt: instant('ends_at').notNull()
    },
    (t) => [
      index('sessions_by_user').on(t.userId, t.lastSeenAt),
      index('sessions_by_end').on(t.endsAt),
      index('sessions_idle')
        .on(t.lastSeenAt)
        .where(sql`remember_me = 0`),
      check('sessions_remember_me', sql`${t.rememberMe} IN (0, 1)`)
    ]
  )
)

/** Links sent by email. The token is derived from the row and the shop's secret; only its hash is stored. */
export const emailTokens = deletedWithPerson(
  sqliteTable(
    'email_tokens',
    {
      id: integer('id').primaryKey({ autoIncrement: true }),
      kind: text('kind', { enum: ['verify', 'reset', 'email', 'undo'] }).notNull(),
      userId: integer('user_id')
        .notNull()
        .references(() => users.id),
      /** The random part from which the token is derived when the email is composed. */
      salt: text('salt').notNull(),
      tokenHash: text('token_hash').notNull(),
      createdAt: instant('created_at').notNull(),
      expiresAt: instant('expires_at').notNull(),
      usedAt: instant('used_at'),
      /** The address that a link of the kind `email` makes the account's, and that one of the kind `undo` restores. */
      newEmail: text('new_email')
    },
    (t) => [
      uniqueIndex('email_tokens_hash').on(t.tokenHash),
      index('email_tokens_by_user').on(t.userId, t.kind),
      index('email_tokens_undo')
        .on(t.expiresAt)
        .where(sql`kind = 'undo' AND used_at IS NULL`),
      check('email_tokens_kind', oneOf(t.kind)),
      check('email_tokens_new_email', sql`(${t.kind} IN ('email', 'undo')) = (${t.newEmail} IS NOT NULL)`)
    ]
  )
)
