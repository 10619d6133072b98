import type { Db } from '../../platform/db/database.ts'
import { setting } from '../settings/settings.ts'

/**
 * The carrier's page about a tracking number, by the setting `shipping.trackingUrls`; null for a carrier that is not in
 * it. Carriers compare without regard to case.
 */
export function trackingUrl(db: Db, carrier: string | null, tracking: string | null): string | null {
  if (carrier === null || tracking === null) return null
  const wanted = `${carrier.toLowerCase()}=`
  const entry = setting(db, 'shipping.trackingUrls').find((text) => text.toLowerCase().startsWith(wanted))
  return entry === undefined ? null : entry.slice(wanted.length).replaceAll('{tracking}', encodeURIComponent(tracking))
}
