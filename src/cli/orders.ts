import type { ShopCommand } from './command.ts'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { parseWith } from '../platform/http/zod-errors.ts'
import { formatMoney, toMinor } from '../platform/money.ts'
import { showOrder } from '../shop/customers/admin-orders.ts'
import type { AdminOrder } from '../shop/customers/admin-orders.ts'
import { completeOrder } from '../shop/orders/complete-order.ts'
import { explainOrder } from '../shop/orders/explain.ts'
import { getOrder } from '../shop/orders/find.ts'
import { openAttempts } from '../shop/payments/attempts.ts'
import { markPaid } from '../shop/payments/mark-paid.ts'
import { cancelOrders, findUnpaidOrders } from '../shop/payments/cancel-unpaid.ts'
import { cancelOrder } from '../shop/payments/end-hold.ts'
import { acceptPayment, describePayment, findUncountedPayment } from '../shop/payments/uncounted-payment.ts'
import { refundOrder } from '../shop/payments/refund.ts'
import { shipmentInput } from '../shop/shipments/input.ts'
import { shipOrder } from '../shop/shipments/ship-order.ts'
import type { ShipmentView } from '../shop/shipments/view.ts'
import { settlePayments } from '../shop/payments/settle-payments.ts'
import { buyerLines } from './buyer-lines.ts'
import type { Answer } from './output.ts'
import { countOf } from './numbers.ts'
import { defineInvoice } from './order-invoice.ts'
import { definePack } from './order-pack.ts'
import { plain } from './plain.ts'
import { table, timeCell } from './table.ts'
import { defineLists } from './order-lists.ts'
import { defineWarnings } from './payment-warnings.ts'
import { showProgress } from './progress.ts'
import { addCommand, confirmOrRefuse, runs } from './run.ts'
import type { Work } from './run.ts'

type SureOptions = { yes?: boolean }
type ShipOptions = { carrier?: string; tracking?: string; url?: string; items?: string[] }
type CancelOptions = SureOptions & { unpaid?: true; olderThan?: string; emailDomain?: string }

const by = 'operator'

export function define(program: ShopCommand): void {
  const group = program.command('orders').description('orders and refunds')
  defineLists(group)
  runs(
    addCommand(group, 'show <id>', 'show one order with its addresses and history', 'orders show 12'),
    'migrated',
    ({ app }, id: string) => answer(app, parseId(id))
  )
  const explaining = addCommand(
    group,
    'explain <id>',
    'explain the attribution and referral of an order',
    'orders explain 12'
  )
  runs(explaining, 'migrated', ({ app }, id: string) => {
    const { lines, ...explanation } = explainOrder(app.db, parseId(id))
    return { json: explanation, human: lines }
  })
  defineMoves(group)
  const reconciling = addCommand(
    group,
    'reconcile',
    'fetch the state of open payments from the gateway, and end expired holds',
    'orders reconcile'
  )
  runs(reconciling, 'migrated', reconcileNow)
  defineInvoice(group)
  definePack(group)
  defineWarnings(group)
}

