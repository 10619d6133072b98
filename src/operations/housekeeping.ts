import type { ShopContext } from '../shop/context.ts'
import { writeWhenFree } from '../platform/db/busy.ts'
import type { Tx } from '../platform/db/database.ts'
import { purgeEmailTokens } from '../shop/accounts/email-tokens.ts'
import { purgeSessions } from '../shop/accounts/sessions.ts'
import { deleteMediaFiles } from '../shop/catalog/images/media-files.ts'
import { purgeMedia } from '../shop/catalog/images/purge-media.ts'
import { dropExpiredKeys } from '../shop/checkout/idempotency.ts'
import { purgeEvents } from '../shop/events/purge-events.ts'
import { purgeMails } from '../shop/mail/queue.ts'
import { anonymiseUnpaidOrders } from '../shop/orders/anonymise.ts'
import { purgeHolders } from '../shop/orders/holders.ts'
import { dropOldEvents } from '../shop/payments/apply-event.ts'
import { setting } from '../shop/settings/settings.ts'
import { purgeDeliveries } from '../shop/webhooks/deliveries.ts'

const dayMs = 24 * 60 * 60_000
/** Rows of one transaction. Requests are served between two of them. */
const batchSize = 500

/** Deletes expired rows, and what the settings for retention no longer keep. */
export async function cleanUp(shop: ShopContext): Promise<void> {
  const now = shop.clock.now()
  for (const purge of [
    dropExpiredKeys,
    purgeHolders,
    purgeSessions,
    dropOldEvents,
    purgeEmailTokens,
    purgeMails,
    purgeDeliveries
  ])
    await writeWhenFree(shop.db, (tx) => void purge(tx, now))
  for (const picture of await writeWhenFree(shop.db, purgeMedia)) deleteMediaFiles(shop.config.dataDir, picture)
  const ordersBefore = now - setting(shop.db, 'privacy.unpaidDays') * dayMs
  const anonymise = (tx: Tx): number => anonymiseUnpaidOrders(tx, ordersBefore, batchSize)
  while ((await writeWhenFree(shop.db, anonymise)) === batchSize) await new Promise(setImmediate)
  const eventsBefore = now - setting(shop.db, 'events.keepDays') * dayMs
  for (let after: number | null = 0; after !== null;) {
    const range: { after: number; limit: number } = { after, limit: batchSize }
    after = await writeWhenFree(shop.db, (tx): number | null => purgeEvents(tx, eventsBefore, range))
    await new Promise(setImmediate)
  }
}
