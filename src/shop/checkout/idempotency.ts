import { randomUUID } from 'node:crypto'
import { and, desc, eq, gt, isNull, like, lt, ne } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { idempotencyKeys } from './schema.ts'

const keptMs = 24 * 60 * 60 * 1000
/** Longer than any checkout may take; a request that is still marked running after it has died. */
const longestRunMs = 60_000

/** This process, so that a key left running by one that died can be told from one at work. */
const thisProcess = `${process.pid}:${randomUUID()}`
const nobody = ''
/** The owners in this process that have not ended; what one that has ended left running, for want of a disk, is free. */
const atWork = new Set<string>()

const sessionScope = 'session:'
const guestScope = 'address:'

/** The scope of the keys of a session, or of the guests of a client address. */
export function keyScope(owner: { sessionHash: string } | { addressKey: string }): string {
  return 'sessionHash' in owner ? `${sessionScope}${owner.sessionHash}` : `${guestScope}${owner.addressKey}`
}

/** A key as one request holds it: `owner` is that request, so that none that was given up writes over its successor. */
export type Claim = {
  readonly scope: string
  readonly key: string
  /** Of the body and of the query parameters that count. */
  readonly fingerprint: string
  readonly bodyFingerprint: string
  readonly owner: string
}

/** What was answered, to be answered again byte for byte. */
export type KeptAnswer = { status: number; body: Buffer; setCookies: string[] }

export type Claimed =
  | { kind: 'fresh'; claim: Claim }
  | ({ kind: 'replay' } & KeptAnswer)
  /** An order was made under this key and its payment's outcome never told: that order is settled first. */
  | { kind: 'resume'; claim: Claim; orderId: number }

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
 * Takes a key for one request, or returns the answer that was given under it. A guest's key is also found from another
 * address and after logging in, if the body is the same: a phone that changes from Wi-Fi to mobile data must not pay
 * twice.
 *
 * @param asked whose key it is and what was sent with it; the fingerprint tells two requests apart
 * @throws AppError IDEMPOTENCY_KEY_REUSE_CONFLICT for another request under the same key (`payload_mismatch`) or one
 *   that is still running (`in_progress`).
 */
export async function claimKey(db: Db, asked: Omit<Claim, 'owner'>, now: number): Promise<Claimed> {
  const claim = { ...asked, owner: `${thisProcess}:${randomUUID()}` }
  // Before its row is there: whoever sees that must know that somebody is at work on it.
  atWork.add(claim.owner)
  try {
    const claimed = await writeWhenFree(db, (tx) => takeKey(tx, claim, now))
    if (claimed.kind === 'replay') endClaim(claim)
    return claimed
  } catch (error) {
    endClaim(claim)
    throw error
  }
}

/** The request that held the key has ended, whether or not that could be written down. */
export function endClaim(claim: Claim): void {
  atWork.delete(claim.owner)
}

function takeKey(tx: Tx, asked: Claim, now: number): Claimed {
  const known = readKey(tx, asked, now)
  if (known.kind === 'replay') return known
  if (known.scope === null) {
    tx.orm.delete(idempotencyKeys).where(byKey(asked)).run()
    const times = { createdAt: now, expiresAt: now + keptMs }
    tx.orm
      .insert(idempotencyKeys)
      .values({ ...asked, state: 'running', ...times })
      .run()
    return { kind: 'fresh', claim: asked }
  }
  const claim = { ...asked, scope: known.scope }
  tx.orm.update(idempotencyKeys).set({ owner: claim.owner, createdAt: now }).where(byKey(claim)).run()
  return known.kind === 'fresh' ? { kind: 'fresh', claim } : { kind: 'resume', claim, orderId: known.orderId }
}

/** What is stored under a key; `scope` is that of its row. */
export type Known =
  | { kind: 'fresh'; scope: string | null }
  | ({ kind: 'replay' } & KeptAnswer)
  | { kind: 'resume'; scope: string; orderId: number }

/**
 * Looks a key up and writes nothing: a request must be valid and within its limits before it writes a key.
 *
 * @throws AppError IDEMPOTENCY_KEY_REUSE_CONFLICT as `claimKey`
 */
