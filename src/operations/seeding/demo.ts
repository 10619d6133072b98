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
import { setting } from '../../shop/settings/settings.ts'
import { lifeOfAffiliates, settleAffiliates, sortAffiliates } from './affiliates.ts'
import { applyCatalogue } from './catalogue.ts'
import { demoPath, readDemoData } from './demo-data.ts'
import type { DemoData } from './demo-data.ts'
import { hasDemoOrders, lifeOfOrders } from './demo-orders.ts'
import { relive } from './moments.ts'
import { findNewcomers, lifeOfPeople, stillNew } from './people.ts'
import type { Newcomer } from './people.ts'

/** Nothing has been put into this shop yet. */
export function isEmptyShop(db: Db): boolean {
  return [products, users, orders].every((table) => db.orm.select().from(table).limit(1).get() === undefined)
}

export function countOrders(db: Db): number {
  return db.orm.select({ count: count() }).from(orders).get()?.count ?? 0
}

/**
 * Fills the shop with the demo shop of the package: catalogue, people, affiliates and a year of orders, whole or not at
 * all. Everything went through the shop's own rules at its time, but nobody is written to. Again it changes nothing:
 * people are known by their email, affiliates by their code, and the orders come once.
 *
 * @throws AppError CONFLICT in production, since everybody knows the password
 */
export async function seedDemo(app: App, now: number): Promise<CountsByKind> {
  refuseInProduction(app)
  const data = readDemoData(setting(app.db, 'shop.currency'))
  const newcomers = await findNewcomers(app, data.people)
  cpSync(demoPath('downloads'), join(app.config.dataDir, 'downloads'), { recursive: true, force: false })
  return write(app.db, (tx) => liveThrough(app, tx, data, newcomers, now))
}

export function refuseInProduction({ config }: App): void {
  if (config.env !== 'production') return
  throw new AppError(
    'CONFLICT',
    'SHOPSTEAD_ENV is production: made-up people whose password is known do not belong there.'
  )
}

function liveThrough(app: App, tx: Tx, data: DemoData, newcomers: readonly Newcomer[], now: number): CountsByKind {
  const catalogue = applyCatalogue(app, tx, data.catalogue, now)
  const fresh = stillNew(tx, newcomers)
  const affiliates = sortAffiliates(tx, data.catalogue.affiliates)
  const newOrders = hasDemoOrders(tx) ? [] : data.orders
  relive(tx, [
    ...lifeOfPeople(fresh, now),
    ...lifeOfAffiliates(affiliates.fresh, data.people, now),
    ...lifeOfOrders(newOrders, setting(tx, 'shop.currency'), now)
  ])
  return {
    ...catalogue,
    users: createdOf(fresh.length, data.people.length),
    affiliates: settleAffiliates(tx, affiliates, now),
    orders: createdOf(newOrders.length, data.orders.length)
  }
}

function createdOf(created: number, all: number) {
  return { created, updated: 0, unchanged: all - created }
}
