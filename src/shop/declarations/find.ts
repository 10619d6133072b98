import { and, desc, eq, gte, inArray, isNotNull, lt, or } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { eraseRows } from '../../platform/db/personal.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { emailKey } from '../../platform/text.ts'
import { getUserById } from '../accounts/find.ts'
import { findOrder, itemsOf, ofPerson } from '../orders/find.ts'
import type { OrderRow, Person } from '../orders/find.ts'
import { orders } from '../orders/schema.ts'
import { returnedUnits } from '../orders/refunds/refund-lines.ts'
import { setting } from '../settings/settings.ts'
import { declarations } from './schema.ts'

export type DeclarationRow = typeof declarations.$inferSelect
const yearMs = 365 * 24 * 60 * 60_000

/** The declaration with an id. */
export function findDeclaration(db: Db, id: number): DeclarationRow | undefined {
  return db.orm.select().from(declarations).where(eq(declarations.id, id)).get()
}

/** A line item that a declaration is about; `line` is its number in the order, from 1. */
export type DeclaredLine = { line: number; name: string; quantity: number }

/** The line items that a declaration is about; none if it does not match an order. */
export function declaredLines(db: Db, row: DeclarationRow): DeclaredLine[] {
  return linesLess(db, row, new Map())
}

/** What is still to be refunded of the goods that a declaration is about. */
export function leftOfDeclaration(db: Db, row: DeclarationRow): DeclaredLine[] {
  return row.orderId === null ? [] : linesLess(db, row, returnedUnits(db, row.orderId))
}

function linesLess(
  db: Db,
  { orderId, itemIds }: DeclarationRow,
  returned: ReadonlyMap<number, number>
): DeclaredLine[] {
  if (orderId === null) return []
  return itemsOf(db, orderId).flatMap(({ id, name, quantity }, index) => {
    const left = quantity - (returned.get(id) ?? 0)
    const isDeclared = itemIds === null || itemIds.includes(id)
    return isDeclared && left > 0 ? [{ line: index + 1, name, quantity: left }] : []
  })
}

/** Whether the goods of every withdrawal about an order are refunded. */
export function areWithdrawalsDone(db: Db, orderId: number): boolean {
  const rows = db.orm.select().from(declarations).where(eq(declarations.orderId, orderId)).all()
  return rows.every((row) => row.kind !== 'withdrawal' || leftOfDeclaration(db, row).length === 0)
}

/** The order that a buyer names, if it has their email or is in their account. People write more than the number. */
export function matchOrder(db: Db, contract: string, email: string): OrderRow | undefined {
  const [number = ''] = /\d{1,15}/.exec(contract) ?? []
  const order = number === '' ? undefined : findOrder(db, Number(number))
  if (order === undefined) return undefined
  const own = order.userId === null ? [] : [getUserById(db, order.userId).emailKey]
  return [order.emailKey, ...own].includes(emailKey(email)) ? order : undefined
}

/** A declaration as an operator sees it. */
export function toDeclaration(db: Db, row: DeclarationRow) {
  const { id, kind, orderId, contract, name, email, message, isForCause, wantedEnd, endsAt, receivedAt } = row
  return {
    id,
    kind,
    orderId,
    contract,
    name,
    email,
    lines: declaredLines(db, row),
    message,
    isForCause,
    wantedEnd,
    endsAt: toIsoOrNull(endsAt),
    receivedAt: toIso(receivedAt)
  }
}
export type DeclarationView = ReturnType<typeof toDeclaration>

/** The newest declarations of the shop; of an order, if one is given. */
export function listDeclarations(db: Db, { orderId, limit }: { orderId?: number; limit: number }): DeclarationView[] {
  return db.orm
    .select()
    .from(declarations)
    .where(orderId === undefined ? undefined : eq(declarations.orderId, orderId))
    .orderBy(desc(declarations.id))
    .limit(limit)
    .all()
    .map((row) => toDeclaration(db, row))
}

/** The declarations about some orders, and those with an email. */
export function declarationsOf(db: Db, orderIds: readonly number[], key: string | null): DeclarationView[] {
  const own = key === null ? undefined : eq(declarations.emailKey, key)
  return db.orm
    .select()
    .from(declarations)
    .where(or(inArray(declarations.orderId, [...orderIds]), own))
    .orderBy(desc(declarations.id))
    .all()
    .map((row) => toDeclaration(db, row))
}

/** The same declaration of the last day, so that a second click is not a second declaration. */
export function findRepeated(db: Db, row: Omit<DeclarationRow, 'id'>): DeclarationRow | undefined {
  const { kind, contract, name, emailKey: key, message, isForCause, wantedEnd, itemIds, receivedAt } = row
  const dayMs = 24 * 60 * 60_000
  return db.orm
    .select()
    .from(declarations)
    .where(and(eq(declarations.emailKey, key ?? ''), gte(declarations.receivedAt, receivedAt - dayMs)))
    .all()
    .find(
      (known) =>
        known.kind === kind &&
        known.contract === contract &&
        known.name === name &&
        known.message === message &&
        known.isForCause === isForCause &&
        known.wantedEnd === wantedEnd &&
        String(known.itemIds) === String(itemIds)
    )
}

/** Removes the person from their declarations. It finds them by the orders, so it runs before those lose their email. */
export function forgetDeclarer(tx: Tx, person: Person): void {
  forgetDeclarations(tx, or(eq(declarations.emailKey, person.emailKey), ofOrders(tx, ofPerson(person))))
}

/** Removes the buyer from the declarations about the orders that match. */
export function forgetDeclarersOf(tx: Tx, whose: SQL | undefined): void {
  forgetDeclarations(tx, ofOrders(tx, whose))
}

function ofOrders(tx: Tx, whose: SQL | undefined): SQL {
  return inArray(declarations.orderId, tx.orm.select({ id: orders.id }).from(orders).where(whose))
}

function forgetDeclarations(tx: Tx, which: SQL | undefined): void {
  eraseRows(tx, declarations, which)
}

/**
 * Removes the buyer from declarations that are older than `privacy.guestYears`, at most `limit`. Returns how many it changed.
 */
export function forgetOldDeclarers(tx: Tx, now: number, limit: number): number {
  const years = setting(tx, 'privacy.guestYears')
  if (years === 0) return 0
  const ids = tx.orm
    .select({ id: declarations.id })
    .from(declarations)
    .where(and(isNotNull(declarations.email), lt(declarations.receivedAt, now - years * yearMs)))
    .limit(limit)
    .all()
    .map(({ id }) => id)
  if (ids.length > 0) forgetDeclarations(tx, inArray(declarations.id, ids))
  return ids.length
}
