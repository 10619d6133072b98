import { isCurrency, toDecimalText } from '../../../platform/money.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { toIso } from '../../../platform/iso-time.ts'
import type { App } from '../../../app.ts'
import { AppError } from '../../../errors.ts'
import { getUserById } from '../../../shop/accounts/find.ts'
import { insertImportedSubscription } from '../../../shop/benefits/imported-benefits.ts'
import { addInterval } from '../../../shop/benefits/period.ts'
import { subscriptionsOfOrder } from '../../../shop/benefits/subscriptions.ts'
import { productUrl } from '../../../shop/catalog/product-url.ts'
import { productById } from '../../../shop/catalog/stored-product.ts'
import { movedFrom } from '../../../shop/moved/moved-rows.ts'
import { getOrder, itemsOf } from '../../../shop/orders/find.ts'
import { insertImportedOrder } from '../../../shop/orders/imported-order.ts'
import { readGatewayError, readyGateway } from '../../../shop/payments/gateway.ts'
import { firstChargeAt, takeOverSubscription } from '../../../shop/payments/take-over.ts'
import type { TakeOver } from '../../../shop/payments/take-over.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { WordPress } from './database.ts'
import { readOrders } from './order-rows.ts'
import type { SourceOrder } from './order-rows.ts'
import { toImported } from './orders.ts'
import { sourceOf } from './source.ts'
import { minorOf, utc } from './values.ts'

/** Moves the subscriptions of WooCommerce Subscriptions in. The old shop renews them until `finishSubscriptions`. */
export async function* moveSubscriptions(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  for await (const rows of readOrders(source, 'shop_subscription')) {
    await writeInBatches(move, rows, (tx, row) => moveSubscription(tx, row, move, tally))
    yield
  }
}

function moveSubscription(tx: Tx, row: SourceOrder, move: Move, tally: SubjectTally): void {
  const { id } = row
  if (move.moved.find(tx, 'subscription', id) !== undefined) return tally.know()
  const terms = termsOf(row, move.now)
  if (typeof terms === 'string') return tally.leave(terms, id)
  const order = toImported(tx, row, statusOf(row), move)
  const { userId } = order
  if (userId === null) return tally.leave('The account of the subscription did not arrive', id)
  const renewing = order.lines.filter(({ productId }) => productId !== null)
  if (renewing.length === 0) return tally.leave('The product of the subscription did not arrive', id)
  const grant = { kind: 'subscription' as const, interval: terms.interval, pro: false }
  const stored = insertImportedOrder(tx, {
    ...order,
    status: 'completed',
    totalMinor: 0,
    goodsTaxMinor: 0,
    shippingTaxMinor: 0,
    taxes: [],
    coupons: [],
    refunds: [],
    shipping: order.shipping && { ...order.shipping, amountMinor: 0 },
    renewalShippingMinor: order.shipping?.amountMinor ?? 0,
    paidAt: terms.startedAt,
    // What a renewal charges is the price of a unit; moving in charges nothing.
    lines: renewing.map((line) => ({ ...line, subtotalMinor: line.totalMinor, totalMinor: 0, grants: [grant] })),
    record: { ...order.record, number: `subscription ${order.record.number}`, fees: [] },
    reason: `moved in: subscription ${id} of the old shop`
  })
  const orderId = stored.row.id
  const { startedAt, currentPeriodEnd, cancelAtPeriodEnd, cancelledAt, interval } = terms
  for (const { id: orderItemId, productId } of itemsOf(tx, orderId))
    insertImportedSubscription(tx, {
      userId,
      productId,
      interval,
      isPro: false,
      startedAt,
      currentPeriodEnd,
      cancelAtPeriodEnd,
      cancelledAt,
      pastDueSince: null,
      orderId,
      orderItemId
    })
  move.moved.remember(tx, 'subscription', id, orderId, move.now)
  tally.arrive()
  if (statusOf(row) === 'on-hold') tally.change('A subscription on hold arrives as expired', id)
  const amountMinor = amountOf(row)
  const currency = currencyOf(row)
  tally.add(`renewals ${statusOf(row)}`, currency, { foundMinor: amountMinor, arrivedMinor: amountMinor })
}

type Terms = {
  interval: 'month' | 'year'
  startedAt: number
  currentPeriodEnd: number
  cancelAtPeriodEnd: boolean
  cancelledAt: number | null
}

const statusOf = ({ status }: SourceOrder): string => status.replace(/^wc-/, '')
const currencyOf = ({ meta }: SourceOrder): string => meta.get('_order_currency') ?? ''
const amountOf = (row: SourceOrder): number => Math.max(0, minorOf(row.meta.get('_order_total') ?? '', currencyOf(row)))
const dateOf = ({ meta }: SourceOrder, name: string): number | null => utc(meta.get(`_schedule_${name}`) ?? '')

/** The term of a subscription here, or why it cannot be one. */
function termsOf(row: SourceOrder, now: number): Terms | string {
  const status = statusOf(row)
  const interval = intervalOf(row)
  const [nextAt, endsAt] = [dateOf(row, 'next_payment'), dateOf(row, 'end')]
  if (status === 'trash') return 'The subscription is in the trash'
  if (status === 'pending') return 'The subscription was never paid'
  if (!['active', 'on-hold', 'pending-cancel', 'cancelled', 'expired'].includes(status))
    return `The status ${status} is unknown`
  if (interval === undefined) return 'Subscriptions renew each month or each year here'
  if (!isCurrency(currencyOf(row))) return 'The currency of the subscription is unknown'
  const startedAt = dateOf(row, 'start') ?? utc(row.createdAt) ?? now
  const paidUntil = nextAt ?? endsAt
  if (paidUntil === null) return 'The subscription has neither a next date nor an end'
  const isOver = status === 'cancelled' || status === 'expired'
  return {
    interval,
    startedAt,
    // The old shop has stopped one on hold.
    currentPeriodEnd: status === 'on-hold' ? Math.min(paidUntil, now) : paidUntil,
    cancelAtPeriodEnd: status === 'pending-cancel',
    cancelledAt: isOver ? (dateOf(row, 'cancelled') ?? endsAt ?? now) : null
  }
}

