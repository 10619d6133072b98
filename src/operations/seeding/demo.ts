import type { CountsByKind } from '../../shop/catalog/changes.ts'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { count } from 'drizzle-orm'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { users } from '../../shop/accounts/schema.ts'
import { products } from '../../shop/catalog/schema.ts'
import { orders } from '../../shop/orders/schema.ts'
import { setting, setSetting } from '../../shop/settings/settings.ts'
import { keysOf } from '../../platform/typed.ts'
import { shopPlace } from '../../shop/settings/shop-days.ts'
import { addClicks, affiliateTimeline, updateAffiliates, splitAffiliates } from './affiliates.ts'
import { applyCatalog } from '../catalog.ts'
import { demoPath, readDemoData } from './demo-data.ts'
import type { DemoData } from './demo-data.ts'
import { hasDemoOrders, orderTimelines } from './demo-orders.ts'
import { replay } from './timeline.ts'
import { findNewPeople, peopleTimeline, withoutAccount } from './people.ts'
import type { NewPerson } from './people.ts'

/** Whether the shop has no products, accounts or orders. */
export function isEmptyShop(db: Db): boolean {
  return [products, users, orders].every((table) => db.orm.select().from(table).limit(1).get() === undefined)
}

/** The number of orders in the shop. */
export function countOrders(db: Db): number {
  return db.orm.select({ count: count() }).from(orders).get()?.count ?? 0
}

/**
 * Fills the shop with the package's demo shop: catalog, people, affiliates and a year of orders, in one transaction.
 * The shop's own rules create each record at its time; no email is sent. A second run changes nothing: it recognises
 * people by email and affiliates by code, and inserts the orders only once. The first run sets the shop's country, the
 * seller's address and the tagline of the storefront, if they are empty.
 *
 * @throws AppError CONFLICT in production, because the password of the accounts is public
 */
export async function seedDemo(app: App, now: number): Promise<CountsByKind> {
  refuseInProduction(app)
  const data = readDemoData(shopPlace(app.db))
  const newPeople = await findNewPeople(app, data.people)
  cpSync(demoPath('downloads'), join(app.config.dataDir, 'downloads'), { recursive: true, force: false })
  return write(app.db, (tx) => seedRecords(app, tx, data, newPeople, now))
}

/** @throws AppError CONFLICT in production, because the password of the demo accounts is public */
export function refuseInProduction({ config }: App): void {
  if (config.env !== 'production') return
  throw new AppError(
    'CONFLICT',
    'The demo accounts have a public password, so they cannot be created while SHOPSTEAD_ENV is production.'
  )
}

function seedRecords(app: App, tx: Tx, data: DemoData, newPeople: readonly NewPerson[], now: number): CountsByKind {
  const catalog = applyCatalog(app, tx, data.catalog, { keepStock: true }, now).counts
  const fresh = withoutAccount(tx, newPeople)
  const affiliates = splitAffiliates(tx, data.catalog.affiliates)
  const isFirst = !hasDemoOrders(tx)
  const newOrders = isFirst ? data.orders : []
  // The orders need the country for their tax, and their invoices name the seller.
  if (isFirst) fillSettings(tx, data.settings, now)
  replay(tx, [
    ...peopleTimeline(fresh, now),
    ...affiliateTimeline(affiliates.fresh, data.people, now),
    ...orderTimelines(newOrders, setting(tx, 'shop.currency'), now)
  ])
  addClicks(tx, affiliates.fresh, now)
  return {
    ...catalog,
    users: createdOf(fresh.length, data.people.length),
    affiliates: updateAffiliates(tx, affiliates, now),
    orders: createdOf(newOrders.length, data.orders.length)
  }
}

function fillSettings(tx: Tx, values: DemoData['settings'], now: number): void {
  // So that a client that knows only the interface can buy every offer, also without cookies.
  const always = ['checkout.missingAddress', 'checkout.heldOrdersPerAddress'] as const
  for (const key of always) setSetting(tx, key, values[key], now)
  for (const key of keysOf(values)) if (setting(tx, key) === '') setSetting(tx, key, values[key], now)
}

function createdOf(created: number, all: number) {
  return { created, updated: 0, unchanged: all - created }
}
