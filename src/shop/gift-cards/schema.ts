import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, minor, oneOf } from '../../platform/db/columns.ts'
import { internal, notPersonal, personal } from '../../platform/db/personal.ts'
import type { Trigger } from '../../platform/db/trigger.ts'

/**
 * Gift cards: multi-purpose vouchers (directive 2006/112/EC, article 73a). What is on them is a liability of the shop, and no
 * turnover until it pays an order.
 */
export const giftCards = sqliteTable(
  'gift_cards',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** The hash of the code. The code is derived from the salt and the shop's secret key (code.ts), and is not stored. */
    codeHash: notPersonal(text('code_hash').notNull()),
    salt: notPersonal(text('salt').notNull()),
    lastFour: notPersonal(text('last_four').notNull()),
    currency: notPersonal(text('currency').notNull()),
    /** What was on it at first. */
    issuedMinor: minor('issued_minor').notNull(),
    /** The sum of its entries, which a trigger maintains. */
    balanceMinor: minor('balance_minor').notNull().default(0),
    /** What unpaid orders hold of the balance. A trigger of their credits maintains it (orders/refunds/schema.ts). */
    heldMinor: minor('held_minor').notNull().default(0),
    /** The order and line that sold it; nulls for one that an operator issued. Without a foreign key: orders are a layer above. */
    orderId: integer('order_id'),
    orderItemId: integer('order_item_id'),
    /** Why an operator issued it. */
    reason: notPersonal(text('reason')),
    recipientEmail: personal(text('recipient_email'), null),
    recipientKey: internal(text('recipient_key'), null),
    message: personal(text('message'), null),
    /** From when on the recipient gets it by email, and when the email was queued. */
    sendAt: instant('send_at'),
    mailedAt: instant('mailed_at'),
    language: notPersonal(text('language')),
    /** The first instant at which it can no longer be used; null if it does not expire. */
    expiresAt: instant('expires_at'),
    blockedAt: instant('blocked_at'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [
    uniqueIndex('gift_cards_code').on(t.codeHash),
    index('gift_cards_by_order')
      .on(t.orderId, t.id)
      .where(sql`order_id IS NOT NULL`),
    index('gift_cards_by_recipient')
      .on(t.recipientKey)
      .where(sql`recipient_key IS NOT NULL`),
    index('gift_cards_to_mail')
      .on(t.sendAt)
      .where(sql`mailed_at IS NULL AND send_at IS NOT NULL`),
    index('gift_cards_expiring')
      .on(t.expiresAt)
      .where(sql`balance_minor > 0 AND expires_at IS NOT NULL`),
    check('gift_cards_issued', sql`${t.issuedMinor} > 0`),
    check('gift_cards_balance', sql`${t.balanceMinor} >= 0`),
    check('gift_cards_held', sql`${t.heldMinor} BETWEEN 0 AND ${t.balanceMinor}`)
  ]
)

/**
 * `issued`: by an operator. `sold`: by an order. `used`: it paid an order. `returned`: a refund of such an order.
 * `cancelled`: its sale was refunded, or an operator took the rest back. `expired`: the rest of a card that is over.
 */
export const giftCardEntryKinds = ['issued', 'sold', 'used', 'returned', 'cancelled', 'expired'] as const

/** Everything that changed the balance of a gift card. */
export const giftCardEntries = sqliteTable(
  'gift_card_entries',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    giftCardId: integer('gift_card_id')
      .notNull()
      .references(() => giftCards.id),
    kind: text('kind', { enum: giftCardEntryKinds }).notNull(),
    /** Above zero for what comes onto the card, below for what leaves it. */
    amountMinor: minor('amount_minor').notNull(),
    /** The order that sold it, that it paid, or that was refunded. */
    orderId: integer('order_id'),
    by: notPersonal(text('by').notNull()),
    at: instant('at').notNull()
  },
  (t) => [
    index('gift_card_entries_by_card').on(t.giftCardId, t.id),
    index('gift_card_entries_by_time').on(t.at, t.kind, t.giftCardId, t.amountMinor),
    check('gift_card_entries_kind', oneOf(t.kind)),
    check(
      'gift_card_entries_amount',
      sql`CASE WHEN ${t.kind} IN ('issued', 'sold', 'returned') THEN ${t.amountMinor} > 0 ELSE ${t.amountMinor} < 0 END`
    )
  ]
)

const appendOnly = `SELECT RAISE(ABORT, 'the entries of gift cards are append-only')`

export const triggers: readonly Trigger[] = [
  {
    name: 'gift_card_entries_added_up',
    event: 'AFTER INSERT',
    on: giftCardEntries,
    run: 'UPDATE gift_cards SET balance_minor = balance_minor + NEW.amount_minor WHERE id = NEW.gift_card_id'
  },
  { name: 'gift_card_entries_unchanged', event: 'BEFORE UPDATE', on: giftCardEntries, run: appendOnly },
  { name: 'gift_card_entries_kept', event: 'BEFORE DELETE', on: giftCardEntries, run: appendOnly }
]
