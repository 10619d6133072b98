import type { ShopContext } from '../shop/context.ts'
import { writeWhenFree } from '../platform/db/busy.ts'
import type { Tx } from '../platform/db/database.ts'
import { purgeEmailTokens } from '../shop/accounts/email-tokens.ts'
import { purgeSessions } from '../shop/accounts/sessions.ts'
import { purgeMedia } from '../shop/catalog/images/purge-media.ts'
import { dropExpiredKeys } from '../shop/checkout/idempotency.ts'
import { purgeEvents } from '../shop/events/purge-events.ts'
import { shopDay } from '../shop/invoices/day.ts'
import { purgeMails } from '../shop/mail/queue.ts'
import { anonymiseUnpaidOrders } from '../shop/orders/anonymise.ts'
import { purgeHolders } from '../shop/orders/holders.ts'
import { forgetBuyers } from '../shop/orders/invoices-of-person.ts'
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
  await inBatches(shop, (tx, limit) => purgeMedia(tx, shop.config.dataDir, limit))
  const ordersBefore = now - setting(shop.db, 'privacy.unpaidDays') * dayMs
  await inBatches(shop, (tx, limit) => anonymiseUnpaidOrders(tx, ordersBefore, limit))
  const buyersBefore = `${Number(shopDay(shop.db, now).slice(0, 4)) - setting(shop.db, 'invoice.keepYears')}-01-01`
  await inBatches(shop, (tx, limit) => forgetBuyers(tx, buyersBefore, limit))
  const eventsBefore = now - setting(shop.db, 'events.keepDays') * dayMs
  for (let after: number | null = 0; after !== null;) {
    const range: { after: number; limit: number } = { after, limit: batchSize }
    after = await writeWhenFree(shop.db, (tx): number | null => purgeEvents(tx, eventsBefore, range))
    await new Promise(setImmediate)
  }
}

/** Repeats a change of at most `limit` rows, which returns their number, until no more are left. */
async function inBatches({ db }: ShopContext, change: (tx: Tx, limit: number) => number): Promise<void> {
  while ((await writeWhenFree(db, (tx): number => change(tx, batchSize))) === batchSize) await new Promise(setImmediate)
}
