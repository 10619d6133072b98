import { randomUUID } from 'node:crypto'
import { and, desc, eq, gt, isNull, like, lt, ne } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { isAlive } from '../../platform/files.ts'
import { findOrder, wasReplaced } from '../orders/find.ts'
import { idempotencyKeys } from './schema.ts'

const lifetimeMs = 24 * 60 * 60 * 1000
/** Longer than any checkout can take: a key that is marked as running after this time belongs to a process that died. */
const longestRunMs = 60_000

/** Identifies this process, to distinguish keys in use from keys of a process that died. */
const thisProcess = `${process.pid}:${randomUUID()}`
const noOwner = ''
/** The requests of this process that are still running. When a full disk prevents a release, the key is free anyway. */
const atWork = new Set<string>()

const sessionScope = 'session:'
const guestScope = 'address:'

/** The scope of the keys of a session, or of the guests of a client address. */
export function keyScope(owner: { sessionHash: string } | { addressKey: string }): string {
  return 'sessionHash' in owner ? `${sessionScope}${owner.sessionHash}` : `${guestScope}${owner.addressKey}`
}

/** A key that one request has claimed. `owner` identifies the request, so that a late one cannot overwrite its successor. */
export type Claim = {
  readonly scope: string
  readonly key: string
  /** A hash of the body and of the query parameters that matter. */
  readonly fingerprint: string
  readonly bodyFingerprint: string
  /** The buyer by the checkout cookie, or the user of a session without one. */
  readonly buyer: string
  readonly owner: string
}

/** A response, stored to be repeated byte for byte. */
export type StoredAnswer = { status: number; body: Buffer; setCookies: string[] }

export type Claimed =
  | { kind: 'fresh'; claim: Claim }
  | ({ kind: 'replay' } & StoredAnswer)
  /** An order exists under this key, and its client never got the outcome of the payment: that payment is settled first. */
  | { kind: 'continue'; claim: Claim; orderId: number }

/**
 * Reads the Idempotency-Key header; null without one.
 *
 * @throws AppError VALIDATION_FAILED unless it is one header with 1 to 255 printable ASCII characters
 */
export function parseIdempotencyKey(values: readonly string[]): string | null {
  if (values.length === 0) return null
  const [key = ''] = values
  if (values.length > 1 || !/^[\x20-\x7e]{1,255}$/.test(key) || key.trim() === '') {
    throw validationFailed({ 'Idempotency-Key': ['Must be one header with 1 to 255 printable ASCII characters.'] })
  }
  return key
}

/**
 * Claims a key for one request, or returns the response that is stored under it. A guest's key is also found from another
 * address and after logging in, if the body and the checkout cookie are the same: a phone that changes from Wi-Fi to mobile
 * data must not pay twice, and a client that has seen the request must not get its order.
 *
 * @param asked the key, its scope and the fingerprints of the request
 * @throws AppError IDEMPOTENCY_KEY_REUSE_CONFLICT for another request under the same key (`payload_mismatch`) or one
 *   that is still running (`in_progress`).
 */
