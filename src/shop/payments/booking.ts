import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Logger } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'

/** One transaction's bookkeeping: where it writes, who does so and when, and the log that hears of what is odd. */
export type Booking = { readonly tx: Tx; readonly log: Logger; readonly by: string; readonly now: number }

/** Runs `work` in one write transaction; `by` is who the audit rows name. */
export function book<T>(
  shop: Pick<ShopContext, 'db' | 'log' | 'clock'>,
  by: string,
  work: (booking: Booking) => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  return writeWhenFree<T>(shop.db, (tx) => work({ tx, log: shop.log, by, now: shop.clock.now() }))
}
