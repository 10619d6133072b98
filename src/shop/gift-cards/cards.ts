import { and, asc, desc, eq, inArray, lt, lte, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { eraseRows } from '../../platform/db/personal.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { toMajor } from '../../platform/money.ts'
import { emailKey } from '../../platform/text.ts'
import { emailField } from '../accounts/fields.ts'
import { queueMail } from '../mail/queue.ts'
import { emit } from '../webhooks/emit.ts'
import { hashOfTyped, newCode, readCode, withHyphens } from './code.ts'
import { giftCardEntries, giftCards } from './schema.ts'

export type GiftCardRow = typeof giftCards.$inferSelect
export type GiftCardEntryRow = typeof giftCardEntries.$inferSelect

/** Who gets a gift card by email, and when; `sendAt` is null for at once. */
export type Recipient = { email: string; message: string | null; sendAt: number | null }

export type NewGiftCard = Pick<GiftCardRow, 'currency' | 'expiresAt' | 'language'> & {
  amountMinor: number
  recipient: Recipient | null
  /** The line that sold it, or why an operator issues it. */
  origin: { orderId: number; orderItemId: number } | { reason: string }
}

/** Issues a gift card and queues its email. Returns it with its code, which is not stored. */
export function issueCard(tx: Tx, card: NewGiftCard, by: string, now: number): { card: GiftCardRow; code: string } {
  const { amountMinor, recipient, origin, currency, expiresAt, language } = card
  const { code, ...stored } = newCode(tx)
  const sold = 'orderId' in origin ? origin : null
  const sendAt = recipient === null ? null : (recipient.sendAt ?? now)
  const { id } = tx.orm
    .insert(giftCards)
    .values({
      ...stored,
      currency,
      issuedMinor: amountMinor,
      orderId: sold?.orderId ?? null,
      orderItemId: sold?.orderItemId ?? null,
      reason: 'reason' in origin ? origin.reason : null,
      recipientEmail: recipient?.email ?? null,
      recipientKey: recipient === null ? null : emailKey(recipient.email),
      message: recipient?.message ?? null,
      sendAt,
      language,
      expiresAt,
      createdAt: now
    })
    .returning()
    .get()
  addEntry(
    tx,
    { giftCardId: id, kind: sold === null ? 'issued' : 'sold', amountMinor, orderId: sold?.orderId ?? null, by },
    now
  )
  emit(tx, 'gift_card.issued', { giftCardId: id, amountMinor, currency, orderId: sold?.orderId ?? null }, now)
  if (sendAt !== null && sendAt <= now) mailCard(tx, getCard(tx, id), now)
  return { card: getCard(tx, id), code: withHyphens(code) }
}

/** Queues the email with the code to the recipient. */
function mailCard(tx: Tx, { id, recipientEmail }: GiftCardRow, now: number): void {
  tx.orm.update(giftCards).set({ mailedAt: now }).where(eq(giftCards.id, id)).run()
  if (recipientEmail === null) return
  queueMail(tx, { template: 'gift_card', recipient: recipientEmail, data: { giftCardId: id } }, now)
}

/** Queues the emails of the gift cards whose day has come, at most `limit`; returns how many. */
export function mailDueCards(tx: Tx, now: number, limit: number): number {
  const isDue = and(sql`mailed_at IS NULL AND send_at IS NOT NULL`, lte(giftCards.sendAt, now))
  const due = tx.orm.select().from(giftCards).where(isDue).orderBy(asc(giftCards.sendAt)).limit(limit).all()
  for (const card of due) mailCard(tx, card, now)
  return due.length
}

const newRecipient = z.object({ to: emailField })

/**
 * Sends the email of a gift card to its recipient again, or to another one, at once.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED (`to`); CONFLICT for a card without a recipient, and one that cannot be used
 */
export function resendCard(db: Db, id: number, to: string | null, now: number): GiftCardRow {
  return write(db, (tx) => {
    const card = getCard(tx, id)
    const state = stateOf(card, now)
    if (state !== 'active') throw new AppError('CONFLICT', `Gift card ${id} is ${stateWords[state]}.`)
    const email = to === null ? card.recipientEmail : parseWith(newRecipient, { to }).to
    if (email === null) throw new AppError('CONFLICT', `Gift card ${id} has no recipient. Pass --to EMAIL.`)
    // With another secret key the old code is lost, so the card gets a new one.
    const code = readCode(tx, card) === null ? newStored(tx) : {}
    const changed = tx.orm
      .update(giftCards)
      .set({ ...code, recipientEmail: email, recipientKey: emailKey(email), sendAt: now })
      .where(eq(giftCards.id, id))
      .returning()
      .get()
    mailCard(tx, changed, now)
    return getCard(tx, id)
  })
}

function newStored(tx: Tx) {
  const { code: _code, ...stored } = newCode(tx)
  return stored
}

/** Blocks a gift card: it pays no further order. What is on it stays a liability. */
export function blockCard(db: Db, id: number, isBlocked: boolean, now: number): GiftCardRow {
  return write(db, (tx) => {
    const card = getCard(tx, id)
    if ((card.blockedAt !== null) === isBlocked) return card
    emit(tx, isBlocked ? 'gift_card.blocked' : 'gift_card.unblocked', { giftCardId: id }, now)
    return tx.orm
      .update(giftCards)
      .set({ blockedAt: isBlocked ? now : null })
      .where(eq(giftCards.id, id))
      .returning()
      .get()
  })
}

/**
 * Takes what is left on a gift card that an operator issued off it. What unpaid orders hold stays until they are paid or over.
 *
 * @throws AppError NOT_FOUND; CONFLICT for a card that was sold, because its buyer paid for it, and one with nothing left
 */
export function cancelCard(db: Db, id: number, by: string, now: number): GiftCardRow {
  return write(db, (tx) => {
    const card = getCard(tx, id)
    if (card.orderId !== null)
      throw new AppError('CONFLICT', `Gift card ${id} was sold by order ${card.orderId}. Refund that order instead.`)
    if (freeMinor(card) === 0)
      throw new AppError('CONFLICT', `Nothing is left on gift card ${id} that an unpaid order does not hold.`)
    addEntry(tx, { giftCardId: id, kind: 'cancelled', amountMinor: -freeMinor(card), orderId: null, by }, now)
    return getCard(tx, id)
  })
}

/** Writes an entry of the ledger. The balance follows; the database refuses one below zero. */
export function addEntry(
  tx: Tx,
  entry: Pick<GiftCardEntryRow, 'giftCardId' | 'kind' | 'amountMinor' | 'orderId' | 'by'>,
  now: number
): void {
  tx.orm
    .insert(giftCardEntries)
    .values({ ...entry, at: now })
    .run()
}

/** A refund onto an expired card makes it usable again for as long. */
const shortestMs = 365 * 24 * 60 * 60_000

/**
 * Puts what a refunded order was paid with back onto its gift card. An expired card, or one that is about to expire, can be
 * used for another year: otherwise the buyer would get nothing.
 */
export function returnToCard(
  tx: Tx,
  id: number,
  { amountMinor, orderId, by }: Pick<GiftCardEntryRow, 'amountMinor' | 'by'> & { orderId: number },
  now: number
): void {
  if (amountMinor === 0) return
  addEntry(tx, { giftCardId: id, kind: 'returned', amountMinor, orderId, by }, now)
  const { expiresAt } = getCard(tx, id)
  if (expiresAt === null || expiresAt >= now + shortestMs) return
  tx.orm
    .update(giftCards)
    .set({ expiresAt: now + shortestMs })
    .where(eq(giftCards.id, id))
    .run()
}

/** @throws AppError NOT_FOUND */
export function getCard(db: Db, id: number): GiftCardRow {
  const card = db.orm.select().from(giftCards).where(eq(giftCards.id, id)).get()
  if (card === undefined) throw new AppError('NOT_FOUND', `There is no gift card ${id}.`)
  return card
}

/** The gift card with a code as people write it. */
export function findCard(db: Db, typed: string): GiftCardRow | undefined {
  const codeHash = hashOfTyped(typed)
  return codeHash === null ? undefined : db.orm.select().from(giftCards).where(eq(giftCards.codeHash, codeHash)).get()
}

/** The gift cards that an order sold. */
export function cardsSoldBy(db: Db, orderId: number): GiftCardRow[] {
  return db.orm.select().from(giftCards).where(eq(giftCards.orderId, orderId)).orderBy(asc(giftCards.id)).all()
}

/** The entries of a gift card, oldest first. */
export function entriesOf(db: Db, id: number): GiftCardEntryRow[] {
  const ofCard = eq(giftCardEntries.giftCardId, id)
  return db.orm.select().from(giftCardEntries).where(ofCard).orderBy(asc(giftCardEntries.id)).all()
}

type CardQuery = {
  limit: number
  /** The id of the last card that was read. */
  before?: number | undefined
  /** The id or the code of a card, or the email of its recipient. */
  search?: string | undefined
}

/** The newest gift cards. */
export function listCards(db: Db, { limit, before, search }: CardQuery): GiftCardRow[] {
  const older = before === undefined ? undefined : lt(giftCards.id, before)
  const isNamed = search === undefined ? undefined : named(search)
  return db.orm.select().from(giftCards).where(and(older, isNamed)).orderBy(desc(giftCards.id)).limit(limit).all()
}

function named(search: string): SQL {
  if (/^[1-9]\d{0,14}$/.test(search)) return eq(giftCards.id, Number(search))
  if (search.includes('@')) return eq(giftCards.recipientKey, emailKey(search))
  return eq(giftCards.codeHash, hashOfTyped(search) ?? '')
}

const stateWords = { active: 'active', blocked: 'blocked', expired: 'expired', empty: 'used up' } as const
export type CardState = keyof typeof stateWords

/** Whether a gift card can pay. */
export function stateOf({ blockedAt, expiresAt, balanceMinor }: GiftCardRow, now: number): CardState {
  if (blockedAt !== null) return 'blocked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return balanceMinor === 0 ? 'empty' : 'active'
}

/** A gift card as an operator sees it. */
export function toCard(row: GiftCardRow, now: number) {
  const { id, lastFour, currency, orderId, reason, recipientEmail, message, sendAt, expiresAt, createdAt } = row
  return {
    id,
    lastFour,
    state: stateOf(row, now),
    currency,
    issued: toMajor(row.issuedMinor, currency),
    balance: toMajor(row.balanceMinor, currency),
    orderId,
    reason,
    recipientEmail,
    message,
    sendAt: toIsoOrNull(sendAt),
    expiresAt: toIsoOrNull(expiresAt),
    createdAt: toIso(createdAt)
  }
}

/** The gift cards that a person bought or was sent, for their export. Codes are not stored. */
export function cardsOfPerson(db: Db, orderIds: readonly number[], key: string | null, now: number) {
  const isOwn = or(
    inArray(giftCards.orderId, [...orderIds]),
    key === null ? undefined : eq(giftCards.recipientKey, key)
  )
  return db.orm
    .select()
    .from(giftCards)
    .where(isOwn)
    .orderBy(desc(giftCards.id))
    .all()
    .map((row) => {
      const { reason: _reason, ...shown } = toCard(row, now)
      return shown
    })
}

/** Erases the recipient with an email, and their messages. The cards stay usable. */
export function forgetRecipient(tx: Tx, key: string): void {
  eraseRows(tx, giftCards, eq(giftCards.recipientKey, key))
}

const isFree = sql`balance_minor > held_minor`

/** What is on a card and not held by an unpaid order, in minor units. */
export function freeMinor({ balanceMinor, heldMinor }: Pick<GiftCardRow, 'balanceMinor' | 'heldMinor'>): number {
  return balanceMinor - heldMinor
}

/** Takes what is left on expired cards off the books, at most `limit` cards; returns how many. */
export function expireCards(tx: Tx, now: number, limit: number): number {
  const due = tx.orm
    .select()
    .from(giftCards)
    // Written as in the partial index. What an unpaid order holds stays until the order is paid or over.
    .where(and(sql`balance_minor > 0 AND expires_at IS NOT NULL`, lte(giftCards.expiresAt, now), isFree))
    .orderBy(asc(giftCards.expiresAt))
    .limit(limit)
    .all()
  for (const card of due)
    addEntry(
      tx,
      { giftCardId: card.id, kind: 'expired', amountMinor: -freeMinor(card), orderId: null, by: 'shop' },
      now
    )
  return due.length
}
