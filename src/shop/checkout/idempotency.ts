import { randomUUID } from 'node:crypto'
import { and, eq, isNull, lt } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { idempotencyKeys } from './schema.ts'

const keptMs = 24 * 60 * 60 * 1000
/** Longer than any checkout may take; a request that is still marked running after it has died. */
const longestRunMs = 60_000

/** This process, so that a key left running by one that died can be told from one at work. */
const owner = `${process.pid}:${randomUUID()}`
const nobody = ''

export type Claim = { scope: string; key: string; fingerprint: string }

export type Claimed =
  | { kind: 'fresh' }
  /** Answered before: the same bytes go out again. */
  | { kind: 'replay'; status: number; body: Buffer; setCookies: string[] }
  /** An order was made under this key and its payment's outcome never told: that order is settled first. */
  | { kind: 'resume'; orderId: number }

/** @throws AppError VALIDATION_FAILED for a key that is no 1 to 255 printable ASCII characters. */
export function parseIdempotencyKey(values: readonly string[]): string | null {
  if (values.length === 0) return null
  const [key = ''] = values
  if (values.length > 1 || !/^[\x20-\x7e]{1,255}$/.test(key) || key.trim() === '') {
    throw validationFailed({ 'Idempotency-Key': ['Takes 1 to 255 printable ASCII characters, once.'] })
  }
  return key
}

/**
 * Takes a key for one request, or says what was answered under it.
 *
 * @throws AppError IDEMPOTENCY_KEY_REUSE_CONFLICT for another request under the same key (`payload_mismatch`) or one
 *   that is still running (`in_progress`).
 */
export function claimKey(db: Db, claim: Claim, now: number): Claimed {
  return write(db, (tx): Claimed => {
    const known = tx.orm.select().from(idempotencyKeys).where(byKey(claim)).get()
    if (known === undefined || known.expiresAt <= now) {
      forgetKey(tx, claim)
      tx.orm
        .insert(idempotencyKeys)
        .values({ ...claim, state: 'running', owner, createdAt: now, expiresAt: now + keptMs })
        .run()
      return { kind: 'fresh' }
    }
    if (known.fingerprint !== claim.fingerprint) throw conflict('payload_mismatch')
    if (known.state === 'answered') {
      return {
        kind: 'replay',
        status: known.status ?? 200,
        body: known.body ?? Buffer.alloc(0),
        setCookies: known.setCookies === null ? [] : (JSON.parse(known.setCookies) as string[])
      }
    }
    if (isRunning(known.owner, known.createdAt, now)) throw conflict('in_progress')
    tx.orm.update(idempotencyKeys).set({ owner, createdAt: now }).where(byKey(claim)).run()
    return known.orderId === null ? { kind: 'fresh' } : { kind: 'resume', orderId: known.orderId }
  })
}

/** Ties the key to the order in the transaction that makes the order: after a crash the same key finds it. */
export function tieOrder(tx: Tx, claim: Claim, orderId: number): void {
  tx.orm.update(idempotencyKeys).set({ orderId }).where(byKey(claim)).run()
}

export function keepAnswer(db: Db, claim: Claim, answer: { status: number; body: Buffer; setCookies: string[] }): void {
  write(
    db,
    (tx) =>
      void tx.orm
        .update(idempotencyKeys)
        .set({
          state: 'answered',
          owner: nobody,
          status: answer.status,
          body: answer.body,
          setCookies: JSON.stringify(answer.setCookies)
        })
        .where(byKey(claim))
        .run()
  )
}

/** After an answer that settled nothing the key is free; one that made an order remembers it, to settle that first. */
export function releaseKey(db: Db, claim: Claim): void {
  write(db, (tx) => {
    tx.orm
      .delete(idempotencyKeys)
      .where(and(byKey(claim), isNull(idempotencyKeys.orderId)))
      .run()
    tx.orm.update(idempotencyKeys).set({ owner: nobody }).where(byKey(claim)).run()
  })
}

/** Keys whose day is over. */
export function dropExpiredKeys(tx: Tx, now: number): number {
  return tx.orm.delete(idempotencyKeys).where(lt(idempotencyKeys.expiresAt, now)).run().changes
}

function forgetKey(tx: Tx, claim: Claim): void {
  tx.orm.delete(idempotencyKeys).where(byKey(claim)).run()
}

function byKey(claim: Claim) {
  return and(eq(idempotencyKeys.scope, claim.scope), eq(idempotencyKeys.key, claim.key))
}

function isRunning(holder: string, since: number, now: number): boolean {
  if (holder === nobody || now - since > longestRunMs) return false
  if (holder === owner) return true
  const pid = Number(holder.split(':')[0])
  return pid !== process.pid && isAlive(pid)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function conflict(reason: 'payload_mismatch' | 'in_progress'): AppError {
  const message =
    reason === 'in_progress'
      ? 'A request with this Idempotency-Key is still running.'
      : 'This Idempotency-Key was used for another request.'
  return new AppError('IDEMPOTENCY_KEY_REUSE_CONFLICT', message, { reason })
}
