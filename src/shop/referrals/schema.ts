import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { instant, json, minor, oneOf } from '../../platform/db/columns.ts'
import { kept, notPersonal } from '../../platform/db/personal.ts'
import type { Trigger } from '../../platform/db/trigger.ts'
import { affiliates, commissionRates, visits } from '../affiliates/schema.ts'
import { rateSources, referralStatuses, reviewReasons } from './states.ts'

/** Who paid, as the statement of a payout names the shop. */
const payoutSeller = z.object({ name: z.string(), legal: z.string() })
/** Who was paid, as the statement names them: the code, and name and address as on an envelope. */
const payoutPayee = z.object({ code: z.string(), lines: z.array(z.string()) })

/** A payment to one affiliate for several referrals. Append-only: what comes after it is a row of `payout_failures`. */
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
    /** Who paid: the operator's name on the server. */
    paidBy: notPersonal(text('paid_by').notNull()),
    seller: notPersonal(json('seller', payoutSeller).notNull()),
    /** Null once the time has passed for which the law keeps it, of an erased affiliate. */
    payee: kept(json('payee', payoutPayee), 'Accounting law; the clean-up removes it when its time is over.'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [index('payouts_by_affiliate').on(t.affiliateId, t.id), check('payouts_amount', sql`${t.amountMinor} > 0`)]
)

/** Payouts whose money came back. Their commissions are due again. Append-only. */
export const payoutFailures = sqliteTable('payout_failures', {
  payoutId: integer('payout_id')
    .primaryKey()
    .references(() => payouts.id),
  reason: notPersonal(text('reason').notNull()),
  /** Who recorded it: the operator's name on the server. */
  recordedBy: notPersonal(text('recorded_by').notNull()),
  createdAt: instant('created_at').notNull()
})

const lostRecord = z.object({
  affiliateId: z.int(),
  /** With the id, it finds the affiliate again: ids repeat after a restore, and codes change. */
  affiliateCreatedAt: z.int(),
  affiliateCode: z.string(),
  amountMinor: z.int(),
  currency: z.string(),
  reference: z.string().nullable(),
  paidBy: z.string(),
  seller: payoutSeller,
  payee: payoutPayee.nullable(),
  lines: z.array(
    z.object({
      affiliateId: z.int(),
      affiliateCreatedAt: z.int(),
      amountMinor: z.int(),
      /** Null for bonuses. The order and the time tell whether the restored database has the same referral. */
      referral: z.object({ id: z.int(), orderId: z.int(), createdAt: z.int() }).nullable()
    })
  ),
  failure: z.object({ reason: z.string(), recordedBy: z.string(), createdAt: z.int() }).nullable()
})

/**
 * Payouts that the database had before a restore, and that the restored one does not know, or of which it does not know
 * that they failed. No payout is made until an operator has taken them over: their commissions look due, and would be
 * paid twice, or look paid. A row is deleted then.
 */
export const lostPayouts = sqliteTable(
  'lost_payouts',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** The id that the payout had. */
    payoutId: integer('payout_id').notNull(),
    createdAt: instant('created_at').notNull(),
    record: kept(json('record', lostRecord).notNull(), 'Accounting: who was paid.')
  },
  (t) => [uniqueIndex('lost_payouts_payout').on(t.payoutId, t.createdAt)]
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
    /** The rate of its lines; null if they have several. */
    rateBps: integer('rate_bps'),
    /** The shop's rate when the order was placed, for goods without another one. */
    shopRateBps: integer('shop_rate_bps').notNull(),
    /** The caps when the order was placed; null without one. */
    orderCapMinor: integer('order_cap_minor'),
    monthCapMinor: integer('month_cap_minor'),
    /** Whether it counts only for a buyer's first paid order, by the setting when the order was placed. */
    newCustomersOnly: integer('new_customers_only', { mode: 'boolean' }).notNull().default(false),
    /** The commission of its lines after refunds and caps. For an accepted referral, the sum of its ledger entries `earned` and `taken_back`. */
    amountMinor: minor('amount_minor').notNull(),
    currency: notPersonal(text('currency').notNull()),
    rejectedFor: notPersonal(text('rejected_for')),
    /** Why an operator decides about it; null without a reason. */
    review: notPersonal(json('review', z.array(z.enum(reviewReasons)))),
    acceptedAt: instant('accepted_at'),
    /** The day on which the order was placed, in the shop's time zone of that day, as YYYY-MM-DD. */
    day: notPersonal(text('day').notNull()),
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

