import { write } from '../../../src/platform/db/database.ts'
import { createEmailToken } from '../../../src/shop/accounts/email-tokens.ts'
import { users } from '../../../src/shop/accounts/schema.ts'
import { affiliates } from '../../../src/shop/affiliates/schema.ts'
import { recordInvoice } from '../../../src/shop/benefits/subscriptions.ts'
import { declarations } from '../../../src/shop/declarations/schema.ts'
import { issueByOperator } from '../../../src/shop/gift-cards/issue.ts'
import { invite } from '../../../src/shop/desk/people.ts'
import { queueMail } from '../../../src/shop/mail/queue.ts'
import type { MailData, MailTemplate } from '../../../src/shop/mail/queue.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { getOrder, historyOf } from '../../../src/shop/orders/find.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { orderChanges, orderItems, orders } from '../../../src/shop/orders/schema.ts'
import type { OrderStatus } from '../../../src/shop/orders/states.ts'
import { paymentWarnings } from '../../../src/shop/payments/schema.ts'
import { creditMissedOrder, giveBonus } from '../../../src/shop/payouts/by-hand.ts'
import { failPayout } from '../../../src/shop/payouts/fail.ts'
import { payPayouts } from '../../../src/shop/payouts/pay.ts'
import { expectReturn } from '../../../src/shop/shipments/returns.ts'
import { shipmentsOf } from '../../../src/shop/shipments/find.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { setSetting, setting } from '../../../src/shop/settings/settings.ts'
import { eq } from 'drizzle-orm'
import { makeUser } from '../../support/people.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { couponLine, draft, line, makeAffiliate, makeCoupon, makeProduct, move, place } from '../orders/support.ts'

const dayMs = 86_400_000
const longName = `A ${'very'.repeat(39)} long lantern`

/** One of each email, or more of a template with several texts, by the name of its picture. */
export type EveryEmail = { [T in MailTemplate]: Record<string, MailData[T]> }

/**
 * Fills a shop with orders in the states that its emails are about, and queues every email. The emails that the moves
 * themselves queue are removed. Returns the names of the emails in the order of their queueing.
 */
export async function queueEveryEmail(shop: TestShop): Promise<string[]> {
  const { db, clock } = shop
  const now = clock.now()
  setSetting(db, 'shop.name', 'Tin Lantern', now)
  setSetting(db, 'shop.legal', 'Tin Lantern Ltd, Quay 7, 20457 Hamburg, Germany\nVAT id DE123456789', now)
  setSetting(
    db,
    'payments.manualInstructions',
    'Tin Lantern Ltd\nIBAN DE00 1234 5678 9012\nReference: the order number',
    now
  )
  const everything = await fill(shop)
  return write(db, (tx) => {
    tx.orm.delete(mails).run()
    return Object.entries(everything).flatMap(([template, variants]) =>
      Object.entries(variants).map(([name, data]) => {
        queueMail(tx, { template: template as MailTemplate, recipient: 'lena@shop.example', data }, now)
        return name
      })
    )
  })
}

