import type Stripe from 'stripe'
import { recordInvoice } from '../benefits/subscriptions.ts'
import { getOrder } from '../orders/find.ts'
import { payOrder } from '../orders/transition.ts'
import { insertRenewal } from '../orders/renewal-order.ts'
import { createAttempt, findAttemptByObject, getAttempt, updateAttempt } from './attempts.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import { idOf } from './gateway-state.ts'
import type { OwnInvoice } from './own-subscription.ts'
import type { AttemptRow } from './rows.ts'

/** Whether an invoice is money for another period: paid, and not the one that started the subscription. */
export function isPaidRenewal({ invoice }: OwnInvoice): boolean {
  return invoice.status === 'paid' && invoice.billing_reason !== 'subscription_create'
}

/**
 * Records a paid invoice as an order of its own, linked to the order that started the subscription, with the payment,
 * receipt and events of any paid order. An invoice that is already recorded changes nothing.
 *
 * @returns the attempt that represents the invoice's payment
 */
export function recordRenewal(unit: UnitOfWork, { invoice, subscription, attempt: first }: OwnInvoice): AttemptRow {
  const { tx, by, now } = unit
  const known = findAttemptByObject(tx, invoice.id)
  if (known !== undefined) return known
  const original = getOrder(tx, first.orderId)
  const currency = invoice.currency.toUpperCase()
  const order = insertRenewal(tx, original, { amountMinor: invoice.amount_paid, currency, by }, now)
  const { gateway, livemode } = first
  const { id } = createAttempt(tx, order, { gateway, kind: 'invoice', livemode }, now)
  const paid = { objectId: invoice.id, paymentIntentId: intentOf(invoice), gatewayStatus: 'paid' }
  updateAttempt(tx, id, { ...paid, outcome: 'paid', settledAt: now }, now)
  const periods = invoice.lines.data.map(({ period }) => period)
  recordInvoice(tx, {
    invoiceId: invoice.id,
    orderId: order.id,
    gatewayId: subscription.id,
    periodStart: Math.min(...periods.map(({ start }) => start), invoice.period_end) * 1000,
    periodEnd: Math.max(...periods.map(({ end }) => end), invoice.period_end) * 1000
  })
  payOrder(tx, order.id, { by, reason: `paid: ${invoice.id}` }, now)
  return getAttempt(tx, id)
}

function intentOf({ payments }: Stripe.Invoice): string | null {
  const paid = payments?.data.find(({ status }) => status === 'paid')
  return idOf(paid?.payment.payment_intent)
}