/** The commission of each line of a referred order, and the rate that gave it. */
export const referralLines = sqliteTable(
  'referral_lines',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    referralId: integer('referral_id')
      .notNull()
      .references(() => referrals.id),
    /** Of the order's line; without a foreign key, because referrals must not import orders. */
    orderItemId: integer('order_item_id').notNull(),
    /** The line after discounts, without tax. */
    baseMinor: minor('base_minor').notNull(),
    rateBps: integer('rate_bps').notNull(),
    source: text('source', { enum: rateSources }).notNull(),
    rateId: integer('rate_id').references(() => commissionRates.id),
    commissionMinor: minor('commission_minor').notNull(),
    /** What refunds of the line have taken back of the commission. */
    takenBackMinor: minor('taken_back_minor').notNull().default(0)
  },
  (t) => [
    uniqueIndex('referral_lines_by_referral').on(t.referralId, t.orderItemId),
    check('referral_lines_source', oneOf(t.source)),
    check('referral_lines_rate', sql`${t.rateBps} BETWEEN 0 AND 10000`),
    check('referral_lines_taken_back', sql`${t.takenBackMinor} BETWEEN 0 AND ${t.commissionMinor}`)
  ]
)

/** `bonus`: what an operator added by hand, without a referral; negative to correct one. */
const entryKinds = ['earned', 'taken_back', 'bonus', 'paid_out'] as const

/**
 * The ledger. Append-only: triggers refuse UPDATE and DELETE. Positive entries increase what the shop owes. `paid_out` is
 * negative for a payout, and positive for one that failed, which has the same `payout_id`.
 */
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
    index('commission_entries_by_payout').on(t.payoutId, t.id),
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
    /** The day of the referrals. */
    day: notPersonal(text('day').notNull()),
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
          VALUES (NEW.affiliate_id, NEW.day, NEW.currency, NEW.status, 1, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET orders = orders + 1, amount_minor = amount_minor + excluded.amount_minor`

/** Refuses every change of the rows of a table, except that it removes what the column `removable` has. */
function appendOnly(on: SQLiteTable, what: string, removable?: string): Trigger[] {
  const name = getTableName(on)
  const run = `SELECT RAISE(ABORT, '${what} are append-only')`
  const columns = Object.values(getTableColumns(on)).flatMap((column) => (column.name === removable ? [] : column.name))
  const row = (version: 'OLD' | 'NEW'): string => `(${columns.map((column) => `${version}.${column}`).join(', ')})`
  const when =
    removable === undefined ? {} : { when: `NEW.${removable} IS NOT NULL OR ${row('NEW')} IS NOT ${row('OLD')}` }
  return [
    { name: `${name}_unchanged`, event: 'BEFORE UPDATE', on, run, ...when },
    { name: `${name}_kept`, event: 'BEFORE DELETE', on, run }
  ]
}

export const triggers: readonly Trigger[] = [
  { name: 'referrals_added_up', event: 'AFTER INSERT', on: referrals, run: addToTotals },
  {
    name: 'referrals_added_up_again',
    event: 'AFTER UPDATE OF status, amount_minor, affiliate_id',
    on: referrals,
    run: `UPDATE referral_totals SET orders = orders - 1, amount_minor = amount_minor - OLD.amount_minor
          WHERE affiliate_id = OLD.affiliate_id AND day = OLD.day AND currency = OLD.currency
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
  ...appendOnly(commissionEntries, 'the entries of the commission ledger'),
  ...appendOnly(payouts, 'payouts', 'payee'),
  ...appendOnly(payoutFailures, 'failures of payouts')
]
