import type { Db } from '../../platform/db/database.ts'
import { givesFiles } from '../benefits/give.ts'
import type { Granting } from '../benefits/give.ts'
import type { OrderRow } from '../orders/find.ts'
import { followsEuLaw } from '../settings/law.ts'

/**
 * Whether a checkout asks the buyer to agree that files are delivered at once, and to acknowledge that the right to withdraw
 * is lost by that (directive 2011/83/EU, article 16(m); § 356(5) BGB). Without it, the right stays.
 */
export function asksDeliveryConsent(db: Db, items: Granting): boolean {
  return givesFiles(items) && followsEuLaw(db)
}

/** Whether an order still lacks that consent. */
export function lacksDeliveryConsent(
  db: Db,
  { deliveryConsentAt }: Pick<OrderRow, 'deliveryConsentAt'>,
  items: Granting
): boolean {
  return deliveryConsentAt === null && asksDeliveryConsent(db, items)
}