/** The moves use the same functions as the API and the webhooks. */
function defineMoves(group: ShopCommand): void {
  const paid = addCommand(
    group,
    'paid <id>',
    'record that the money has arrived: by transfer, in cash, or late',
    'orders paid 12'
  ).option('--yes', 'do not ask for confirmation')
  runs(paid, 'migrated', recordPayment)
  const complete = addCommand(
    group,
    'complete <id>',
    'record that the buyer has received everything',
    'orders complete 12'
  )
  runs(complete, 'migrated', ({ app, now }, id: string) => {
    completeOrder(app.db, parseId(id), by, now)
    return answer(app, parseId(id))
  })
  const ship = addCommand(
    group,
    'ship <id>',
    'record that an order, or a part of it, was handed to a carrier; the buyer gets an email',
    'orders ship 12 --carrier DHL --tracking 00340434161094042557 --items 1:2 3:1'
  )
    .option('--carrier <name>', 'who transports it')
    .option('--tracking <number>', "the carrier's tracking number")
    .option('--url <url>', "the carrier's page about it, instead of the one from shipping.trackingUrls")
    .option(
      '--items <line:quantity...>',
      'only these quantities of these lines, by number; everything that is left otherwise'
    )
  runs(ship, 'migrated', ({ app, options, now }: Work<ShipOptions>, id: string) => {
    const { carrier, tracking, url, items } = options
    const shipment = { carrier, tracking, url, items: items?.map(parseShippedItem) }
    shipOrder(app.db, parseId(id), parseWith(shipmentInput, shipment), by, now)
    return answer(app, parseId(id))
  })
  const cancel = addCommand(
    group,
    'cancel [id]',
    'cancel an order, or many unpaid orders: returns stock, coupons and benefits, but no money',
    'orders cancel --unpaid --older-than 1h --email-domain mail.example'
  )
    .option('--unpaid', 'cancel all unpaid orders instead of one')
    .option('--older-than <age>', 'with --unpaid: only orders of at least this age, such as 30m, 1h or 2d')
    .option('--email-domain <domain>', 'with --unpaid: only orders with an email of this domain')
    .option('--yes', 'do not ask for confirmation')
  runs(cancel, 'migrated', async (work: Work<CancelOptions>, id: string | undefined) => {
    const { app, options } = work
    if (options.unpaid === true && id === undefined) return cancelUnpaid(work)
    if (id === undefined) throw new AppError('USAGE', 'Give the number of an order, or --unpaid.')
    if (options.unpaid ?? options.olderThan ?? options.emailDomain)
      throw new AppError('USAGE', 'Give the number of an order or --unpaid, not both.')
    await askAtTerminal(`Cancel order ${parseId(id)}?`, work)
    await cancelOrder(app, parseId(id), by)
    return answer(app, parseId(id))
  })
  const refund = addCommand(
    group,
    'refund <id>',
    'refund the rest of an order, or a part',
    'orders refund 12 --amount 5.50'
  )
    .option('--amount <n>', "refund this part, in the order's currency")
    .option('--by-hand', 'only record that you returned the money yourself; ask no gateway')
    .option('--yes', 'do not ask for confirmation')
  runs(refund, 'migrated', async (work: Work<SureOptions & { amount?: string; byHand?: boolean }>, id: string) => {
    const { app, options } = work
    const { currency } = getOrder(app.db, parseId(id))
    const amountMinor = options.amount === undefined ? undefined : toMinor(options.amount, currency)
    const what = amountMinor === undefined ? 'the rest' : formatMoney(amountMinor, currency)
    await askAtTerminal(`Refund ${what} of order ${parseId(id)}?`, work)
    await refundOrder(app, parseId(id), amountMinor, by, { byHand: options.byHand ?? false })
    return answer(app, parseId(id))
  })
}

async function cancelUnpaid(work: Work<CancelOptions>): Promise<Answer> {
  const { app, now, options } = work
  const placedBefore = now - (options.olderThan === undefined ? 0 : parseAge(options.olderThan))
  const emailDomain = options.emailDomain?.replace(/^@/, '').toLowerCase() ?? null
  const orderIds = findUnpaidOrders(app.db, { placedBefore, emailDomain })
  if (orderIds.length === 0) return { json: { cancelled: [], failed: [] }, human: 'No unpaid orders match.' }
  await confirmOrRefuse(work.terminal, `Cancel ${countOf(orderIds.length, 'unpaid order')}?`, options)
  const progress = showProgress(work)
  const report = await cancelOrders(app, orderIds, by, (done) =>
    progress.step(`${done} of ${orderIds.length} orders cancelled`)
  )
  progress.done()
  const failed = report.failed.map(({ orderId, message }) => `order ${orderId} stays: ${message}`)
  return { json: report, human: [`${countOf(report.cancelled.length, 'order')} cancelled`, ...failed] }
}

