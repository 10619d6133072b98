import type { ShopContext } from '../shop/context.ts'
import { whenFree, writeWhenFree, writeUnsynced } from '../platform/db/database.ts'
import type { Tx } from '../platform/db/database.ts'
import { restAfter } from '../platform/clock.ts'
import { purgeEmailTokens } from '../shop/accounts/email-tokens.ts'
import { purgeSessions } from '../shop/accounts/sessions.ts'
import { purgeMedia } from '../shop/catalog/images/media-files.ts'
import { purgePrices } from '../shop/catalog/public/lowest-price.ts'
import { dropExpiredKeys } from '../shop/checkout/idempotency.ts'
import { eraseDormant, forgetGuests, remindDormant } from '../shop/customers/retention.ts'
import { forgetOldDeclarers } from '../shop/declarations/find.ts'
import { expireCards, mailDueCards } from '../shop/gift-cards/cards.ts'
import { purgeEvents } from '../shop/events/list-events.ts'
import { shopDay, startOfShopDay } from '../shop/settings/shop-days.ts'
import { purgeMails } from '../shop/mail/queue.ts'
import { anonymiseUnpaidOrders } from '../shop/orders/buyer.ts'
import { purgeHolders } from '../shop/orders/holds.ts'
import { forgetBuyers } from '../shop/orders/invoice-order.ts'
import { forgetPayees } from '../shop/payouts/statement.ts'
import { dropOldEvents } from '../shop/payments/webhook.ts'
import { setting } from '../shop/settings/settings.ts'
import { purgeVatChecks } from '../shop/tax/vat-checks.ts'
import { purgeDeliveries } from '../shop/webhooks/deliveries.ts'

const dayMs = 24 * 60 * 60_000
/** Rows of one transaction. Requests wait while it runs, about 5 ms. */
const batchSize = 100
/** A person has rows in many tables. */
const peopleAtOnce = 5
/** Dormant accounts of one clean-up, so that an old shop sends 2,400 of these emails a day at most. */
const mostReminders = 100
/** The share of the time. Requests also wait while the write-ahead log is copied, up to 100 ms, so that must be rare. */
const share = 1 / 5

/** A change of at most `limit` rows; returns how many it changed. */
type Change = (tx: Tx, now: number, limit: number) => number

/** A change of some of the rows that follow the id `after`. Returns the id to continue after; null at the end. */
type Walk = (tx: Tx, range: { after: number; limit: number }) => number | null

const purges: readonly Change[] = [
  dropExpiredKeys,
  purgeSessions,
  dropOldEvents,
  purgeEmailTokens,
  purgeMails,
  purgeDeliveries,
  purgePrices,
  purgeVatChecks,
  expireCards,
  mailDueCards
]

/**
 * Deletes expired rows, and what the settings for retention no longer keep, while the shop sells: in small transactions and
 * a fifth of the time.
 *
 * @param isStopped checked before each transaction; true ends the clean-up, and the next one continues
 */
export async function cleanUp(shop: ShopContext, isStopped: () => boolean = () => false): Promise<void> {
  const now = shop.clock.now()
  const ordersBefore = now - setting(shop.db, 'privacy.unpaidDays') * dayMs
  const buyersBefore = `${Number(shopDay(shop.db, now).slice(0, 4)) - setting(shop.db, 'invoice.keepYears')}-01-01`
  const eventsBefore = now - setting(shop.db, 'events.keepDays') * dayMs
  const changes: readonly Change[] = [
    ...purges,
    (tx, _now, limit) => anonymiseUnpaidOrders(tx, ordersBefore, limit),
    forgetOldDeclarers,
    eraseDormant
  ]
  const walks: readonly Walk[] = [
    purgeHolders,
    (tx, range) => forgetGuests(tx, now, range),
    (tx, range) => forgetBuyers(tx, buyersBefore, range),
    (tx, range) => forgetPayees(tx, startOfShopDay(shop.db, buyersBefore), range),
    (tx, range) => purgeEvents(tx, eventsBefore, range)
  ]
  for (const change of changes) {
    const limit = change === eraseDormant ? peopleAtOnce : batchSize
    await repeat(isStopped, async () => (await writeBatch(shop, (tx) => change(tx, now, limit))) >= limit)
  }
  let reminded = 0
  await repeat(isStopped, async () => {
    const found = await writeBatch(shop, (tx) => remindDormant(tx, now, peopleAtOnce))
    reminded += found
    return found >= peopleAtOnce && reminded < mostReminders
  })
  for (const walk of walks) {
    let after: number | null = 0
    await repeat(isStopped, async () => {
      const range = { after: after ?? 0, limit: batchSize }
      after = await writeBatch<number | null>(shop, (tx) => walk(tx, range))
      return after !== null
    })
  }
  // Synced, because it deletes files: a picture must not return after a power cut without its file.
  const deleteMedia = (tx: Tx): number => purgeMedia(tx, shop.config.dataDir, batchSize)
  await repeat(isStopped, async () => (await writeWhenFree(shop.db, deleteMedia)) >= batchSize)
}

/** Repeats a change with rests, until it returns that nothing is left. */
async function repeat(isStopped: () => boolean, change: () => Promise<boolean>): Promise<void> {
  while (!isStopped()) {
    const startedAt = performance.now()
    if (!(await change())) return
    await restAfter(startedAt, share)
  }
}

/** One transaction that does not wait for the disk: after a power cut, the next clean-up repeats it. */
function writeBatch<T extends number | null>({ db }: ShopContext, change: (tx: Tx) => T): Promise<T> {
  return whenFree(db.sqlite, () => writeUnsynced<number | null>(db, change) as T)
}
