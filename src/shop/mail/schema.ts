import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { instant, json, oneOf } from '../../platform/db/columns.ts'
import { internal, notPersonal } from '../../platform/db/personal.ts'
import { events } from '../events/schema.ts'

/**
 * Emails, queued with the event that causes them. `data` holds what the template needs and never a token: links are
 * derived when the email is composed (see accounts/email-tokens.ts).
 */
export const mails = sqliteTable(
  'mails',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    eventId: integer('event_id').references(() => events.id),
    template: notPersonal(text('template').notNull()),
    recipient: internal(text('recipient').notNull(), 'erased@erased.invalid'),
    data: notPersonal(json('data', z.record(z.string(), z.unknown())).notNull()),
    state: text('state', { enum: ['queued', 'sent', 'failed'] }).notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull(),
    createdAt: instant('created_at').notNull(),
    sentAt: instant('sent_at'),
    lastError: internal(text('last_error'), null)
  },
  (t) => [
    index('mails_due').on(t.state, t.nextAttemptAt),
    index('mails_untried')
      .on(t.attempts, t.createdAt)
      .where(sql`state = 'queued'`),
    index('mails_over')
      .on(t.createdAt)
      .where(sql`state <> 'queued'`),
    index('mails_by_event').on(t.eventId),
    check('mails_state', oneOf(t.state))
  ]
)