export async function claimKey(db: Db, asked: Omit<Claim, 'owner'>, now: number): Promise<Claimed> {
  const claim = { ...asked, owner: `${thisProcess}:${randomUUID()}` }
  // Before the row exists: a request that reads the row must see that its owner is running.
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

/** Marks the request of a claim as ended, even if its row could not be written. */
export function endClaim(claim: Claim): void {
  atWork.delete(claim.owner)
}

function takeKey(tx: Tx, asked: Claim, now: number): Claimed {
  const known = readKey(tx, asked, now)
  if (known.kind === 'replay') return known
  if (known.scope === null) {
    tx.orm.delete(idempotencyKeys).where(byKey(asked)).run()
    const times = { createdAt: now, expiresAt: now + lifetimeMs }
    tx.orm
      .insert(idempotencyKeys)
      .values({ ...asked, state: 'running', ...times })
      .run()
    return { kind: 'fresh', claim: asked }
  }
  const claim = { ...asked, scope: known.scope }
  tx.orm.update(idempotencyKeys).set({ owner: claim.owner, createdAt: now }).where(byKey(claim)).run()
  return known.kind === 'fresh' ? { kind: 'fresh', claim } : { kind: 'continue', claim, orderId: known.orderId }
}

/** What is stored under a key; `scope` is the scope of its row. */
export type Known =
  | { kind: 'fresh'; scope: string | null }
  | ({ kind: 'replay' } & StoredAnswer)
  | { kind: 'continue'; scope: string; orderId: number }

/**
 * Looks up a key and writes nothing: a request must be valid and within its limits before it writes a key.
 *
 * @throws AppError IDEMPOTENCY_KEY_REUSE_CONFLICT as `claimKey`
 */
export function readKey(db: Db, asked: Omit<Claim, 'owner'>, now: number): Known {
  const own = db.orm.select().from(idempotencyKeys).where(byKey(asked)).get()
  const known = own?.fingerprint === asked.fingerprint ? own : (findGuestKey(db, asked, now) ?? own)
  if (known === undefined || known.expiresAt <= now) return { kind: 'fresh', scope: null }
  if (known === own && known.fingerprint !== asked.fingerprint) throw conflict('payload_mismatch')
  // The page of an order that the buyer cancelled cannot be paid any more, and they must be able to buy the cart again.
  if (known.state === 'answered' && isGivenUp(db, known)) return { kind: 'fresh', scope: null }
  if (known.state === 'answered') return { kind: 'replay', ...answerOf(known) }
  if (isRunning(known.owner, known.createdAt, now)) throw conflict('in_progress')
  const { scope, orderId } = known
  return orderId === null ? { kind: 'fresh', scope } : { kind: 'continue', scope, orderId }
}

/** The same key with the same body from the same guest at another address. */
function findGuestKey(
  db: Db,
  { scope, key, bodyFingerprint, buyer }: Omit<Claim, 'owner'>,
  now: number
): KeyRow | undefined {
  return db.orm
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.key, key),
        eq(idempotencyKeys.bodyFingerprint, bodyFingerprint),
        eq(idempotencyKeys.buyer, buyer),
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
 * Links the key to the order, in the transaction that creates the order: after a crash, the same key finds it.
 *
 * @throws AppError IDEMPOTENCY_KEY_REUSE_CONFLICT when the request took so long that another one claimed its key; the
 *   caller must not create the order then
 */
export function linkOrder(tx: Tx, claim: Claim, orderId: number): void {
  const linked = tx.orm.update(idempotencyKeys).set({ orderId }).where(byClaim(claim)).run()
  if (linked.changes === 0) throw conflict('in_progress')
}

/** Stores the response of a checkout under its Idempotency-Key, to be repeated. */
export async function storeAnswer(db: Db, claim: Claim, answer: StoredAnswer): Promise<void> {
  const { status, body, setCookies } = answer
  await writeWhenFree(
    db,
    (tx) =>
      void tx.orm
        .update(idempotencyKeys)
        .set({ state: 'answered', owner: noOwner, status, body, setCookies })
        .where(byClaim(claim))
        .run()
  )
}

/**
 * Releases the key after a response that was not final. The key of a request that created an order keeps the order, so that
 * the next request settles its payment first. With `forgetOrder` (the request was refused), the client can send a corrected
 * request under the same key.
 */
export async function releaseKey(db: Db, claim: Claim, { forgetOrder = false } = {}): Promise<void> {
  await writeWhenFree(db, (tx) => {
    const unneeded = forgetOrder ? undefined : isNull(idempotencyKeys.orderId)
    tx.orm
      .delete(idempotencyKeys)
      .where(and(byClaim(claim), unneeded))
      .run()
    tx.orm.update(idempotencyKeys).set({ owner: noOwner }).where(byClaim(claim)).run()
  })
}

/** Deletes expired keys, at most `limit` of them. Returns how many. */
export function dropExpiredKeys(tx: Tx, now: number, limit: number): number {
  return tx.orm.delete(idempotencyKeys).where(lt(idempotencyKeys.expiresAt, now)).limit(limit).run().changes
}

/** Whether the order was cancelled unpaid, but not for a newer one: a late repeat must not replace what its buyer did since. */
function isGivenUp(db: Db, { orderId }: KeyRow): boolean {
  const order = orderId === null ? undefined : findOrder(db, orderId)
  return order?.status === 'cancelled' && order.paidAt === null && !wasReplaced(db, order)
}

type KeyRow = typeof idempotencyKeys.$inferSelect

function answerOf({ status, body, setCookies }: KeyRow): StoredAnswer {
  if (status === null || body === null) throw new Error('an answered key has no stored response')
  return { status, body, setCookies: setCookies ?? [] }
}

function byKey({ scope, key }: Pick<Claim, 'scope' | 'key'>) {
  return and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key))
}

function byClaim(claim: Claim) {
  return and(byKey(claim), eq(idempotencyKeys.owner, claim.owner))
}

function isRunning(holder: string, since: number, now: number): boolean {
  if (holder === noOwner || Math.abs(now - since) > longestRunMs) return false
  if (holder.startsWith(`${thisProcess}:`)) return atWork.has(holder)
  const pid = Number(holder.split(':')[0])
  return pid !== process.pid && isAlive(pid)
}

/** The error IDEMPOTENCY_KEY_REUSE_CONFLICT; `in_progress` tells the client to try again. */
export function conflict(reason: 'payload_mismatch' | 'in_progress'): AppError {
  const message =
    reason === 'in_progress'
      ? 'A request with this Idempotency-Key is still running.'
      : 'This Idempotency-Key was used for another request.'
  return new AppError('IDEMPOTENCY_KEY_REUSE_CONFLICT', message, { reason })
}
