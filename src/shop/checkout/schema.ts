import { blob, check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { instant, oneOf } from '../../platform/db/columns.ts'
import { orders } from '../orders/schema.ts'

/** What was answered under an Idempotency-Key, to be answered again byte for byte. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    /** `session:<hash>`, or `address:<key>` for a guest. */
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    /** The body alone: by it a guest is found again from another address. Null in rows of older versions. */
    bodyFingerprint: text('body_fingerprint'),
    state: text('state', { enum: ['running', 'answered'] }).notNull(),
    /** Process that runs it, so that a key left by a dead one is free again. */
    owner: text('owner').notNull(),
    orderId: integer('order_id').references(() => orders.id),
    status: integer('status'),
    body: blob('body', { mode: 'buffer' }),
    setCookies: text('set_cookies'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull()
  },
  (t) => [
    primaryKey({ columns: [t.scope, t.key] }),
    index('idempotency_keys_by_end').on(t.expiresAt),
    index('idempotency_keys_by_key').on(t.key),
    check('idempotency_keys_state', oneOf(t.state))
  ]
)