export function readKey(db: Db, asked: Omit<Claim, 'owner'>, now: number): Known {
  const own = db.orm.select().from(idempotencyKeys).where(byKey(asked)).get()
  const known = own?.fingerprint === asked.fingerprint ? own : (findGuestKey(db, asked, now) ?? own)
  if (known === undefined || known.expiresAt <= now) return { kind: 'fresh', scope: null }
  if (known === own && known.fingerprint !== asked.fingerprint) throw conflict('payload_mismatch')
  if (known.state === 'answered') return { kind: 'replay', ...answerOf(known) }
  if (isRunning(known.owner, known.createdAt, now)) throw conflict('in_progress')
  const { scope, orderId } = known
  return orderId === null ? { kind: 'fresh', scope } : { kind: 'resume', scope, orderId }
}

/** The same key with the same body from a guest at another address. */
function findGuestKey(db: Db, { scope, key, bodyFingerprint }: Omit<Claim, 'owner'>, now: number): KeyRow | undefined {
  return db.orm
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.key, key),
        eq(idempotencyKeys.bodyFingerprint, bodyFingerprint),
        like(idempotencyKeys.scope, `${guestScope}%`),
        ne(idempotencyKeys.scope, scope),
        gt(idempotencyKeys.expiresAt, now)
      )
    )
    .orderBy(desc(idempotencyKeys.createdAt))
    .limit(1)
    .get()
}

/**
 * Ties the key to the order in the transaction that makes the order: after a crash the same key finds it.
 *
 * @throws AppError IDEMPOTENCY_KEY_REUSE_CONFLICT when the request took so long that another one took over; the order
 *   must not be made then
 */
export function tieOrder(tx: Tx, claim: Claim, orderId: number): void {
  const tied = tx.orm.update(idempotencyKeys).set({ orderId }).where(byClaim(claim)).run()
  if (tied.changes === 0) throw conflict('in_progress')
}

/** Stores the answer of a checkout under its Idempotency-Key, to be replayed. */
export async function keepAnswer(db: Db, claim: Claim, answer: KeptAnswer): Promise<void> {
  const { status, body } = answer
  const setCookies = JSON.stringify(answer.setCookies)
  await writeWhenFree(
    db,
    (tx) =>
      void tx.orm
        .update(idempotencyKeys)
        .set({ state: 'answered', owner: nobody, status, body, setCookies })
        .where(byClaim(claim))
        .run()
  )
}

/**
 * Frees the key after an answer that settled nothing. A key whose request made an order remembers it, to settle that
 * first, unless the request was refused (`forgetOrder`): then the client may correct it under the same key.
 */
export async function releaseKey(db: Db, claim: Claim, { forgetOrder = false } = {}): Promise<void> {
  await writeWhenFree(db, (tx) => {
    const unneeded = forgetOrder ? undefined : isNull(idempotencyKeys.orderId)
    tx.orm
      .delete(idempotencyKeys)
      .where(and(byClaim(claim), unneeded))
      .run()
    tx.orm.update(idempotencyKeys).set({ owner: nobody }).where(byClaim(claim)).run()
  })
}

/** Keys whose day is over. */
export function dropExpiredKeys(tx: Tx, now: number): number {
  return tx.orm.delete(idempotencyKeys).where(lt(idempotencyKeys.expiresAt, now)).run().changes
}

type KeyRow = typeof idempotencyKeys.$inferSelect

function answerOf({ status, body, setCookies }: KeyRow): KeptAnswer {
  if (status === null || body === null) throw new Error('an answered key came without its answer')
  return { status, body, setCookies: setCookies === null ? [] : (JSON.parse(setCookies) as string[]) }
}

function byKey({ scope, key }: Pick<Claim, 'scope' | 'key'>) {
  return and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key))
}

function byClaim(claim: Claim) {
  return and(byKey(claim), eq(idempotencyKeys.owner, claim.owner))
}

function isRunning(holder: string, since: number, now: number): boolean {
  if (holder === nobody || Math.abs(now - since) > longestRunMs) return false
  if (holder.startsWith(`${thisProcess}:`)) return atWork.has(holder)
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

/** IDEMPOTENCY_KEY_REUSE_CONFLICT; `in_progress` tells the client to try again. */
export function conflict(reason: 'payload_mismatch' | 'in_progress'): AppError {
  const message =
    reason === 'in_progress'
      ? 'A request with this Idempotency-Key is still running.'
      : 'This Idempotency-Key was used for another request.'
  return new AppError('IDEMPOTENCY_KEY_REUSE_CONFLICT', message, { reason })
}
