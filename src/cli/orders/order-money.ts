import type { ShopCommand, Work } from '../run.ts'
import { AppError } from '../../errors.ts'
import { formatMoney, toMajor, toMinor } from '../../platform/money.ts'
import { getOrder } from '../../shop/orders/find.ts'
import type { OrderRow } from '../../shop/orders/find.ts'
import { cancelUnpaidOrders, findUnpaidOrders, cancelOrder } from '../../shop/payments/end-hold.ts'
import {
  adoptPayment,
  describeLostPayment,
  getLostPayment,
  refundLostPayment,
  acceptPayment,
  describePayment,
  findUncountedPayment
} from '../../shop/payments/unexpected-payment.ts'
import { reasonInput } from '../../shop/orders/refunds/refund-lines.ts'
import type { WantedRefund } from '../../shop/orders/refunds/refund-lines.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { markPaid } from '../../shop/payments/attempts.ts'
import { isRefundOpen, planRefund, refundOrder } from '../../shop/payments/refund.ts'
import { countOf, parseAge, parseId } from '../terminal/arguments.ts'
import { answer, by, otherwiseReturned, parseLineQuantity } from './order-answer.ts'
import type { Answer } from '../terminal/output.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'

type SureOptions = { yes?: boolean }
type CancelOptions = SureOptions & { unpaid?: true; olderThan?: string; emailDomain?: string }
type PaidOptions = SureOptions & { payment?: string; on?: string }
type RefundOptions = SureOptions & {
  item?: string[]
  shipping?: string | true
  amount?: string
  /** `false` by --no-restock. */
  restock?: string[] | boolean
  reason?: string
  byHand?: boolean
  payment?: string
}

const yes = ['--yes', 'do not ask for confirmation'] as const

/** Adds the commands that record, return or give up money. */
export function defineMoney(group: ShopCommand): void {
  const paid = addCommand(
    group,
    'paid <id>',
    'record that the money has arrived: by transfer, in cash, or late',
    'orders paid 12 --on 2026-01-31'
  ).option('--payment <pi_…>', 'the payment at the gateway of an order that a restore lost and you have entered again')
  paid.option('--on <date>', 'the day on which the money arrived, in the time zone of the shop (default: today)')
  runs(paid.option(...yes), recordPayment)
  const cancel = addCommand(
    group,
    'cancel [id]',
    'cancel an order, or many unpaid orders: returns stock, coupons and benefits, but no money',
    'orders cancel --unpaid --older-than 1h --email-domain mail.example'
  )
    .option('--unpaid', 'cancel all unpaid orders instead of one')
    .option('--older-than <age>', 'with --unpaid: only orders of at least this age, such as 30m, 1h or 2d')
    .option('--email-domain <domain>', 'with --unpaid: only orders with an email of this domain')
  runs(cancel.option(...yes), cancelOneOrAll)
  const refund = addCommand(
    group,
    'refund [id]',
    'refund the rest of an order, or some of its lines, its shipping or an amount',
    'orders refund 12 --item 1:2 --shipping'
  )
    .option('--item <line:quantity...>', 'give back these quantities of these lines, by number')
    .option('--shipping [n]', 'give back the shipping, or this part of it')
    .option('--amount <n>', "refund this amount, in the order's currency: less than the lines cost, or no line at all")
    .option('--restock <line:quantity...>', 'put this back into the stock; what was never shipped otherwise')
    .option('--no-restock', 'put nothing back into the stock')
    .option('--reason <text>', 'why, for the history of the order')
    .option('--by-hand', 'only record that you returned the money yourself; ask no gateway')
    .option('--payment <pi_…>', 'refund the payment of an order that a restore lost, instead of an order')
  runs(refund.option(...yes), refundOne)
}

/** A payment that the gateway has is recorded as it was paid; without one, the money arrived by hand. */
async function recordPayment(work: Work<PaidOptions>, text: string): Promise<Answer> {
  const { app, now } = work
  const id = parseId(text)
  const { on } = work.options
  if (work.options.payment !== undefined && on !== undefined) throw datedByGateway()
  if (work.options.payment !== undefined) return adopt(work, id, work.options.payment)
  const payment = await findUncountedPayment(app, id)
  if (payment !== undefined && on !== undefined) throw datedByGateway()
  if (payment === undefined) {
    markPaid(app.db, id, by, now, on)
    return answer(app, id, { lines: [`Order ${id} is recorded as paid.`] })
  }
  const found = describePayment(app, payment)
  if (payment.wrong?.kind === 'amount')
    await confirmOrRefuse(work.terminal, `${found} Record it as the payment of this order?`, work.options)
  await acceptPayment(app, payment, by)
  return answer(app, id, { lines: [found] })
}

function datedByGateway(): AppError {
  return new AppError('USAGE', '--on is for money that arrived by hand: the gateway has dated this payment. Omit --on.')
}

async function adopt({ app, options, terminal }: Work<PaidOptions>, id: number, intentId: string): Promise<Answer> {
  const payment = await getLostPayment(app, intentId)
  const found = describeLostPayment(app, id, payment)
  if (payment.state.amountMinor !== getOrder(app.db, id).totalMinor)
    await confirmOrRefuse(terminal, `${found} Record it as the payment of this order?`, options)
  await adoptPayment(app, id, payment, by)
  return answer(app, id, { lines: [found, `Order ${id} is recorded as paid.`] })
}