async function fill(shop: TestShop): Promise<EveryEmail> {
  const { db, keys, clock } = shop
  const now = clock.now()
  const { id: userId } = await makeUser(shop, { passwordHash: 'none' })
  const token = (kind: 'verify' | 'reset' | 'email' | 'undo') => {
    const newEmail = kind === 'email' || kind === 'undo' ? 'lena.new@shop.example' : null
    return write(db, (tx) => createEmailToken(tx, keys, { kind, userId, newEmail }, now)).id
  }
  const affiliateId = makeAffiliate(db, userId).id
  db.orm.update(affiliates).set({ code: 'mira' }).where(eq(affiliates.id, affiliateId)).run()
  const order = orderMaker(shop)
  const paid = order('processing')
  const partly = order('processing')
  const failed = order('pending', 'failed')
  const renewal = order('completed')
  write(db, (tx) => {
    const period = { periodStart: now, periodEnd: now + 30 * dayMs }
    recordInvoice(tx, { invoiceId: 'in_1', orderId: renewal.id, gatewayId: 'sub_1', ...period })
  })
  db.orm.update(orders).set({ renewalOf: paid.id }).where(eq(orders.id, renewal.id)).run()
  db.orm.update(users).set({ dormantMailAt: now }).where(eq(users.id, userId)).run()
  const claimed = order('pending')
  const membership = { kind: 'membership', module: 'A', plan: 'gold', period: null } as const
  db.orm
    .update(orderItems)
    .set({ grants: [membership] })
    .where(eq(orderItems.orderId, claimed.id))
    .run()
  move(db, claimed.id, 'completed', {}, now)
  const referralIds = [creditMissedOrder(db, paid.id, { ref: 'mira', reason: 'The link was lost' }, now).id]
  giveBonus(db, 'mira', { amountMinor: 2500, reason: 'Thank you for the film' }, now)
  const payoutId = payPayouts(db, { by: 'lena', reference: 'SEPA 7' }, now)[0]?.payout.id ?? 0
  failPayout(db, payoutId, { reason: 'The account is closed', by: 'lena' }, now)
  const refund = { orderId: paid.id, amountMinor: 1250 }
  const failure = {
    orderId: paid.id,
    amountMinor: 900,
    currency: 'EUR',
    payUrl: 'https://invoice.example/i/acct_1/test'
  }
  const declared = (kind: 'withdrawal' | 'cancellation', orderId: number | null): { declarationId: number } => {
    const person = { name: 'Ada Quill', email: 'ada@example.com', emailKey: 'ada@example.com' }
    const of = {
      orderId,
      contract: String(orderId ?? 4711),
      itemIds: null,
      message: null,
      language: setting(db, 'storefront.language')
    }
    const row = {
      kind,
      ...person,
      ...of,
      isForCause: false,
      wantedEnd: null,
      endsAt: kind === 'cancellation' ? now : null
    }
    return {
      declarationId: db.orm
        .insert(declarations)
        .values({ ...row, receivedAt: now })
        .returning()
        .get().id
    }
  }
  return {
    verify_email: { 'verify-email': { userId, tokenId: token('verify') } },
    reset_password: { 'reset-password': { userId, tokenId: token('reset') } },
    confirm_email: { 'confirm-email': { userId, tokenId: token('email') } },
    email_changed: {
      'email-change-requested': { userId, step: 'requested' },
      'email-changed': { userId, step: 'done', tokenId: token('undo') },
      'email-changed-by-shop': { userId, step: 'done' }
    },
    account_dormant: { 'account-dormant': { userId } },
    password_changed: { 'password-changed': { userId, removed: ['address', 'billingEmail', 'emailChange'] } },
    order_received: {
      'order-received-transfer': { orderId: order('on-hold').id, waitsFor: 'transfer' },
      'order-received-bank': { orderId: order().id, waitsFor: 'bank' },
      'order-received-shop': { orderId: inQuestion(shop, order('on-hold')).id, waitsFor: 'shop' }
    },
    order_receipt: { 'order-receipt': { orderId: paid.id }, 'order-receipt-renewal': { orderId: renewal.id } },
    claim_order: { 'claim-order': { orderId: claimed.id } },
    end_subscription: { 'end-subscription': { orderId: paid.id } },
    mailbox_code: { 'mailbox-code': {} },
    desk_invitation: {
      'desk-invitation': { invitationId: invite(shop, { email: 'anna@shop.example', role: 'owner' }, now).id }
    },
    order_shipped: {
      'order-shipped': { orderId: paid.id, shipmentId: ship(shop, paid.id), isPart: false },
      'order-shipped-part': { orderId: partly.id, shipmentId: ship(shop, partly.id, 1), isPart: true }
    },
    payment_failed: { 'payment-failed': { orderId: failed.id, moveId: historyOf(db, failed.id).at(-1)?.id ?? 0 } },
    order_changed: { 'order-changed': change(shop, paid.id) },
    change_dropped: { 'change-dropped': { orderId: paid.id, additionId: partly.id } },
    return_expected: { 'return-expected': sendBack(shop, partly.id) },
    order_refunded: { 'order-refunded': refund },
    refund_failed: { 'refund-failed': refund },
    payment_link: { 'payment-link': { orderId: order().id } },
    payment_reminder: { 'payment-reminder': { orderId: order('on-hold').id, endsAt: now + dayMs } },
    renewal_failed: { 'renewal-failed': { ...failure, nextTryAt: now + 3 * dayMs } },
    subscription_cancelled: { 'subscription-cancelled': { orderId: paid.id } },
    subscription_ended: { 'subscription-ended': { orderId: paid.id } },
    declaration_received: {
      'withdrawal-received': declared('withdrawal', paid.id),
      'withdrawal-received-unknown': declared('withdrawal', null),
      'cancellation-received': declared('cancellation', paid.id)
    },
    gift_card: {
      'gift-card': {
        giftCardId: issueByOperator(
          db,
          { amount: 50, reason: 'raffle', to: 'lena@shop.example', message: 'Happy birthday!\nYour aunt' },
          now
        ).card.id
      }
    },
    affiliate_decision: {
      'affiliate-approved': { affiliateId, decision: 'approve' },
      'affiliate-rejected': { affiliateId, decision: 'reject' },
      'affiliate-deactivated': { affiliateId, decision: 'deactivate' }
    },
    affiliate_referrals: {
      'affiliate-referrals-accepted': { affiliateId, referralIds, decision: 'accepted', reason: null },
      'affiliate-referrals-rejected': {
        affiliateId,
        referralIds,
        decision: 'rejected',
        reason: 'A colleague of yours'
      },
      'affiliate-referrals-credited': { affiliateId, referralIds, decision: 'credited', reason: 'The link was lost' }
    },
    affiliate_rate: { 'affiliate-rate': { affiliateId, rateBps: 1250, from: Date.UTC(2027, 0, 1) } },
    affiliate_bonus: {
      'affiliate-bonus': { affiliateId, amountMinor: 2500, currency: 'EUR', reason: 'Thank you for the film' },
      'affiliate-bonus-taken': { affiliateId, amountMinor: -500, currency: 'EUR', reason: 'It was added twice' }
    },
    affiliate_payout: {
      'affiliate-payout': { affiliateId, payoutId, step: 'paid' },
      'affiliate-payout-failed': { affiliateId, payoutId, step: 'failed' }
    },
    shop_new_order: {
      'shop-new-order': { orderId: paid.id },
      'shop-new-order-transfer': { orderId: order('on-hold').id }
    },
    shop_payment_warning: { 'shop-payment-warning': { warningId: warn(shop, paid.id) } }
  }
}

