import { blob, check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { instant, oneOf } from '../../platform/db/columns.ts'
import { orders } from '../orders/schema.ts'

/** The response to each Idempotency-Key, to be repeated byte for byte. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    /** `session:<hash>`, or `address:<key>` for a guest. */
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    /** A hash of the body alone, which finds a guest's key from another address. Null in rows of older versions. */
    bodyFingerprint: text('body_fingerprint'),
    state: text('state', { enum: ['running', 'answered'] }).notNull(),
    /** The process and request that use the key, so that the key of a process that died is free again. */
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
