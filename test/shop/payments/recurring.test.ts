import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { addInterval } from '../../../src/shop/benefits/period.ts'
import { applyCatalogFile } from '../../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../../src/shop/catalog/import/read-file.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { receiptEmail } from '../../../src/shop/mailer/order-emails.ts'
import { idOf } from '../../../src/shop/payments/gateway-state.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { applyShipping } from '../../../src/shop/shipping/zones.ts'
import { applyTaxRates } from '../../../src/shop/tax/rates.ts'
import { quay } from '../../support/addresses.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()
const { app } = till.shop
const visitor = till.shop.visitor()
await visitor.register()

const monthly = [{ kind: 'subscription', interval: 'month' }]
const parcel = { id: 'parcel', name: 'Parcel', amount: '4.90', freeFrom: '50.00', perKg: '2.00' }
const catalog = {
  products: [
    { slug: 'box', name: 'Tea box', price: '24.75', weightGrams: 500, grants: monthly },
    { slug: 'kettle', name: 'Kettle', price: '20.00', weightGrams: 5000 },
    { slug: 'lamp', name: 'Lamp', price: '60.00', weightGrams: 5000 }
  ],
  coupons: [{ code: 'HALF', percent: 50 }],
  shipping: [{ zone: 'Home', countries: ['DE'], methods: [parcel] }],
  tax: [{ country: 'DE', region: null, class: 'standard', ratePercent: 19, name: 'VAT' }]
}
const { file } = readCatalogFile(JSON.stringify(catalog), { currency: 'EUR', timeZone: 'UTC' })
write(app.db, (tx) => {
  applyCatalogFile(tx, file, { keepStock: false }, app.clock.now())
  applyShipping(tx, file.shipping)
  applyTaxRates(tx, file.tax)
})

const items = (...slugs: string[]) => slugs.map((slug) => ({ productId: till.productId(slug), quantity: 1 }))

type Answered = { total: number; recurring: { amount: number; shipping: number; tax: number; from: string } | null }

/** What a quote says, what the order costs, and what its first renewal is charged and recorded as. */
async function lifeOf(slugs: string[], extra: object = {}) {
  till.sandbox.clearFaults()
  const body = { items: items(...slugs), shippingAddress: quay, shippingMethod: 'parcel', ...extra }
  const { data: quote } = await visitor.post<Answered>('/store/quote', body)
  const subscribeAgain = true
  const { id, sessionId } = await till.redirect({ slug: 'box', visitor, body: { ...body, subscribeAgain } })
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  await till.deliver()
  const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
  till.sandbox.renewSubscription(idOf(subscription) ?? '', 'paid')
  await till.deliver()
  const renewal = app.db.orm
    .select()
    .from(orders)
    .all()
    .find(({ renewalOf }) => renewalOf === id)
  const { data } = await visitor.get<{ subscriptions: (Answered & { id: number })[] }>('/me/subscriptions')
  return { quote, first: till.order(id), renewal, own: data.subscriptions[0] }
}

it('a renewal ships what renews: the parcel of the first order never recurs', async () => {
  const { quote, first, renewal, own } = await lifeOf(['box', 'kettle'])
  // 44.75 + 4.90 + 2.00 × 5.5 kg; then 24.75 + 4.90 + 2.00 × 0.5 kg, with 19 % in it.
  expect([quote.total, first.totalMinor]).toEqual([60.65, 6065])
  const recurring = { amount: 30.65, interval: 'month', shipping: 5.9, tax: 4.89 }
  expect(quote.recurring).toMatchObject(recurring)
  expect(quote.recurring?.from.slice(0, 13)).toBe(
    new Date(addInterval(app.clock.now(), 'month')).toISOString().slice(0, 13)
  )
  expect(renewal).toMatchObject({ totalMinor: 3065, shippingMinor: 590, taxMinor: 489, subtotalMinor: 2475 })
  expect(own?.recurring).toMatchObject(recurring)
})

it('a first parcel that ships free does not make the renewals free', async () => {
  const { quote, first, renewal } = await lifeOf(['box', 'lamp'])
  expect([quote.total, first.totalMinor, first.shippingMinor]).toEqual([84.75, 8475, 0])
  expect(quote.recurring).toMatchObject({ amount: 30.65, shipping: 5.9 })
  expect(renewal).toMatchObject({ totalMinor: 3065, shippingMinor: 590 })
})

it('a coupon counts for the first period, and added tax follows what renews', async () => {
  setSetting(app.db, 'tax.pricesIncludeTax', 'false', 0)
  const { quote, first, renewal } = await lifeOf(['box', 'kettle'], { couponCode: 'HALF' })
  // (22.37 or 22.38 + 15.90) × 1.19; then (24.75 + 5.90) × 1.19 = 36.47.
  expect(Math.round(quote.total * 100)).toBe(first.totalMinor)
  expect(quote.recurring).toMatchObject({ amount: 36.47, shipping: 5.9, tax: 5.82 })
  expect(renewal).toMatchObject({ totalMinor: 3647, shippingMinor: 590, taxMinor: 582 })
  setSetting(app.db, 'tax.pricesIncludeTax', 'true', 0)
})

it('a cart without a subscription has no recurring price', async () => {
  const body = { items: items('kettle'), shippingAddress: quay, shippingMethod: 'parcel' }
  expect((await visitor.post<Answered>('/store/quote', body)).data.recurring).toBeNull()
})

it('the receipt and the page of the order say what each renewal costs', async () => {
  const { first } = await lifeOf(['box', 'kettle'])
  const page = await fetch(new URL(`/checkout/done/${first.publicToken}`, till.shop.url))
  const text = await page.text()
  expect(text).toMatch(/Then €30\.65 every month, from \d+ \w+ \d{4}, until you end the subscription\./)
  const { closing } = receiptEmail(app, { orderId: first.id }, app.clock.now())
  expect(closing.join(' ')).toMatch(/Then €30\.65 every month, from \d+ \w+ \d{4}, until/)
})
