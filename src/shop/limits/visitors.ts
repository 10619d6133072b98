import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'

const bucket = 'visitors'
const periodSeconds = 7 * 24 * 60 * 60

/**
 * Counts a browser that the shop did not know: by its client address, so that `shopstead health` notices when the addresses
 * of visitors do not arrive. Browsers that come back are not counted, so a busy customer is one visitor. A counter that
 * cannot be written is logged: it does not undo the login or the order that it counts.
 */
export async function countVisitor(
  { limiter, log }: Pick<ShopContext, 'limiter' | 'log'>,
  addressKey: string
): Promise<void> {
  try {
    await limiter.count(bucket, addressKey, periodSeconds)
  } catch (error) {
    log.warn('a visitor could not be counted', { error: describeError(error) })
  }
}

/**
 * The address from which the most new browsers came in about the last 7 days, and how many came from all addresses;
 * undefined without any. An address counts for 7 days from its first visitor.
 */
export function busiestAddress({
  limiter
}: Pick<ShopContext, 'limiter'>): { address: string; visitors: number; ofAll: number } | undefined {
  const found = limiter.largest(bucket)
  return found && { address: found.key, visitors: found.points, ofAll: found.sum }
}
