import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, minor, oneOf } from '../../platform/db/columns.ts'
import { kept, notPersonal } from '../../platform/db/personal.ts'
import type { Trigger } from '../../platform/db/trigger.ts'
import { affiliates, visits } from '../affiliates/schema.ts'
import { referralStatuses } from './states.ts'

/** A payment to one affiliate for several referrals. */
export const payouts = sqliteTable(
  'payouts',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    amountMinor: minor('amount_minor').notNull(),
    currency: notPersonal(text('currency').notNull()),
    reference: kept(text('reference'), 'Accounting: a payout was made.'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [index('payouts_by_affiliate').on(t.affiliateId, t.id), check('payouts_amount', sql`${t.amountMinor} > 0`)]
)

export const referrals = sqliteTable(
  'referrals',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    /** An order has one referral, whatever its status. If a failed order is paid later, the same row is reopened. */
    orderId: integer('order_id').notNull(),
    visitId: integer('visit_id')
      .notNull()
      .references(() => visits.id),
    status: text('status', { enum: referralStatuses }).notNull(),
    rateBps: integer('rate_bps').notNull(),
    /** Commission after refunds. For an accepted referral, the sum of its ledger entries `earned` and `taken_back`. */
    amountMinor: minor('amount_minor').notNull(),
    currency: notPersonal(text('currency').notNull()),
    rejectedFor: notPersonal(text('rejected_for')),
    /** What an operator should look at before accepting or paying; `plus_address`: see isPlusAddressOf. */
    note: text('note', { enum: ['plus_address'] }),
    acceptedAt: instant('accepted_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    uniqueIndex('referrals_order').on(t.orderId),
    index('referrals_by_affiliate').on(t.affiliateId, t.id),
    index('referrals_by_status').on(t.status, t.id),
    check('referrals_status', oneOf(t.status)),
    check('referrals_amount', sql`${t.amountMinor} >= 0`)
  ]
)

const entryKinds = ['earned', 'taken_back', 'paid_out'] as const

/** The ledger. Append-only: triggers refuse UPDATE and DELETE. Positive entries increase what the shop owes. */
export const commissionEntries = sqliteTable(
  'commission_entries',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    referralId: integer('referral_id').references(() => referrals.id),
    payoutId: integer('payout_id').references(() => payouts.id),
    kind: text('kind', { enum: entryKinds }).notNull(),
    amountMinor: minor('amount_minor').notNull(),
    currency: notPersonal(text('currency').notNull()),
    reason: notPersonal(text('reason').notNull()),
    at: instant('at').notNull()
  },
  (t) => [
    index('commission_entries_by_referral').on(t.referralId, t.id),
    check('commission_entries_kind', oneOf(t.kind))
  ]
)

/**
 * How many referrals an affiliate has of each day, currency and status, and the sum of their commissions. Triggers maintain
 * it, so that balances and statistics do not read all referrals. A row stays when its last referral changes its status.
 */
export const referralTotals = sqliteTable(
  'referral_totals',
  {
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    /** The day of `created_at` in UTC, as the number of days since 1970. */
    day: integer('day').notNull(),
    currency: notPersonal(text('currency').notNull()),
    status: text('status', { enum: referralStatuses }).notNull(),
    orders: integer('orders').notNull(),
    amountMinor: minor('amount_minor').notNull()
  },
  (t) => [primaryKey({ columns: [t.affiliateId, t.day, t.currency, t.status] })]
)

/** The sum of the ledger entries of an affiliate by currency and kind. A trigger maintains it. */
export const commissionTotals = sqliteTable(
  'commission_totals',
  {
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    currency: notPersonal(text('currency').notNull()),
    kind: text('kind', { enum: entryKinds }).notNull(),
    amountMinor: minor('amount_minor').notNull()
  },
  (t) => [primaryKey({ columns: [t.affiliateId, t.currency, t.kind] })]
)

const addToTotals = `INSERT INTO referral_totals (affiliate_id, day, currency, status, orders, amount_minor)
          VALUES (NEW.affiliate_id, NEW.created_at / 86400000, NEW.currency, NEW.status, 1, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET orders = orders + 1, amount_minor = amount_minor + excluded.amount_minor`
const run = `SELECT RAISE(ABORT, 'the commission ledger is append-only')`

export const triggers: readonly Trigger[] = [
  { name: 'referrals_added_up', event: 'AFTER INSERT', on: referrals, run: addToTotals },
  {
    name: 'referrals_added_up_again',
    event: 'AFTER UPDATE OF status, amount_minor',
    on: referrals,
    run: `UPDATE referral_totals SET orders = orders - 1, amount_minor = amount_minor - OLD.amount_minor
          WHERE affiliate_id = OLD.affiliate_id AND day = OLD.created_at / 86400000 AND currency = OLD.currency
            AND status = OLD.status;
          ${addToTotals}`
  },
  {
    name: 'commission_entries_added_up',
    event: 'AFTER INSERT',
    on: commissionEntries,
    run: `INSERT INTO commission_totals (affiliate_id, currency, kind, amount_minor)
          VALUES (NEW.affiliate_id, NEW.currency, NEW.kind, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET amount_minor = amount_minor + excluded.amount_minor`
  },
  { name: 'commission_entries_unchanged', event: 'BEFORE UPDATE', on: commissionEntries, run },
  { name: 'commission_entries_kept', event: 'BEFORE DELETE', on: commissionEntries, run }
]
