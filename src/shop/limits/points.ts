import { hash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { ShopContext } from '../context.ts'
import type { Bucket } from '../settings/definitions.ts'
import { rateLimit } from '../settings/settings.ts'

/** One counter of a bucket: the points of one address or one email. */
export type Counter = { readonly bucket: Bucket; readonly key: string }

export type Limits = Pick<ShopContext, 'db' | 'limiter'>

/** Accounts and checkout refuse with different codes. */
type LimitCode = 'AUTH_RATE_LIMITED' | 'RATE_LIMITED'

/** The key that counts an email: a hash, so that the limiter's file does not hold emails. */
export function emailCounterKey(emailKey: string): string {
  return hash('sha256', emailKey, 'hex').slice(0, 32)
}

/**
 * Takes points of a counter.
 *
 * @throws AppError with `code`, details.bucket and Retry-After when there are not enough points
 */
export async function takePoints(shop: Limits, code: LimitCode, { bucket, key }: Counter, points = 1): Promise<void> {
  const limit = rateLimit(shop.db, bucket)
  if (limit === null) return
  const { allowed, retryAfterSeconds } = await shop.limiter.consume(bucket, key, limit, points)
  if (!allowed) throw rateLimited(code, bucket, retryAfterSeconds)
}

/**
 * Takes the points of an email that anyone can ask for: of the client address, and of the mailbox.
 *
 * @throws AppError RATE_LIMITED (recovery_ip, recovery_email)
 */
export async function takeRecoveryPoints(shop: Limits, addressKey: string, emailKey: string): Promise<void> {
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'recovery_ip', key: addressKey })
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'recovery_email', key: emailCounterKey(emailKey) })
}

/**
 * Takes a point for a change that a person makes to their own account.
 *
 * @throws AppError with `code`, details.bucket (account_change) and Retry-After
 */
export async function countAccountChange(
  shop: Limits,
  userId: number,
  code: LimitCode = 'RATE_LIMITED'
): Promise<void> {
  await takePoints(shop, code, { bucket: 'account_change', key: String(userId) })
}

/** Takes a point of a counter. Returns false when there is none left; the caller then does nothing and says nothing. */
export async function tryTakePoint(shop: Limits, { bucket, key }: Counter): Promise<boolean> {
  const limit = rateLimit(shop.db, bucket)
  return limit === null || (await shop.limiter.consume(bucket, key, limit)).allowed
}

/**
 * Refuses while a counter of failures has no points left. The caller then learns nothing about the code or card that it
 * sent, so guessing is pointless past the limit.
 *
 * @throws AppError with `code`, details.bucket and Retry-After
 */
export function assertPointsLeft(shop: Limits, code: LimitCode, { bucket, key }: Counter): void {
  const limit = rateLimit(shop.db, bucket)
  if (limit === null) return
  const { points, retryAfterSeconds } = shop.limiter.left(bucket, key, limit)
  if (points === 0) throw rateLimited(code, bucket, retryAfterSeconds)
}

/** Whether a counter has points left. */
export function hasPointsLeft(shop: Limits, { bucket, key }: Counter): boolean {
  const limit = rateLimit(shop.db, bucket)
  return limit === null || shop.limiter.left(bucket, key, limit).points > 0
}

/** Counts a failure that has already been answered: takes a point and never refuses. */
export async function countFailure(shop: Limits, { bucket, key }: Counter): Promise<void> {
  const limit = rateLimit(shop.db, bucket)
  if (limit !== null) await shop.limiter.consume(bucket, key, limit)
}

/** The 429 error of a bucket, with Retry-After. */
export function rateLimited(code: LimitCode, bucket: Bucket, retryAfterSeconds: number): AppError {
  const headers = { 'Retry-After': String(retryAfterSeconds) }
  return new AppError(code, 'Too many attempts. Please try again later.', { bucket }, { headers })
}
