import type Stripe from 'stripe'
import type { Ledger } from '../../src/sandbox/pages/controls.ts'
import { idOf } from '../../src/sandbox/store/ids.ts'
import { wrongTotals } from '../support/wrong-totals.ts'
import { readBooks } from './books.ts'
import type { Books, OrderBook, RefundBook } from './books.ts'
import type { MoneyShop } from './money-shop.ts'

/** What was compared, and where the gateway's ledger and the shop's books differ. */
export type Comparison = { charges: number; refunds: number; disputes: number; violations: string[] }

type Sides = { ledger: Ledger; books: Books; isNew: (intent: string | null) => boolean }

/**
 * Compares the gateway's ledger with the shop's books: every charge is one paid order, every refund and every lost
 * dispute is in its order, every open dispute and every promised refund that failed is a warning, subscriptions agree,
 * and so do the totals of commissions. Call it when the shop has heard of everything.
 *
 * @param before the ids of the charges that are not compared
 */
export function compareLedger({ app, sandbox }: MoneyShop, before: ReadonlySet<string> = new Set()): Comparison {
  const ledger = sandbox.ledger()
  const ofOthers = new Set(ledger.charges.filter(({ id }) => before.has(id)).map((charge) => intentOf(charge)))
  const isNew = (intent: string | null): boolean => !ofOthers.has(intent)
  const sides: Sides = { ledger, books: readBooks(app), isNew }
  const charges = ledger.charges.filter((charge) => charge.status === 'succeeded' && !before.has(charge.id))
  const ids = new Set(charges.map(({ id }) => id))
  return {
    charges: charges.length,
    refunds: ledger.refunds.filter((refund) => ids.has(idOf(refund.charge) ?? '')).length,
    disputes: ledger.disputes.filter((dispute) => ids.has(idOf(dispute.charge) ?? '')).length,
    violations: [
      ...charges.flatMap((charge) => wrongCharge(sides, charge)),
      ...inventedPayments(sides, charges),
      ...unfinishedRefunds(sides, charges),
      ...wrongDisputes(sides, ids),
      ...falseAlarms(sides),
      ...ledger.subscriptions.flatMap((subscription) => wrongSubscription(sides, subscription, ids)),
      ...wrongTotals(app.db.sqlite)
    ]
  }
}

function wrongCharge({ ledger, books }: Sides, charge: Stripe.Charge): string[] {
  const orders = books.paid.filter(({ intent }) => intent === intentOf(charge))
  const [order] = orders
  if (order === undefined) return [`${charge.id}: charged, but no order`]
  const violations = orders.length > 1 ? [`${charge.id}: one charge pays ${orders.length} orders`] : []
  if (order.totalMinor !== charge.amount)
    violations.push(`order ${order.id} is of ${order.totalMinor}, but ${charge.amount} was charged`)
  const returned = Math.min(returnedMinor(ledger, charge), charge.amount)
  if (order.refundedMinor !== returned)
    violations.push(`order ${order.id} counts ${order.refundedMinor} as refunded, but ${returned} went back`)
  return [...violations, ...wrongStatus(ledger, charge, order)]
}

/** An order whose refund failed later stays refunded, because the shop still owes the money. */
function wrongStatus(ledger: Ledger, charge: Stripe.Charge, order: OrderBook): string[] {
  const isReturned = order.refundedMinor === order.totalMinor
  const hasFailed = refundsOf(ledger, charge).some(({ status }) => status === 'failed')
  if (isReturned && order.status !== 'refunded') return [`order ${order.id} was returned, but is ${order.status}`]
  if (!isReturned && order.status === 'refunded' && !hasFailed)
    return [`order ${order.id} is refunded, but was not returned in full`]
  const isDisputed = ledger.disputes.some((dispute) => idOf(dispute.charge) === charge.id && isOpen(dispute))
  if (!isReturned && !isDisputed && order.status === 'on-hold')
    return [`order ${order.id} is on hold, but no dispute is open`]
  return []
}

function inventedPayments({ books, isNew }: Sides, charges: readonly Stripe.Charge[]): string[] {
  const charged = new Set(charges.map((charge) => intentOf(charge)))
  return books.paid
    .filter(({ intent }) => isNew(intent) && !charged.has(intent))
    .map(({ id }) => `order ${id} is paid, but was never charged`)
}

/** Money that a refund or a lost dispute took from the shop. */
function returnedMinor(ledger: Ledger, charge: Stripe.Charge): number {
  const refunded = refundsOf(ledger, charge).filter(({ status }) => status === 'succeeded')
  const lost = ledger.disputes.filter((dispute) => idOf(dispute.charge) === charge.id && dispute.status === 'lost')
  return [...refunded, ...lost].reduce((sum, { amount }) => sum + amount, 0)
}

/** A refund that the shop promised is done, or the gateway refuses it and a warning says so. */
function unfinishedRefunds({ ledger, books }: Sides, charges: readonly Stripe.Charge[]): string[] {
  const isWarned = (id: string): boolean =>
    books.warnings.some(({ kind, objectId }) => kind === 'refund_failed' && objectId === id)
  const asked = charges.flatMap((charge) => refundsOf(ledger, charge)).filter((refund) => keyOf(refund) !== null)
  const failed = asked.filter(({ id, status }) => status === 'failed' && !isWarned(id))
  const living = asked.filter(({ status }) => status !== 'failed')
  const twice = living.filter((refund, at) => living.findIndex((other) => keyOf(other) === keyOf(refund)) !== at)
  const open = books.refunds.filter(({ state }) => state === 'requested')
  const lost = books.refunds.filter((row) => isGivenUp(row, asked, charges))
  return [
    ...open.map(({ orderId }) => `a refund of order ${orderId} was promised, but never finished`),
    ...lost.map(({ orderId }) => `a refund of order ${orderId} was given up, but the gateway would make it`),
    ...failed.map(({ id }) => `${id}: failed without a warning`),
    ...twice.map(({ id }) => `${id}: the same refund was made twice`)
  ]
}

