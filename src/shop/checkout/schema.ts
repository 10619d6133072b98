import { blob, check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { instant, json, oneOf } from '../../platform/db/columns.ts'
import { kept, notPersonal } from '../../platform/db/personal.ts'
import { orders } from '../orders/schema.ts'

/** The response to each Idempotency-Key, to be repeated byte for byte. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    /** `session:<hash>`, or `address:<key>` for a guest. */
    scope: notPersonal(text('scope').notNull()),
    key: notPersonal(text('key').notNull()),
    fingerprint: notPersonal(text('fingerprint').notNull()),
    /** A hash of the body alone, which finds a guest's key from another address. */
    bodyFingerprint: notPersonal(text('body_fingerprint').notNull()),
    /** The buyer by the checkout cookie, who alone finds a guest's key from another address. */
    buyer: notPersonal(text('buyer').notNull()),
    state: text('state', { enum: ['running', 'answered'] }).notNull(),
    /** The process and request that use the key, so that the key of a process that died is free again. */
    owner: notPersonal(text('owner').notNull()),
    orderId: integer('order_id').references(() => orders.id),
    status: integer('status'),
    body: kept(blob('body', { mode: 'buffer' }), 'The row expires after a day.'),
    setCookies: kept(json('set_cookies', z.array(z.string())), 'The row expires after a day.'),
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
