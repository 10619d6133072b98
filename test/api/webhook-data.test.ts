import { expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../src/app.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { eventDetails } from '../../src/shop/customers/event-details.ts'
import { eventTypes } from '../../src/shop/events/event-types.ts'
import type { ShopEvents } from '../../src/shop/events/event-types.ts'
import { listEvents } from '../../src/shop/events/list-events.ts'
import type { PublicEvent } from '../../src/shop/events/list-events.ts'
import { writeMessage } from '../../src/shop/webhooks/signed-message.ts'
import { demoShop } from '../support/demo-shop.ts'
import { undescribedEvent } from '../support/described.ts'

const bodyOf = (event: PublicEvent): { type: string; data: Record<string, unknown> } =>
  JSON.parse(writeMessage(event, ['whsec_YWJj'], 0).body)

const referral = { referralId: 1, affiliateId: 1, orderId: 1, amountMinor: 100, currency: 'EUR' }
const user = { userId: 1 }
/** What does not happen in the demo shop. The compiler compares it with the type of what the shop emits. */
const others: Partial<ShopEvents> = {
  'account.verified': user,
  'account.marketing_changed': { ...user, marketingOptIn: 'yes' },
  'account.deactivated': user,
  'order.changed': { orderId: 1, fields: ['email'] },
  'gift_card.issued': { giftCardId: 1, amountMinor: 5000, currency: 'EUR', orderId: null },
  'gift_card.blocked': { giftCardId: 1 },
  'gift_card.unblocked': { giftCardId: 1 },
  'withdrawal.received': { declarationId: 1, orderId: 1, lines: [{ line: 1, name: 'Mug', quantity: 1 }] },
  'cancellation.received': { declarationId: 1, orderId: 1, isForCause: false },
  'order.refund_failed': { orderId: 1, amountMinor: 100, currency: 'EUR' },
  'order.return_expected': { orderId: 1, returnId: 1, lines: [{ line: 1, name: 'Mug', quantity: 1 }] },
  'order.returned': { orderId: 1, returnId: 1, lines: [{ line: 1, name: 'Mug', quantity: 1 }], exchangeId: null },
  'order.disputed': { orderId: 1, disputeId: 'dp_1', status: 'lost' },
  'order.shipped': { orderId: 1, shipmentId: 1, carrier: null, tracking: null, complete: true },
  'referral.credited': { referralId: 1, affiliateId: 1, orderId: 1, reason: 'the link was lost' },
  'referral.paid': { ...referral, payoutId: 1 },
  'payout.paid': { payoutId: 1, affiliateId: 1, amountMinor: 100, currency: 'EUR' },
  'payout.failed': { payoutId: 1, affiliateId: 1, amountMinor: 100, currency: 'EUR', reason: 'account closed' },
  'payout.adopted': { payoutId: 1, affiliateId: 1, amountMinor: 100, currency: 'EUR' },
  'affiliate.rejected': { affiliateId: 1 },
  'affiliate.changed': {
    affiliateId: 1,
    from: { code: 'mira', status: 'active' },
    to: { code: 'mira', status: 'inactive' }
  },
  'affiliate.rate_changed': {
    rateId: 1,
    affiliateId: null,
    productId: null,
    categoryId: 2,
    couponId: null,
    ratePercent: 5,
    from: '2026-01-01T00:00:00.000Z',
    to: null
  },
  'affiliate.coupon_added': { affiliateId: 1, couponId: 1, code: 'MIRA10' },
  'order.vat_id_checked': {
    orderId: 1,
    outcome: 'confirmed',
    accepted: true,
    consultation: 'WAPIAAAAYhX1jWsP',
    checkedAt: '2026-01-01T00:00:00.000Z'
  },
  'affiliate.coupon_removed': { affiliateId: 1, couponId: 1, code: 'MIRA10' },
  'affiliate.bonus': { affiliateId: 1, amountMinor: 100, currency: 'EUR', reason: 'thank you' },
  'setting.changed': { key: 'affiliates.rate', from: '10', to: '12' },
  'module.changed': { name: 'affiliates', enabled: false },
  'affiliate.terms_accepted': { affiliateId: 1, version: '1.0.0' },
  'subscription.renewed': { ...user, subscriptionId: 1, currentPeriodEnd: '2026-01-01T00:00:00.000Z' },
  'subscription.ended': { ...user, subscriptionId: 1 }
}

it('matches the API description for each event of a year of the demo shop, with and without full data', () => {
  const config = parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: demoShop() })
  const app = createApp(config, { database: 'migrated' })
  onTestFinished(() => app.close())
  const now = app.clock.now()
  const stored: PublicEvent[] = Object.keys(eventTypes).flatMap((type) => [...listEvents(app.db, { type, limit: 12 })])
  const added: PublicEvent[] = Object.entries(others).map(([type, payload]) => ({
    id: 1,
    type,
    payload: { ...payload },
    createdAt: now
  }))
  const all = [...stored, ...added]
  const details = all.map((event) => eventDetails(app, event, now))
  const full = all.map((event, index): PublicEvent => ({ ...event, payload: { ...event.payload, ...details[index] } }))
  expect([...all, ...full].flatMap((event) => undescribedEvent(bodyOf(event)))).toEqual([])
  expect(new Set(all.map(({ type }) => type))).toEqual(new Set(Object.keys(eventTypes)))
  const orders = details.flatMap(({ order }) => order ?? [])
  expect(orders.flatMap(({ lines }) => lines.map(({ sku }) => sku)).some((sku) => sku !== null)).toBe(true)
  const paid = full.find(({ type }) => type === 'order.paid')?.payload
  const withEmail = { email: expect.stringContaining('@') }
  expect(paid).toMatchObject({ order: { id: paid?.['orderId'], ...withEmail }, customer: withEmail })
  const gone = {
    id: 1,
    type: 'order.paid',
    payload: { orderId: 999_999, totalMinor: 1, currency: 'EUR' },
    createdAt: now
  }
  expect(eventDetails(app, gone, now)).toEqual({ order: null, customer: null })
  expect(eventDetails(app, { ...gone, type: 'affiliate.applied' }, now)).toEqual({})
})
