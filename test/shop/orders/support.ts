import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { createUser } from '../../../src/shop/accounts/create-user.ts'
import type { UserRow } from '../../../src/shop/accounts/rows.ts'
import { affiliates } from '../../../src/shop/affiliates/schema.ts'
import {
  categories,
  coupons,
  media,
  productCategories,
  productImages,
  products,
  variations
} from '../../../src/shop/catalog/schema.ts'
import { events } from '../../../src/shop/events/schema.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { insertOrder } from '../../../src/shop/orders/create-order.ts'
import type { NewAttribution } from '../../../src/shop/orders/attribution.ts'
import type { NewCoupon, NewLine, NewOrder } from '../../../src/shop/orders/create-order.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { planRefundLines, storeOrderRefund } from '../../../src/shop/orders/refunds/refund-lines.ts'
import type { WantedRefund } from '../../../src/shop/orders/refunds/refund-lines.ts'
import { orderItems, orders } from '../../../src/shop/orders/schema.ts'
import type { OrderStatus } from '../../../src/shop/orders/states.ts'
import { moveOrder, recordRefund } from '../../../src/shop/orders/transition.ts'
import type { Move } from '../../../src/shop/orders/transition.ts'
import { referrals } from '../../../src/shop/referrals/schema.ts'
import { noon } from '../../support/temporary-shop.ts'

export function makeProduct(db: Db, changes: Partial<typeof products.$inferInsert> = {}): number {
  const row = {
    slug: `product-${randomUUID()}`,
    name: 'Storm lantern',
    type: 'physical' as const,
    priceMinor: 1250,
    stock: null,
    published: true,
    position: 0,
    createdAt: noon,
    updatedAt: noon,
    ...changes
  }
  return db.orm.insert(products).values(row).returning().get().id
}

/** Gives a product a stored picture of this size, whose hash is all ones. */
export function showPicture(db: Db, productId: number, size: { width: number; height: number }): void {
  const mediaHash = '1'.repeat(32)
  db.orm
    .insert(media)
    .values({ hash: mediaHash, ...size, createdAt: noon })
    .run()
  db.orm
    .insert(productImages)
    .values({ productId, src: 'picture.png', alt: '', position: 0, mediaHash, createdAt: noon })
    .run()
}

export function makeVariation(db: Db, productId: number, stock: number | null): number {
  const row = { productId, sku: 'red', name: 'Red', priceMinor: 1250, stock, isDefault: true, position: 0 }
  return db.orm.insert(variations).values(row).returning().get().id
}

export function makeCoupon(db: Db, changes: Partial<typeof coupons.$inferInsert> = {}): number {
  const row = { code: 'WELCOME10', codeKey: 'welcome10', percentBps: 1000, createdAt: noon, ...changes }
  return db.orm.insert(coupons).values(row).returning().get().id
}

/** Creates a category; `products` are in it, and must be put into those above it, too. */
export function makeCategory(db: Db, slug: string, products: readonly number[] = [], parentId?: number): number {
  const { id } = db.orm.insert(categories).values({ slug, name: slug, parentId }).returning().get()
  for (const productId of products)
    db.orm.insert(productCategories).values({ productId, categoryId: id, position: 0 }).run()
  return id
}

export function makeUser(db: Db, email: string, verified = true): UserRow {
  const person = {
    email,
    displayName: 'Lena',
    passwordHash: 'none',
    marketingOptIn: false,
    verified,
    termsAcceptedAt: null,
    privacyAcceptedAt: null
  }
  return write(db, (tx) => createUser(tx, person, noon))
}

export function makeAffiliate(db: Db, userId: number, code = 'mira'): typeof affiliates.$inferSelect {
  const row = {
    userId,
    code,
    codeKey: code,
    status: 'active' as const,
    createdAt: noon,
    updatedAt: noon
  }
  return db.orm.insert(affiliates).values(row).returning().get()
}

export function line(productId: number, changes: Partial<NewLine> = {}): NewLine {
  const amounts = { quantity: 1, unitPriceMinor: 1250, listPriceMinor: null, discountMinor: 0, ...changes }
  return {
    path: 'items.0',
    productId,
    variationId: null,
    name: 'Storm lantern',
    sku: null,
    type: 'physical',
    taxClass: 'standard',
    weightGrams: null,
    grants: [],
    totalMinor: amounts.unitPriceMinor * amounts.quantity - amounts.discountMinor,
    ...amounts
  }
}

