import { AppError } from '../../errors.ts'
import { inTurn } from './counted-attempts.ts'
import type { ShopContext } from '../context.ts'
import { rateLimit } from '../settings/settings.ts'
import type { Bucket } from '../settings/definitions.ts'

type Strategy = 'redirect_to_store' | 'token_handoff'

export type Rates = Pick<ShopContext, 'db' | 'limiter'>

/**
 * Takes points of a bucket.
 *
 * @throws AppError RATE_LIMITED (details.bucket, Retry-After) when there are not that many
 */
export async function takePoints(shop: Rates, bucket: Bucket, key: string, points = 1): Promise<void> {
  const verdict = await shop.limiter.consume(bucket, key, rateLimit(shop.db, bucket), points)
  if (!verdict.allowed) throw rateLimited(bucket, verdict.retryAfterSeconds)
}

/**
 * Refuses while a bucket that only counts failures is used up: past it not even a good code or card is told from a bad
 * one, or the limit would not keep anybody from trying.
 *
 * @throws AppError RATE_LIMITED
 */
export async function refuseWhenUsedUp(shop: Rates, bucket: Bucket, key: string): Promise<void> {
  const verdict = await shop.limiter.peek(bucket, key, rateLimit(shop.db, bucket))
  if (!verdict.allowed) throw rateLimited(bucket, verdict.retryAfterSeconds)
}

/**
 * What every checkout takes, one that goes on with an earlier one's order too. Cards that keep being declined from one
 * address are somebody trying out stolen numbers.
 *
 * @throws AppError RATE_LIMITED
 */
export async function takeCheckoutPoint(shop: Rates, addressKey: string, strategy: Strategy): Promise<void> {
  await takePoints(shop, 'checkout_ip', addressKey)
  if (strategy === 'token_handoff') await refuseWhenUsedUp(shop, 'checkout_decline', addressKey)
}

/** So many at most from one address, each being a dozen writes: other customers are served between them. */
const cardsAtOnce = 6

/**
 * Runs a checkout, one that tries a card only while fewer run from its address than may still be declined: a hundred
 * cards sent together get no more tries than a hundred in a row.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when too many wait for their turn
 */
export function cardInTurn<T>(
  shop: Rates,
  addressKey: string,
  strategy: Strategy | undefined,
  checkout: () => Promise<T>
): Promise<T> {
  if (strategy !== 'token_handoff') return checkout()
  return inTurn(shop, { bucket: 'checkout_decline', key: addressKey }, cardsAtOnce, checkout)
}

/** A failure that has been told already: it counts, and nobody is refused over it. */
export async function countFailure(shop: Rates, bucket: Bucket, key: string): Promise<void> {
  await shop.limiter.consume(bucket, key, rateLimit(shop.db, bucket))
}

export function rateLimited(bucket: Bucket, retryAfterSeconds: number): AppError {
  return new AppError(
    'RATE_LIMITED',
    'Too many attempts; please wait a little.',
    { bucket },
    { headers: { 'Retry-After': String(retryAfterSeconds) } }
  )
}
