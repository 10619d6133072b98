import { blob, check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, oneOf } from '../../platform/db/columns.ts'
import { roles } from './roles.ts'

/** The people of the shop's office. They are no accounts of the shop, and a row stays for the log when access ends. */
export const deskPeople = sqliteTable(
  'desk_people',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    email: text('email').notNull(),
    emailKey: text('email_key').notNull(),
    role: text('role', { enum: roles }).notNull(),
    createdAt: instant('created_at').notNull(),
    /** When access ended; null while the person has it. */
    removedAt: instant('removed_at')
  },
  (t) => [uniqueIndex('desk_people_email_key').on(t.emailKey), check('desk_people_role', oneOf(t.role))]
)

const person = () =>
  integer('person_id')
    .notNull()
    .references(() => deskPeople.id)

/** The passkeys (WebAuthn) of a person. */
export const deskPasskeys = sqliteTable(
  'desk_passkeys',
  {
    /** The credential's id, as base64url. */
    id: text('id').primaryKey(),
    personId: person(),
    /** The public key in COSE form (RFC 9052). */
    publicKey: blob('public_key', { mode: 'buffer' }).notNull(),
    /** The signature counter of the authenticator; 0 for one without a counter. */
    counter: integer('counter').notNull(),
    /** When the newest accepted challenge was issued. An older one is not accepted again. */
    challengeAt: instant('challenge_at').notNull(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at')
  },
  (t) => [index('desk_passkeys_by_person').on(t.personId)]
)

/** One-time links by which a person makes a passkey. The token is derived from the row; only its hash is stored. */
export const deskInvitations = sqliteTable(
  'desk_invitations',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    personId: person(),
    salt: text('salt').notNull(),
    tokenHash: text('token_hash').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at')
  },
  (t) => [uniqueIndex('desk_invitations_hash').on(t.tokenHash), index('desk_invitations_by_person').on(t.personId)]
)

export const deskSessions = sqliteTable(
  'desk_sessions',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** SHA-256 of the cookie's token, hex. */
    tokenHash: text('token_hash').notNull(),
    personId: person(),
    /** The browser and system, such as `Chrome, Android`. */
    device: text('device').notNull(),
    createdAt: instant('created_at').notNull(),
    lastSeenAt: instant('last_seen_at').notNull()
  },
  (t) => [
    uniqueIndex('desk_sessions_hash').on(t.tokenHash),
    index('desk_sessions_by_person').on(t.personId),
    index('desk_sessions_by_start').on(t.createdAt)
  ]
)

/** What each person did. `subject` names rows by id, and never a buyer. */
export const deskLog = sqliteTable(
  'desk_log',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** Null for a person with a shell on the machine. */
    personId: integer('person_id').references(() => deskPeople.id),
    action: text('action').notNull(),
    subject: text('subject').notNull(),
    /** `begun` remains when the process ended in the middle. */
    outcome: text('outcome', { enum: ['begun', 'done', 'refused'] }).notNull(),
    at: instant('at').notNull()
  },
  (t) => [index('desk_log_by_person').on(t.personId, t.id), check('desk_log_outcome', oneOf(t.outcome))]
)
