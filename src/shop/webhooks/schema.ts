import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { bool, instant, json, oneOf } from '../../platform/db/columns.ts'
import { events } from '../events/schema.ts'

/**
 * When a queued delivery may be sent. The first attempt never waits, even if the clock was ahead when it was queued and has
 * been set back since.
 */
export const dueAt = sql.raw('CASE attempts WHEN 0 THEN 0 ELSE next_attempt_at END')

/** A replaced secret; `endsAt` is in epoch milliseconds. */
const oldSecret = z.object({ secret: z.string(), endsAt: z.number() })
export type OldSecret = z.output<typeof oldSecret>

/** Addresses that receive the shop's events by Standard Webhooks. */
export const webhookEndpoints = sqliteTable(
  'webhook_endpoints',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    url: text('url').notNull(),
    /** Event types that are delivered; null for all. */
    types: json('types', z.array(z.string())),
    secret: text('secret').notNull(),
    /** Earlier secrets that also sign until their time, the newest first. */
    oldSecrets: json('old_secrets', z.array(oldSecret)),
    /** Whether events contain their order and its buyer. */
    full: bool('full').notNull().default(false),
    active: bool('active').notNull().default(true),
    createdAt: instant('created_at').notNull()
  },
  (t) => [uniqueIndex('webhook_endpoints_url').on(t.url), check('webhook_endpoints_active', sql`${t.active} IN (0, 1)`)]
)

export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    endpointId: integer('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id, { onDelete: 'cascade' }),
    eventId: integer('event_id')
      .notNull()
      .references(() => events.id),
    state: text('state', { enum: ['queued', 'delivered', 'failed'] }).notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull(),
    lastStatus: integer('last_status'),
    lastError: text('last_error'),
    deliveredAt: instant('delivered_at'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [
    uniqueIndex('webhook_deliveries_once').on(t.endpointId, t.eventId),
    index('webhook_deliveries_by_event').on(t.eventId),
    index('webhook_deliveries_by_state').on(t.state, t.createdAt),
    index('webhook_deliveries_due')
      .on(t.endpointId, dueAt)
      .where(sql`state = 'queued'`),
    check('webhook_deliveries_state', oneOf(t.state))
  ]
)