function intervalOf({ meta }: SourceOrder): 'month' | 'year' | undefined {
  const period = meta.get('_billing_period')
  if ((meta.get('_billing_interval') ?? '1') !== '1') return undefined
  return period === 'month' || period === 'year' ? period : undefined
}

/** What becomes of the renewals of a running subscription. */
export type Finished = {
  /** As the old shop numbers it. */
  id: string
  email: string | null
  /** What each renewal charges, as decimal text. */
  amount: string
  currency: string
  /** `month`, `year` or another rhythm, such as `2 week`. */
  every: string
  /** When the next renewal is charged; null if the old shop names no date. */
  nextAt: string | null
  state: 'planned' | 'done' | 'before' | 'impossible'
  /** Why it is impossible, and where the customer subscribes with a card instead. */
  why: string | null
  link: string | null
}

/**
 * Takes the renewals of all running subscriptions over: from now on Stripe charges them for this shop, on their old dates and
 * with the payment methods that the old shop charged. Call it when the old shop is off, or both charge. It can be repeated.
 *
 * @param options.isDryRun only lists them
 * @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED; CONFLICT when nothing moved in from this source
 */
export async function finishSubscriptions(
  app: App,
  source: WordPress,
  options: { isDryRun: boolean; onStep: (text: string) => void }
): Promise<Finished[]> {
  const gateway = readyGateway(app)
  const moved = movedFrom(await sourceOf(source))
  if (moved.count(app.db, 'customer') === 0)
    throw new AppError('CONFLICT', 'Nothing moved in from this shop yet. Run "shopstead import wordpress" first.')
  const finished: Finished[] = []
  for await (const rows of readOrders(source, 'shop_subscription'))
    for (const row of rows.filter((each) => statusOf(each) === 'active')) {
      const orderId = moved.find(app.db, 'subscription', row.id)
      const plan = planOf(app, row, orderId)
      options.onStep(`subscription ${row.id}`)
      finished.push(await finishOne(plan))
    }
  return finished

  async function finishOne({ view, terms }: Plan): Promise<Finished> {
    if (terms === undefined || options.isDryRun) return view
    try {
      await takeOverSubscription(app, gateway, terms)
      return { ...view, state: 'done' }
    } catch (error) {
      const { error: refusal, answered } = readGatewayError(error)
      // Without an answer the rest would fail, too; a second run goes on here.
      if (!answered) throw error
      return {
        ...view,
        state: 'impossible',
        why: `Stripe refused it: ${refusal.message || refusal.code || refusal.type}`
      }
    }
  }
}

type Plan = { view: Finished; terms?: TakeOver }

function planOf(app: App, row: SourceOrder, orderId: number | undefined): Plan {
  const { db } = app
  const { id, meta } = row
  const [interval, nextAt, currency] = [intervalOf(row), dateOf(row, 'next_payment'), currencyOf(row)]
  const order = orderId === undefined ? undefined : getOrder(db, orderId)
  const now = app.clock.now()
  const [line] = order === undefined ? [] : itemsOf(db, order.id)
  const product = line && productById(db, line.productId)
  const base: Finished = {
    id,
    email: order?.userId == null ? (meta.get('_billing_email') ?? null) : getUserById(db, order.userId).email,
    amount: isCurrency(currency) ? toDecimalText(amountOf(row), currency) : (meta.get('_order_total') ?? ''),
    currency,
    every: interval ?? `${meta.get('_billing_interval') ?? ''} ${meta.get('_billing_period') ?? ''}`.trim(),
    nextAt: nextAt === null ? null : toIso(firstChargeAt({ nextAt }, now)),
    state: 'planned',
    why: null,
    link: null
  }
  const link = product === undefined ? null : (product.url ?? productUrl(app)(product.slug))
  const impossible = (why: string): Plan => ({ view: { ...base, state: 'impossible', why, link } })
  const customer = meta.get('_stripe_customer_id') ?? ''
  const paymentMethod = meta.get('_stripe_source_id') ?? ''
  if (interval === undefined) return impossible('Subscriptions renew each month or each year here')
  if (order === undefined) return impossible('It did not move in; see the report of the import')
  if (nextAt === null) return impossible('It has no next date')
  if (subscriptionsOfOrder(db, order.id).some(({ gatewayId }) => gatewayId !== null))
    return { view: { ...base, state: 'before' } }
  if (
    meta.get('_requires_manual_renewal') === 'true' ||
    !/^cus_\w+$/.test(customer) ||
    !/^(?:pm|src|card)_\w+$/.test(paymentMethod)
  )
    return impossible('It has no payment method at Stripe')
  if (nextAt > addInterval(now, interval, 1)) return impossible('Its next date is more than one period away')
  const endsAt = dateOf(row, 'end')
  const terms = { customer, paymentMethod, amountMinor: amountOf(row), currency, interval, nextAt, endsAt }
  return { view: base, terms: { ...terms, orderId: order.id, name: line?.name ?? `Subscription ${id}` } }
}
