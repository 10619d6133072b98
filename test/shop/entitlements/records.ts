import { write } from '../../../src/platform/db/database.ts'
import type { UserRow } from '../../../src/shop/accounts/rows.ts'
import { affiliates } from '../../../src/shop/affiliates/schema.ts'
import { accountSummary } from '../../../src/shop/entitlements/entitlements.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import type { OrderStatus } from '../../../src/shop/orders/states.ts'
import { applyPlans } from '../../../src/shop/benefits/plans.ts'
import type { TestShop } from '../../support/shop-context.ts'

export const plans = [
  { slug: 'keepers-circle', name: "Keepers' Circle", module: 'A' as const, rank: 20, pro: false },
  { slug: 'head-keeper', name: 'Head Keeper', module: 'A' as const, rank: 40, pro: true },
  { slug: 'makers-guild', name: "Makers' Guild", module: 'B' as const, rank: 30, pro: false }
]

export function seedPlans(shop: TestShop): void {
  write(shop.db, (tx) => applyPlans(tx, plans))
}

/** The record of an order, as it stands; how it came there is none of the entitlements' business. */
export function placeOrder(
  shop: TestShop,
  userId: number | null,
  status: OrderStatus,
  createdAt = shop.clock.now()
): number {
  const sums = { currency: 'EUR', subtotalMinor: 1250, discountMinor: 0, totalMinor: 1250 }
  const publicToken = `token-${userId}-${createdAt}-${Math.random()}`
  const facts = { userId, status, ...sums, strategy: 'redirect_to_store' as const, contact: {}, publicToken }
  const row = { ...facts, createdAt, updatedAt: createdAt }
  return write(shop.db, (tx) => tx.orm.insert(orders).values(row).returning().get()).id
}

export function makeAffiliate(
  shop: TestShop,
  userId: number,
  status: 'pending' | 'active' | 'inactive' | 'rejected'
): void {
  const at = shop.clock.now()
  const row = { userId, code: `code-${userId}`, codeKey: `code-${userId}`, status, createdAt: at, updatedAt: at }
  write(shop.db, (tx) => void tx.orm.insert(affiliates).values(row).run())
}

export function summaryOf(shop: TestShop, user: UserRow, now = shop.clock.now()) {
  return accountSummary(shop.db, user, { isLoggedIn: true }, now)
}