/** Whether a refund ended without a word of the gateway, which makes refunds of all but disputed charges. */
function isGivenUp(row: RefundBook, asked: readonly Stripe.Refund[], charges: readonly Stripe.Charge[]): boolean {
  if (row.state !== 'failed' || asked.some((refund) => keyOf(refund) === row.gatewayKey)) return false
  const charge = charges.find((each) => intentOf(each) === row.intent)
  return charge !== undefined && !charge.disputed && charge.amount - charge.amount_refunded >= row.amountMinor
}

function wrongDisputes({ ledger, books }: Sides, charges: ReadonlySet<string>): string[] {
  const disputes = ledger.disputes.filter((dispute) => charges.has(idOf(dispute.charge) ?? ''))
  return disputes.flatMap((dispute) => {
    const warning = books.warnings.find(({ kind, objectId }) => kind === 'dispute' && objectId === dispute.id)
    const isWarned = warning?.isOpen === 1
    if (isWarned === isOpen(dispute)) return []
    return [`${dispute.id}: is ${dispute.status}, but its warning is ${isWarned ? 'open' : 'not open'}`]
  })
}

/** Every warning is about a dispute or a refund of the shop's own orders, and not about a payment of other software. */
function falseAlarms({ ledger, books }: Sides): string[] {
  const paid = new Set(books.paid.map(({ intent }) => intent))
  const own = [...ledger.disputes, ...ledger.refunds].filter(({ payment_intent: intent }) =>
    paid.has(idOf(intent) ?? '')
  )
  const known = new Set([...books.refunds.map(({ gatewayKey }) => gatewayKey), ...own.map(({ id }) => id)])
  return books.warnings
    .filter(({ objectId, isOpen: open }) => open === 1 && !known.has(objectId))
    .map(({ kind, objectId }) => `${objectId}: an unexpected warning (${kind})`)
}

function wrongSubscription(sides: Sides, subscription: Stripe.Subscription, charges: ReadonlySet<string>): string[] {
  const { id, status } = subscription
  const { books, ledger } = sides
  const paid = paidInvoices(ledger, id)
  const newest = paid.at(-1)
  const charge = ledger.charges.find((each) => intentOf(each) === newest?.intent)
  if (newest === undefined || charge === undefined || !charges.has(charge.id)) return []
  const row = books.subscriptions.find(({ gatewayId }) => gatewayId === id)
  if (row === undefined) return [`${id}: is paid, but gave nothing`]
  if (status === 'canceled') {
    if (row.cancelledAt === null) return [`${id}: has ended, but not in the shop`]
    return books.ended.has(id) ? [] : [`${id}: has ended, but the shop would end it again`]
  }
  if (returnedMinor(ledger, charge) >= charge.amount) return [`${id}: its period was returned, but it renews`]
  if (row.cancelledAt !== null) return [`${id}: is ${status}, but has ended in the shop`]
  const violations: string[] = []
  const [item] = subscription.items.data
  const isLate = status === 'past_due'
  const end = (isLate ? newest.periodEnd : (item?.current_period_end ?? 0)) * 1000
  if (row.currentPeriodEnd !== end)
    violations.push(`${id}: is paid until ${date(end)}, but ${date(row.currentPeriodEnd)} in the shop`)
  if ((row.pastDueSince !== null) !== isLate)
    violations.push(`${id}: is ${status}, but past due since ${row.pastDueSince}`)
  const endsSoon = subscription.cancel_at !== null && subscription.cancel_at <= (item?.current_period_end ?? 0)
  if ((row.cancelAtPeriodEnd === 1) !== endsSoon)
    violations.push(`${id}: ends at ${subscription.cancel_at}, but cancelAtPeriodEnd is ${row.cancelAtPeriodEnd}`)
  return violations
}

/** The paid invoices of a subscription, oldest first, each with the intent that paid it. */
function paidInvoices(ledger: Ledger, subscription: string): { intent: string | null; periodEnd: number }[] {
  return ledger.invoices
    .filter(
      ({ parent, status }) => status === 'paid' && idOf(parent?.subscription_details?.subscription) === subscription
    )
    .map(({ id, period_end: periodEnd }) => {
      const payment = ledger.payments.find(({ invoice, status }) => idOf(invoice) === id && status === 'paid')
      return { intent: idOf(payment?.payment.payment_intent), periodEnd }
    })
}

const isOpen = ({ status }: Stripe.Dispute): boolean => status === 'needs_response'
const intentOf = (charge: Stripe.Charge): string | null => idOf(charge.payment_intent)
const keyOf = ({ metadata }: Stripe.Refund): string | null => metadata?.['shopstead_refund'] ?? null
const date = (ms: number): string => new Date(ms).toISOString()

function refundsOf({ refunds }: Ledger, charge: Stripe.Charge): Stripe.Refund[] {
  return refunds.filter((refund) => idOf(refund.charge) === charge.id)
}
