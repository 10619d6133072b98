import { write } from '../../../src/platform/db/database.ts'
import type { UserRow } from '../../../src/shop/accounts/rows.ts'
import { giveGrants, revokeGrants } from '../../../src/shop/benefits/give.ts'
import { products } from '../../../src/shop/catalog/schema.ts'
import type { GrantSpec } from '../../../src/shop/catalog/grants.ts'
import { events } from '../../../src/shop/events/schema.ts'
import { makeUser } from '../../support/people.ts'
import type { TestShop } from '../../support/shop-context.ts'

export const at = (text: string): number => Date.parse(text)

/** An account whose password nobody needs. */
export function person(shop: TestShop, email = 'lena@shop.example'): Promise<UserRow> {
  return makeUser(shop, { email, displayName: 'Lena Hartmann', passwordHash: 'none' })
}

/** A digital product, of which benefits remember the id. */
export function product(shop: TestShop, slug = 'keepers-circle'): number {
  const now = shop.clock.now()
  const row = {
    slug,
    name: `Product ${slug}`,
    type: 'digital' as const,
    priceMinor: 2000,
    published: true,
    position: 1
  }
  const values = { ...row, createdAt: now, updatedAt: now }
  return write(shop.db, (tx) => tx.orm.insert(products).values(values).returning().get()).id
}

export type Purchase = {
  userId: number | null
  orderId: number
  productId: number
  grants: GrantSpec[]
  quantity?: number
  totalMinor?: number
}

/** What a paid order of one line gives, its line bearing the order's number times ten. */
export function buy(shop: TestShop, { userId, orderId, productId, grants, quantity = 1, totalMinor = 2000 }: Purchase) {
  const items = [{ id: orderId * 10, productId, quantity, totalMinor, grants }]
  write(shop.db, (tx) => giveGrants(tx, { orderId, userId, currency: 'EUR', items }, shop.clock.now()))
}

export function refund(shop: TestShop, orderId: number): void {
  write(shop.db, (tx) => revokeGrants(tx, orderId, { keepSubscriptions: false }, shop.clock.now()))
}

export function eventTypes(shop: TestShop): string[] {
  const rows = shop.db.orm.select().from(events).orderBy(events.id).all()
  return rows.map(({ type }) => type).filter((type) => !type.startsWith('account.'))
}

export const yearOfA = { kind: 'membership', module: 'A', plan: 'keepers-circle', period: 'P1Y' } satisfies GrantSpec
export const monthly = { kind: 'subscription', interval: 'month', pro: false } satisfies GrantSpec
