import { asc, inArray } from 'drizzle-orm'
import { beforeEach, expect } from 'vitest'
import { changeOrder } from '../../../src/shop/corrections/change-order.ts'
import type { OrderChange, OrderEdits } from '../../../src/shop/corrections/change-order.ts'
import { choosePayment } from '../../../src/shop/checkout/order-form.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import type { MailTemplate } from '../../../src/shop/mail/queue.ts'
import { composeEmail } from '../../../src/shop/mailer/compose.ts'
import type { Email } from '../../../src/shop/mailer/email.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { listOrdersToPack } from '../../../src/shop/shipments/pack-list.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { whoGave } from '../../support/visitors.ts'
import { openQuietTill } from '../payments/till.ts'
import type { Till } from '../payments/till.ts'

/** A till behind whose counter orders are changed after they are paid: what one does there, and what the books then say. */
export type Counter = {
  till: Till
  item(slug: string, quantity: number, sku?: string): { productId: number; quantity: number; variationId?: number }
  /** A paid order of one product. */
  paid(slug: string, quantity: number, body?: object): Promise<number>
  /** The buyer opens the page of an order's link and pays what is due, which is returned. */
  payDue(id: number): Promise<number>
  change(id: number, edits: Partial<OrderEdits>): Promise<OrderChange>
  linesOf(id: number): [name: string, quantity: number, totalMinor: number][]
  packed(): [id: number, packWith: number | null, goods: string[]][]
  shipAll(): void
  /** The newest email of these templates. */
  mail(...templates: MailTemplate[]): Email | undefined
  /** Expects that the documents add up to what the gateway has. */
  expectBooked(): Promise<void>
}

const size = (sku: string) => ({ sku, name: sku, price: '20.00', stock: 3 })
const shelf = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', stock: 50 },
    { slug: 'lamp', name: 'Lamp', price: '40.00', stock: 10 },
    { slug: 'pin', name: 'Pin', price: '1.00', stock: 10 },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
    { slug: 'shirt', name: 'Shirt', price: '20.00', variations: [size('S'), size('M')] }
  ],
  coupons: [{ code: 'TEN', percent: 10 }],
  tax: [{ country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' }]
}

/** A counter for all tests of a file, each of which begins without faults and without webhooks that get through. */
export async function openCounter(): Promise<Counter> {
  const till = await openQuietTill(shelf)
  const { app } = till.shop
  const { db } = app
  beforeEach(() => till.clock.advance(1000))
  const pay = async (id: number, sessionId: string): Promise<void> => {
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await till.settle()
    expect(getOrder(db, id).paidAt).not.toBeNull()
  }
  const variations = db.sqlite.prepare<[], { id: number; sku: string }>('SELECT id, sku FROM variations').all()
  return {
    till,
    item(slug, quantity, sku) {
      const variationId = variations.find((each) => each.sku === sku)?.id
      return { productId: till.productId(slug), quantity, ...(variationId === undefined ? {} : { variationId }) }
    },
    async paid(slug, quantity, body = {}) {
      const { id, sessionId } = await till.redirect({ slug, quantity, body })
      await pay(id, sessionId)
      return id
    },
    async payDue(id) {
      const byCard = { method: 'card', email: null, firstName: null, lastName: null } as const
      await choosePayment(app, id, byCard, whoGave('ada@example.com'))
      const { objectId, amountMinor } = till.attempt(id)
      await pay(id, objectId ?? '')
      return amountMinor
    },
    change: (id, edits) =>
      changeOrder(app, id, { buyer: {}, lines: [], add: [], holdMinutes: 60, ...edits }, 'operator'),
    linesOf: (id) => itemsOf(db, id).map(({ name, quantity, totalMinor }) => [name, quantity, totalMinor]),
    packed: () =>
      [...listOrdersToPack(db)].map(({ id, packWith, lines }) => [
        id,
        packWith,
        lines.map(({ name, quantity }) => `${quantity} ${name}`)
      ]),
    shipAll() {
      const parcel = { carrier: null, tracking: null, url: null, items: null }
      for (const { id } of listOrdersToPack(db))
        if (getOrder(db, id).status === 'processing') shipOrder(db, id, parcel, 'operator', till.clock.now())
    },
    mail(...templates) {
      const found = db.orm.select().from(mails).where(inArray(mails.template, templates)).orderBy(asc(mails.id)).all()
      const newest = found.at(-1)
      return newest === undefined ? undefined : composeEmail(app, newest, till.clock.now())
    },
    async expectBooked() {
      const { data } = await till.stripe.charges.list({ limit: 100 })
      const charged = data.reduce((sum, { amount, amount_refunded: back }) => sum + amount - back, 0)
      const sums = `SELECT coalesce(sum(iif(kind = 'invoice', total_minor, -total_minor)), 0) FROM invoices`
      expect(db.sqlite.prepare(sums).pluck().get()).toBe(charged)
    }
  }
}