/** `2:1` is one of line 2. @throws AppError USAGE */
function parseShippedItem(text: string): { line: number; quantity: number } {
  const [, line, quantity] = /^([1-9]\d{0,5}):([1-9]\d{0,8})$/.exec(text) ?? []
  if (line === undefined) throw new AppError('USAGE', '--items takes LINE:QUANTITY, such as 2:1 for one of line 2.')
  return { line: Number(line), quantity: Number(quantity) }
}

/** @throws AppError USAGE */
function parseAge(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? []
  if (count === undefined) throw new AppError('USAGE', '--older-than must be an age such as 30m, 1h or 2d.')
  return Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd']
}

/** A payment that the gateway has is recorded as it was paid; without one, the money arrived by hand. */
async function recordPayment(work: Work<SureOptions>, text: string): Promise<Answer> {
  const { app, now } = work
  const id = parseId(text)
  const payment = await findUncountedPayment(app, id)
  if (payment === undefined) {
    markPaid(app.db, id, by, now)
    return answer(app, id)
  }
  const found = describePayment(app, payment)
  if (payment.wrong?.kind === 'amount') await askAtTerminal(`${found} Record it as the payment of this order?`, work)
  await acceptPayment(app, payment, by)
  const { json, human } = answer(app, id)
  return { json, human: [found, ...[human].flat()] }
}

function answer(app: App, id: number): Answer {
  const { order, history } = showOrder(app.db, id)
  const moves = history.map((row) => [timeCell(row.at), row.from ?? '', row.to, row.by, row.reason])
  return {
    json: { order, history },
    human: [
      `Order ${order.id}: ${order.status}, ${money(order, order.total)}, ${plain(order.email ?? 'no email')}`,
      ...(order.renewalOf === null ? [] : [`Renewal of the subscription that order ${order.renewalOf} started`]),
      `Payment: ${order.paymentStatus ?? 'not started'}; refunded ${money(order, order.refunded)}`,
      ...order.lineItems.map((item) => `  ${item.quantity} × ${item.name}: ${money(order, item.total)}`),
      ...order.shipments.map(shipmentLine),
      ...order.coupons.map((coupon) => `  Coupon ${coupon.code}: ${money(order, coupon.discount)} off`),
      ...buyerLines(order),
      table(['At', 'From', 'To', 'By', 'Reason'], moves)
    ]
  }
}

function shipmentLine({ shippedAt, carrier, tracking, lines }: ShipmentView): string {
  const how = [carrier, tracking].filter((part) => part !== null).join(' ')
  const goods = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  return plain(`  Shipped ${shippedAt}${how === '' ? '' : ` with ${how}`}: ${goods}`)
}

async function reconcileNow(work: Work<object>): Promise<Answer> {
  const { app } = work
  const progress = showProgress(work)
  progress.step(`asking the gateway about ${openAttempts(app.db).length} open payments, refunds and events`)
  const report = await settlePayments(app, { underWay: 'wait' }).finally(progress.done)
  const { attempts, settled, refunds, events, holds, failed } = report
  return {
    json: report,
    human: `${settled} of ${attempts} open payments settled, ${refunds} refunds and ${events} missed events applied, ${holds} holds ended, ${failed} failed.`,
    ...(failed > 0 ? { exitCode: 1 } : {})
  }
}

/** Asks only at a terminal: these moves lose no data, and the history records each of them. */
async function askAtTerminal(question: string, { options, json, terminal }: Work<SureOptions>): Promise<void> {
  if (terminal.stdin.isTTY && !json) await confirmOrRefuse(terminal, question, options)
}

function money(order: AdminOrder, amount: number): string {
  return formatMoney(toMinor(amount, order.currency), order.currency)
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new AppError('USAGE', 'The order must be a number such as 12.')
  return Number(text)
}
