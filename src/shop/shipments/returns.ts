import { and, asc, desc, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { time } from '../../platform/public-fields.ts'
import { findOrder, getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { mailBuyer } from '../orders/order-mails.ts'
import { returnedUnits } from '../orders/refunds/refund-lines.ts'
import type { LineQuantity } from '../orders/refunds/refund-lines.ts'
import { recordMove } from '../orders/transition.ts'
import { emit } from '../webhooks/emit.ts'
import { progressOf } from './find.ts'
import { orderReturns } from './schema.ts'
import type { exchangedItem } from './schema.ts'

export type ReturnRow = typeof orderReturns.$inferSelect

/**
 * `expected`: the shop waits for the goods. `received`: they are there, and what the buyer gets for them is not decided: an
 * exchange waits for its payment, or was not paid.
 */
export const returnStates = ['expected', 'received', 'refunded', 'exchanged', 'dropped'] as const

/** A return in its public form. */
export const orderReturn = z
  .object({
    id: z.int().meta({ description: 'The number of the return.', example: 3 }),
    state: z.enum(returnStates).meta({
      description:
        'expected: the shop waits for the goods. received: it decides, or an exchange waits for its payment.',
      example: 'expected'
    }),
    lines: z.array(
      z.object({
        line: z.int().meta({ description: 'The number of the line in the order, from 1.', example: 1 }),
        name: z.string().meta({ example: 'Storm lantern' }),
        quantity: z.int().meta({ example: 1 })
      })
    ),
    exchange: z.int().nullable().meta({ description: 'The order with what the buyer gets instead.', example: null }),
    expectedAt: time,
    receivedAt: time.nullable().meta({ description: 'Null until the goods are there.' })
  })
  .meta({ id: 'Return', description: 'Goods that come back to the shop.' })
export type ReturnView = z.infer<typeof orderReturn>

type Wanted = {
  lines: readonly LineQuantity[]
  /** What the buyer gets instead; nothing for a refund. */
  exchange: readonly z.output<typeof exchangedItem>[]
  askedBy: ReturnRow['askedBy']
  by: string
  /** Whether the goods came unasked, so that the buyer is told nothing. */
  isHere?: boolean
}

/**
 * Records that goods of an order come back, and tells the buyer how to send them.
 *
 * @throws AppError CONFLICT for an order that waits for another return; VALIDATION_FAILED (`items`) for goods that have not
 *   left, are not shipped at all, or came back before
 */
export function expectReturn(tx: Tx, order: OrderRow, wanted: Wanted, now: number): ReturnRow {
  const { id: orderId } = order
  const open = expectedReturnOf(tx, orderId)
  if (open !== undefined) {
    const message = `Order ${orderId} waits for return ${open.id}. Receive it with --received, or give it up with --drop.`
    throw new AppError('CONFLICT', message)
  }
  const { askedBy, by, exchange, isHere = false } = wanted
  const lines = toItems(tx, order, wanted.lines)
  const row = tx.orm
    .insert(orderReturns)
    .values({ orderId, state: 'expected', askedBy, lines, exchange: [...exchange], createdAt: now })
    .returning()
    .get()
  recordExpected(tx, order, row, by, now)
  if (!isHere) announce(tx, order, row, now)
  return row
}

function recordExpected(tx: Tx, { id: orderId, status }: OrderRow, row: ReturnRow, by: string, now: number): void {
  const reason = `return ${row.id} expected: ${goodsText(tx, row)}`
  recordMove(tx, { orderId, from: status, to: status, by, reason, at: now })
}

/** Tells the buyer and the webhooks what is to come back. */
function announce(tx: Tx, order: OrderRow, row: ReturnRow, now: number): void {
  const { orderId, id: returnId } = row
  emit(tx, 'order.return_expected', { orderId, returnId, lines: linesOfReturn(tx, row) }, now)
  mailBuyer(tx, order, { template: 'return_expected', data: { orderId, returnId } }, now)
}

/** A buyer withdraws from the contract about goods, which come back with what is expected already. They get their money. */
export function widenReturn(
  tx: Tx,
  order: OrderRow,
  open: ReturnRow,
  { lines, by }: Pick<Wanted, 'lines' | 'by'>,
  now: number
): void {
  const more = toItems(tx, order, lines)
  const known = open.lines.filter(({ itemId }) => !more.some((each) => each.itemId === itemId))
  const row = tx.orm
    .update(orderReturns)
    .set({ lines: [...known, ...more], exchange: [], askedBy: 'buyer' })
    .where(eq(orderReturns.id, open.id))
    .returning()
    .get()
  recordExpected(tx, order, row, by, now)
  announce(tx, order, row, now)
}

/** The line items of an order that are to come back. @throws AppError VALIDATION_FAILED (`items`) */
export function toItems(db: Db, order: OrderRow, lines: readonly LineQuantity[]): ReturnRow['lines'] {
  const items = itemsOf(db, order.id)
  const gone = unitsGone(db, order)
  const problems: string[] = []
  const chosen = lines.flatMap(({ line, quantity }, index) => {
    const item = items[line - 1]
    const isRepeated = lines.findIndex((each) => each.line === line) < index
    if (isRepeated) problems.push(`Line ${line} is given twice.`)
    else if (item === undefined) problems.push(`The order has no line ${line}.`)
    else if (quantity > (gone[line - 1] ?? 0))
      problems.push(`Of line ${line} (${item.name}), ${gone[line - 1] ?? 0} are with the buyer.`)
    return item === undefined ? [] : [{ itemId: item.id, quantity }]
  })
  if (problems.length > 0) throw validationFailed({ items: problems })
  return chosen
}

/** How many units of each line of an order the buyer has: they have left, and were not given back. */
export function unitsGone(db: Db, { id, status }: Pick<OrderRow, 'id' | 'status'>): number[] {
  const returned = returnedUnits(db, id)
  const items = itemsOf(db, id)
  return progressOf(db, id).map(({ isShippable, left }, index) => {
    const { id: itemId = 0, quantity = 0 } = items[index] ?? {}
    if (!isShippable) return 0
    // A completed order has left as a whole, whatever was said about its parcels.
    return quantity - (returned.get(itemId) ?? 0) - (status === 'completed' ? 0 : left)
  })
}

/** Stores that the goods of a return are there: what came, and the order with what the buyer gets for it. */
export function receiveReturn(
  tx: Tx,
  row: ReturnRow,
  { lines, additionId, by }: Pick<ReturnRow, 'lines' | 'additionId'> & { by: string },
  now: number
): ReturnRow {
  const { id, orderId } = row
  const received = tx.orm
    .update(orderReturns)
    .set({ state: 'received', lines, additionId, receivedAt: row.receivedAt ?? now })
    .where(eq(orderReturns.id, id))
    .returning()
    .get()
  const { status } = getOrder(tx, orderId)
  const exchange = additionId === null ? '' : ` in exchange for order ${additionId}`
  const reason = `return ${id} received${exchange}: ${goodsText(tx, received)}`
  recordMove(tx, { orderId, from: status, to: status, by, reason, at: now })
  const data = { orderId, returnId: id, lines: linesOfReturn(tx, received), exchangeId: additionId }
  emit(tx, 'order.returned', data, now)
  return received
}

/** Gives a return up whose goods do not come. @throws AppError NOT_FOUND; CONFLICT if the order waits for none */
export function dropReturn(db: Db, orderId: number, by: string, now: number): ReturnRow {
  return write(db, (tx) => drop(tx, orderId, by, now))
}

function drop(tx: Tx, orderId: number, by: string, now: number): ReturnRow {
  const { status } = getOrder(tx, orderId)
  const row = expectedReturnOf(tx, orderId)
  if (row === undefined) throw new AppError('CONFLICT', `Order ${orderId} waits for no return.`)
  recordMove(tx, { orderId, from: status, to: status, by, reason: `return ${row.id} given up`, at: now })
  return tx.orm.update(orderReturns).set({ state: 'dropped' }).where(eq(orderReturns.id, row.id)).returning().get()
}

/** The return that an order waits for. */
export function expectedReturnOf(db: Db, orderId: number): ReturnRow | undefined {
  return returnsOf(db, orderId).find(({ state }) => state === 'expected')
}

/** The returns of an order, oldest first. */
export function returnsOf(db: Db, orderId: number): ReturnRow[] {
  return db.orm.select().from(orderReturns).where(eq(orderReturns.orderId, orderId)).orderBy(asc(orderReturns.id)).all()
}

/** The return with an id. */
export function findReturn(db: Db, id: number): ReturnRow | undefined {
  return db.orm.select().from(orderReturns).where(eq(orderReturns.id, id)).get()
}

/** What became of a return. */
export function stateOfReturn(db: Db, { state, additionId }: ReturnRow): ReturnView['state'] {
  if (state !== 'received') return state
  if (additionId === null) return 'refunded'
  return findOrder(db, additionId)?.paidAt == null ? 'received' : 'exchanged'
}

/** The returns of the shop, the newest first: all of a state, and at most so many. */
export function listAllReturns(
  db: Db,
  { state, limit }: { state?: ReturnView['state'] | undefined; limit: number }
): (ReturnView & { orderId: number })[] {
  const found: (ReturnView & { orderId: number })[] = []
  const stored = state === undefined || state === 'expected' || state === 'dropped' ? state : 'received'
  const next = (last: ReturnRow | undefined, most: number): ReturnRow[] =>
    db.orm
      .select()
      .from(orderReturns)
      .where(and(last && lt(orderReturns.id, last.id), stored && eq(orderReturns.state, stored)))
      .orderBy(desc(orderReturns.id))
      .limit(most)
      .all()
  for (const row of inParts(db, next, (rows) => rows)) {
    if (found.length === limit) break
    const view = { orderId: row.orderId, ...toReturn(db, row) }
    if (state === undefined || view.state === state) found.push(view)
  }
  return found
}

/** The returns of an order in their public form, oldest first. */
export function listReturns(db: Db, orderId: number): ReturnView[] {
  return returnsOf(db, orderId).map((row) => toReturn(db, row))
}

/** A return in its public form. */
export function toReturn(db: Db, row: ReturnRow): ReturnView {
  const { id, additionId, createdAt, receivedAt } = row
  return {
    id,
    state: stateOfReturn(db, row),
    lines: linesOfReturn(db, row),
    exchange: additionId,
    expectedAt: toIso(createdAt),
    receivedAt: toIsoOrNull(receivedAt)
  }
}

/** The goods of a return by the number of their line in the order, from 1. */
export function linesOfReturn(db: Db, { orderId, lines }: ReturnRow): ReturnView['lines'] {
  return itemsOf(db, orderId).flatMap(({ id, name }, index) =>
    lines.flatMap(({ itemId, quantity }) => (itemId === id ? [{ line: index + 1, name, quantity }] : []))
  )
}

function goodsText(db: Db, row: ReturnRow): string {
  return linesOfReturn(db, row)
    .map(({ quantity, name }) => `${quantity} × ${name}`)
    .join(', ')
}
