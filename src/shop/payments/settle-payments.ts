import type { ShopContext } from '../context.ts'
import { endHolds } from './end-hold.ts'
import { reconcile } from './reconcile.ts'
import type { ReconcileOptions, ReconcileReport } from './reconcile.ts'

/** Settles open payments, refunds and missed events from the gateway's own answers, then ends the holds that are over. */
export async function settlePayments(
  shop: ShopContext,
  options: ReconcileOptions = {}
): Promise<ReconcileReport & { holds: number }> {
  const report = await reconcile(shop, options)
  const { ended, failed } = await endHolds(shop)
  return { ...report, holds: ended, failed: report.failed + failed }
}