/** Orders of different buyers, because an email about an unpaid order depends on what else its buyer has ordered. */
function orderMaker({ db, clock }: TestShop): (...states: OrderStatus[]) => OrderRow {
  const products = [makeProduct(db), makeProduct(db, { name: longName })] as const
  const coupon = makeCoupon(db, { code: 'WELCOME10' })
  let made = 0
  return (...states) => {
    made += 1
    const lines = [
      line(products[0], { quantity: 2, discountMinor: 250 }),
      line(products[1], { name: longName, unitPriceMinor: 1_234_567 })
    ]
    const changes = {
      email: `lena-${made}@shop.example`,
      contact: { firstName: 'Lena', lastName: 'Brandt' },
      shippingAddress: {
        company: 'Brandt & Daughters',
        address1: 'Quay 7',
        postcode: '20457',
        city: 'Hamburg',
        country: 'DE'
      },
      billingAddress: { address1: '12 Elm Street', city: 'Springfield', state: 'IL', postcode: '62701', country: 'US' },
      coupons: [couponLine(coupon, { discountMinor: 250 })]
    }
    const placed = place(db, draft(lines, changes), clock.now())
    return states.reduce(
      (order, state) => (state === 'pending' ? order : move(db, order.id, state, {}, clock.now())),
      placed
    )
  }
}

/** An operator has corrected the address of an order. */
function change({ db, clock }: TestShop, orderId: number): { orderId: number; changeId: number } {
  const { shippingAddress: shipTo } = getOrder(db, orderId)
  if (shipTo === null) throw new Error('the order has no address')
  const before = { phone: '+49 40 1234', shipTo, shippingMethod: 'Parcel' }
  const after = {
    email: 'lena@shop.example',
    shipTo: { ...shipTo, address1: 'Quay 8' },
    lines: [{ name: longName, quantity: 2 }]
  }
  const row = { orderId, before, after, by: 'operator', at: clock.now() }
  const { id: changeId } = db.orm.insert(orderChanges).values(row).returning().get()
  return { orderId, changeId }
}

/** A part of the order has been shipped, and is to come back. */
function sendBack({ db, clock }: TestShop, orderId: number): { orderId: number; returnId: number } {
  const wanted = { lines: [{ line: 1, quantity: 1 }], exchange: [], askedBy: 'operator', by: 'operator' } as const
  const { id } = write(db, (tx) => expectReturn(tx, getOrder(tx, orderId), wanted, clock.now()))
  return { orderId, returnId: id }
}

/** As a payment leaves it that arrives after the stock is gone. */
function inQuestion({ db, clock }: TestShop, { id }: OrderRow): OrderRow {
  return db.orm.update(orders).set({ paidAt: clock.now() }).where(eq(orders.id, id)).returning().get()
}

function ship({ db, clock }: TestShop, orderId: number, quantity?: number): number {
  const items = quantity === undefined ? null : [{ line: 1, quantity }]
  const shipment = { carrier: 'DHL', tracking: '00340434161094042557', url: null, items }
  shipOrder(db, orderId, shipment, 'test', clock.now())
  return shipmentsOf(db, orderId).at(-1)?.id ?? 0
}

function warn({ db, clock }: TestShop, orderId: number): number {
  const rows = [
    { kind: 'paid_twice', objectId: 'pi_1', message: `Order ${orderId} was paid twice; the second payment is pi_1.` },
    { kind: 'dispute', objectId: 'dp_1', message: `The buyer's bank disputes the payment of order ${orderId}.` }
  ]
  const stored = rows.map((row) =>
    db.orm
      .insert(paymentWarnings)
      .values({ ...row, orderId, createdAt: clock.now() })
      .returning()
      .get()
  )
  return Math.min(...stored.map(({ id }) => id))
}