async function cancelOneOrAll(work: Work<CancelOptions>, text: string | undefined): Promise<Answer> {
  const { app, options } = work
  if (options.unpaid === true && text === undefined) return cancelUnpaid(work)
  if (text === undefined) throw new AppError('USAGE', 'Give the number of an order, or --unpaid.')
  if (options.unpaid ?? options.olderThan ?? options.emailDomain)
    throw new AppError('USAGE', 'Give the number of an order or --unpaid, not both.')
  const id = parseId(text)
  const { currency, totalMinor } = getOrder(app.db, id)
  await confirmOrRefuse(work.terminal, `Cancel order ${id} of ${formatMoney(totalMinor, currency)}?`, options)
  await cancelOrder(app, id, by)
  return answer(app, id, { lines: [`Order ${id} is cancelled.`, ...owed(getOrder(app.db, id))] })
}

/** A cancellation moves no money. */
function owed({ id, paidAt, totalMinor, refundedMinor, currency }: OrderRow): string[] {
  const leftMinor = totalMinor - refundedMinor
  if (paidAt === null || leftMinor === 0) return []
  return [`The buyer has paid ${formatMoney(leftMinor, currency)}. Return it with "shopstead orders refund ${id}".`]
}

async function cancelUnpaid(work: Work<CancelOptions>): Promise<Answer> {
  const { app, now, options } = work
  const placedBefore = now - (options.olderThan === undefined ? 0 : parseAge('--older-than', options.olderThan))
  const emailDomain = options.emailDomain?.replace(/^@/, '').toLowerCase() ?? null
  const orderIds = findUnpaidOrders(app.db, { placedBefore, emailDomain })
  if (orderIds.length === 0) return { json: { cancelled: [], failed: [] }, human: 'No unpaid orders match.' }
  await confirmOrRefuse(work.terminal, `Cancel ${countOf(orderIds.length, 'unpaid order')}?`, options)
  const progress = showProgress(work)
  const report = await cancelUnpaidOrders(app, orderIds, by, (done) =>
    progress.step(`${done} of ${orderIds.length} orders cancelled`)
  )
  progress.done()
  const failed = report.failed.map(({ orderId, message }) => `order ${orderId} stays: ${message}`)
  return { json: report, human: [`${countOf(report.cancelled.length, 'order')} cancelled`, ...failed] }
}

async function refundOne(work: Work<RefundOptions>, text: string | undefined): Promise<Answer> {
  const { app, options, terminal } = work
  if (options.payment !== undefined && text === undefined) return refundLost(work, options.payment)
  if (text === undefined || options.payment !== undefined)
    throw new AppError('USAGE', 'Give the number of an order, or --payment with the payment of a lost order.')
  const id = parseId(text)
  const order = getOrder(app.db, id)
  const { currency } = order
  const wanted = parseRefund(options, currency)
  const byHand = options.byHand ?? false
  const plan = await planRefund(app, id, wanted, { byHand })
  const money = (minor: number): string => formatMoney(minor, plan.currency)
  const { giftCardMinor, byHandMinor } = plan
  const amount = money(plan.amountMinor)
  const byCard = giftCardMinor > 0 ? ` ${money(giftCardMinor)} of it goes back to the gift card.` : ''
  const byYou = byHandMinor > 0 ? ` You pay ${money(byHandMinor)} back yourself.` : ''
  const question = {
    gateway: `Refund ${amount} of order ${id}?${byCard}${byYou}`,
    gift_card: `Put ${money(giftCardMinor)} of order ${id} back on the gift card that paid it?${byYou}`,
    by_hand:
      plan.returnedMinor === null
        ? `Record ${amount} of order ${id} as refunded? No gateway has the payment: you pay it back yourself.`
        : `Record ${amount} of order ${id} as refunded by hand? The gateway has the payment and has returned ${money(plan.returnedMinor)} of it; without --by-hand it returns the money.`
  }
  await confirmOrRefuse(terminal, question[plan.way], options)
  await refundOrder(app, id, wanted, by, { byHand })
  const refund = { amount: toMajor(plan.amountMinor, plan.currency), currency: plan.currency, way: plan.way }
  const done = {
    gateway: isRefundOpen(app.db, id)
      ? [`The gateway has accepted the refund of ${amount} of order ${id}. The order shows it when it is finished.`]
      : [`Refunded ${amount} of order ${id}.`],
    gift_card: [],
    by_hand: [`${amount} of order ${id} is recorded as refunded.`]
  }
  return answer(app, id, { json: { refund }, lines: [...done[plan.way], ...otherwiseReturned(order, plan)] })
}

/** @throws AppError USAGE, VALIDATION_FAILED */
function parseRefund({ item, shipping, amount, restock, reason }: RefundOptions, currency: string): WantedRefund {
  return {
    items: item?.map((text) => parseLineQuantity('--item', text)),
    shipping: typeof shipping === 'string' ? toMinor(shipping, currency) : shipping === true ? 'all' : undefined,
    amountMinor: amount === undefined ? undefined : toMinor(amount, currency),
    restock: Array.isArray(restock)
      ? restock.map((text) => parseLineQuantity('--restock', text))
      : restock === false
        ? 'none'
        : undefined,
    reason: parseWith(reasonInput, { reason }).reason
  }
}

async function refundLost({ app, options, terminal }: Work<RefundOptions>, intentId: string): Promise<Answer> {
  const { amount: part, byHand, item, shipping, reason } = options
  if (part ?? byHand ?? item ?? shipping ?? reason)
    throw new AppError('USAGE', 'The payment of a lost order is refunded as a whole: give only --payment.')
  const payment = await getLostPayment(app, intentId)
  const { amountMinor, currency } = payment.state
  const amount = formatMoney(amountMinor, currency)
  await confirmOrRefuse(terminal, `Refund ${amount} of ${intentId}, whose order is lost?`, options)
  await refundLostPayment(app, payment, by)
  const refund = { payment: intentId, amount: toMajor(amountMinor, currency), currency, way: 'gateway' }
  return { json: { refund }, human: `Refunded ${amount} of ${intentId}.` }
}
