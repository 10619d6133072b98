import { write } from '../../../src/platform/db/database.ts'
import type { OrderStatus } from '../../../src/shop/orders/states.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { payPayouts } from '../../../src/shop/payouts/pay.ts'
import type { PaidPayout, PayoutRun } from '../../../src/shop/payouts/pay.ts'
import { acceptReferral } from '../../../src/shop/referrals/referrals.ts'
import type { ShopContext } from '../../../src/shop/context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { refer } from '../affiliates/support.ts'

export const dayMs = 86_400_000

/** Creates an order in a state, or moves it there, without the effects of the state. */
export function setOrder(shop: Pick<ShopContext, 'db' | 'clock'>, id: number, status: OrderStatus): void {
  const now = shop.clock.now()
  const sums = { currency: 'EUR', subtotalMinor: 0, discountMinor: 0, totalMinor: 0 }
  const row = { id, status, ...sums, strategy: 'redirect_to_store' as const, contact: {}, publicToken: `order-${id}` }
  shop.db.orm
    .insert(orders)
    .values({ ...row, createdAt: now, updatedAt: now })
    .onConflictDoUpdate({ target: orders.id, set: { status } })
    .run()
}

/** Creates a paid order with an accepted referral. */
export function earn(shop: TestShop, affiliateId: number, orderId: number, totalMinor = 10_000): void {
  setOrder(shop, orderId, 'processing')
  refer(shop, affiliateId, orderId, totalMinor)
  write(shop.db, (tx) => acceptReferral(tx, orderId, shop.clock.now()))
}

export function pay(shop: TestShop, run: Partial<PayoutRun> = {}): PaidPayout[] {
  return payPayouts(shop.db, { by: 'lena', ...run }, shop.clock.now())
}

/** Pays everything that is earned so far, after the hold. */
export function payAfterHold(shop: TestShop, run: Partial<PayoutRun> = {}): PaidPayout[] {
  shop.clock.advance(30 * dayMs)
  return pay(shop, run)
}
