import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Logger } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'

/** One write transaction of payments: where it writes, who acts, at what time, and the log for warnings. */
export type UnitOfWork = { readonly tx: Tx; readonly log: Logger; readonly by: string; readonly now: number }

/** Runs `work` in one write transaction; `by` is the actor that the audit rows name. */
export function runUnitOfWork<T>(
  shop: Pick<ShopContext, 'db' | 'log' | 'clock'>,
  by: string,
  work: (unit: UnitOfWork) => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  return writeWhenFree<T>(shop.db, (tx) => work({ tx, log: shop.log, by, now: shop.clock.now() }))
}
