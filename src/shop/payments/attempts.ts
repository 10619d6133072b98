import { eq, isNull, or, sql } from 'drizzle-orm'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import {
  insertStatement,
  rowStatement,
  rowsStatement,
  statement,
  updateStatement
} from '../../platform/db/statements.ts'
import type { ShopContext } from '../context.ts'
import type { OrderRow } from '../orders/rows.ts'
import type { AttemptRow } from './rows.ts'
import { paymentAttempts } from './schema.ts'
import { wasWarned } from './warnings.ts'

const insertAttempt = insertStatement(paymentAttempts)
const byId = rowStatement(paymentAttempts, 'id = ?')
const byToken = rowStatement(paymentAttempts, 'token = ?')
const byObject = statement((orm) =>
  orm
    .select()
    .from(paymentAttempts)
    .where(
      or(
        eq(paymentAttempts.objectId, sql.placeholder('objectId')),
        eq(paymentAttempts.paymentIntentId, sql.placeholder('objectId'))
      )
    )
    .prepare()
)
const update = updateStatement(paymentAttempts)
const open = statement((orm) =>
  orm.select().from(paymentAttempts).where(isNull(paymentAttempts.outcome)).orderBy(paymentAttempts.updatedAt).prepare()
)

/**
 * Writes down that an order is about to be paid, before the gateway hears of it. The keys are random, so that a repeat
 * of the same call charges once and no other order's call can ever meet it.
 */
export function createAttempt(
  tx: Tx,
  order: Pick<OrderRow, 'id' | 'totalMinor' | 'currency' | 'holdEndsAt'>,
  { gateway, kind, livemode }: Pick<AttemptRow, 'gateway' | 'kind' | 'livemode'>,
  now: number
): AttemptRow {
  const id = insertAttempt(tx, {
    gateway,
    kind,
    livemode,
    orderId: order.id,
    amountMinor: order.totalMinor,
    currency: order.currency,
    token: randomToken(),
    createKey: `create-${randomToken()}`,
    confirmKey: `confirm-${randomToken()}`,
    expiresAt: order.holdEndsAt,
    createdAt: now,
    updatedAt: now
  })
  return getAttempt(tx, id)
}

export function getAttempt(db: Db, id: number): AttemptRow {
  const attempt = byId(db, id)
  if (attempt === undefined) throw new Error(`payment attempt ${id} is missing`)
  return attempt
}

export function findAttemptByToken(db: Db, token: string): AttemptRow | undefined {
  return byToken(db, token)
}

/** By the id of its Checkout Session or of the PaymentIntent beneath. */
export function findAttemptByObject(db: Db, objectId: string): AttemptRow | undefined {
  return byObject(db).get({ objectId })
}

/** Newest first. */
export const attemptsOf = rowsStatement(paymentAttempts, 'order_id = ? ORDER BY id DESC')

/** Those without a final outcome, the ones longest untouched first. */
export function openAttempts(db: Db): AttemptRow[] {
  return open(db).all()
}

export function updateAttempt(tx: Tx, id: number, change: Partial<AttemptRow>, now: number): void {
  update(tx, id, { ...change, updatedAt: now })
}

/** A payment that came after the order had been paid in another way: the order does not rest on it. */
export function isSurplus(db: Db, { objectId }: AttemptRow): boolean {
  return objectId !== null && wasWarned(db, 'paid_twice', objectId)
}

/** The card payment that an order rests on; undefined while it is unpaid, and when the money came by hand. */
export function findPayingAttempt(db: Db, orderId: number): AttemptRow | undefined {
  return attemptsOf(db, orderId).find((row) => row.outcome === 'paid' && row.objectId !== null && !isSurplus(db, row))
}

/** Stands in the place of the gateway's word when its answer was lost: nobody is at work on the attempt any more. */
export const unanswered = 'unknown'

/** Somebody goes on with an attempt: the reconciler keeps away for a while. */
export async function takeUpAttempt(shop: ShopContext, id: number): Promise<AttemptRow> {
  const attempt = getAttempt(shop.db, id)
  if (attempt.gatewayStatus !== unanswered) return attempt
  return writeWhenFree(shop.db, (tx) => {
    updateAttempt(tx, id, { gatewayStatus: null }, shop.clock.now())
    return getAttempt(tx, id)
  })
}

/** Where an order's payment stands, in the gateway's own word; null when nothing has been tried. */
export function paymentStatusOf(db: Db, orderId: number): string | null {
  const [newest] = attemptsOf(db, orderId)
  return newest === undefined ? null : (newest.gatewayStatus ?? newest.outcome ?? 'created')
}