export function couponLine(couponId: number, changes: Partial<NewCoupon> = {}): NewCoupon {
  return { path: 'couponCode', couponId, code: 'WELCOME10', discountMinor: 0, customerKey: null, ...changes }
}

export const typein: NewAttribution = {
  sourceType: 'typein',
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmContent: null,
  marketingUtmSource: null,
  marketingUtmMedium: null,
  marketingUtmCampaign: null,
  marketingUtmContent: null,
  candidates: [],
  creditedBy: null,
  credit: null
}

/** As checkout stamps an order that came by an affiliate. */
export function credited(affiliate: typeof affiliates.$inferSelect, campaign: string | null = null): NewAttribution {
  return {
    ...typein,
    sourceType: 'referral',
    utmSource: `affiliate:${affiliate.code}`,
    utmMedium: 'affiliate',
    utmCampaign: campaign,
    candidates: [{ by: 'link', named: affiliate.code, affiliateId: affiliate.id, outcome: 'credited' }],
    creditedBy: 'link',
    credit: { affiliate, campaign }
  }
}

export function draft(lines: NewLine[], changes: Partial<NewOrder> = {}): NewOrder {
  return {
    userId: null,
    email: 'guest@shop.example',
    contact: { firstName: 'Lena', phone: '+49 30 555 0100' },
    billingAddress: { city: 'Berlin', country: 'DE' },
    shippingAddress: null,
    vatId: null,
    vatCheck: null,
    notes: null,
    language: null,
    returnUrl: null,
    cancelUrl: null,
    strategy: 'redirect_to_store',
    holdMinutes: 60,
    currency: 'EUR',
    lines,
    coupons: [],
    shipping: null,
    attribution: typein,
    ...changes
  }
}

export function place(db: Db, order: NewOrder, now = noon): OrderRow {
  return write(db, (tx) => insertOrder(tx, order, now))
}

export function move(
  db: Db,
  orderId: number,
  to: OrderStatus,
  changes: Partial<Move> = {},
  now = noon + 1000
): OrderRow {
  return write(db, (tx) => moveOrder(tx, orderId, to, { by: 'test', reason: 'a test', ...changes }, now))
}

/** Refunds a part of an order, or the rest of it, and answers the id of the refund. */
export function giveBack(db: Db, orderId: number, wanted: WantedRefund, now = noon): number {
  return write(db, (tx) => {
    const order = getOrder(tx, orderId)
    const refund = planRefundLines(tx, order, wanted, order.totalMinor - order.refundedMinor)
    const asked = storeOrderRefund(tx, order, refund, now)
    recordRefund(tx, orderId, refund.amountMinor, { by: 'operator', reason: 'refunded' }, now, asked)
    return asked.id
  })
}

/** Puts an order into a state as if it had come there by itself: for rules about what may follow. */
export function force(db: Db, orderId: number, status: OrderStatus): void {
  db.orm.update(orders).set({ status }).where(eq(orders.id, orderId)).run()
}

export function stockOf(db: Db, productId: number): number | null | undefined {
  return db.orm.select().from(products).where(eq(products.id, productId)).get()?.stock
}

export function usedOf(db: Db, couponId: number): number | undefined {
  return db.orm.select().from(coupons).where(eq(coupons.id, couponId)).get()?.used
}

export function stockTakenOf(db: Db, orderId: number): number[] {
  return db.orm
    .select()
    .from(orderItems)
    .where(eq(orderItems.orderId, orderId))
    .all()
    .map((item) => item.stockTaken)
}

export function referralOf(db: Db, orderId: number): typeof referrals.$inferSelect | undefined {
  return db.orm.select().from(referrals).where(eq(referrals.orderId, orderId)).get()
}

/** Types of what has been written to the outbox, `order.status_changed` with its states. */
export function eventsOf(db: Db, prefix = 'order.'): string[] {
  return db.orm
    .select()
    .from(events)
    .all()
    .filter((event) => event.type.startsWith(prefix))
    .map(({ type, payload }) =>
      type === 'order.status_changed' ? `${String(payload['from'])} to ${String(payload['to'])}` : type
    )
}

export function mailsOf(db: Db): { template: string; recipient: string; data: unknown }[] {
  return db.orm.select({ template: mails.template, recipient: mails.recipient, data: mails.data }).from(mails).all()
}
