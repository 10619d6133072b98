import Database from 'better-sqlite3'
import type { Ledger } from '../../../src/sandbox/pages/controls.ts'
import { Browser } from '../../support/browser.ts'
import { allOrdersOf } from '../all-orders.ts'
import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import { checkOut, password, untilAnswered } from './customer.ts'
import type { CrashContext } from './customer.ts'
import { isReportedPaid } from './records.ts'
import type { Account, Purchase } from './records.ts'

export type ShownOrder = {
  id: number
  status: string
  total: number
  lineItems: { name: string; quantity: number }[]
}

/**
 * The statuses of orders that are paid and not fully refunded. An order is on hold when its buyer's next order replaced it
 * without an answer of the gateway, another order took its stock, and its payment was reported after that.
 */
const paid: ReadonlySet<string> = new Set(['processing', 'completed', 'on-hold'])
const over: ReadonlySet<string> = new Set(['failed', 'cancelled'])
/** Intents that can still become a payment. */
const openIntents: ReadonlySet<string> = new Set(['requires_action', 'processing'])

/**
 * Verifies that every acknowledged account can log in, that its session is still valid, and that its orders match the
 * responses it got. Returns all orders of all accounts.
 */
export async function verifyAccounts(context: CrashContext): Promise<ShownOrder[]> {
  const shown: ShownOrder[] = []
  const charged = chargedOrders(context.sandbox.ledger())
  for (const account of context.records.accounts) {
    const { email } = account
    const browser = new Browser(context.shop.apiRoot)
    const { status, text } = await browser.post('/auth/login', { email, password })
    if (status !== 200) {
      context.trial.violation(
        `lost: the registration of ${email} was confirmed, but the login returns ${status}: ${text}`
      )
      continue
    }
    const orders = await allOrdersOf<ShownOrder>(browser)
    const held = await account.browser.get('/orders')
    if (held.status !== 200) context.trial.violation(`lost: the session of ${email} returns ${held.status}`)
    verifyPurchases(context.trial, account, orders, charged)
    shown.push(...orders)
  }
  return shown
}

function verifyPurchases(
  trial: Trial,
  { email, purchases }: Account,
  orders: readonly ShownOrder[],
  charged: ReadonlyMap<number, number>
): void {
  for (const purchase of purchases) {
    const { key, reply } = purchase
    const order = orders.find(({ id }) => id === reply?.orderId)
    if (reply?.orderId != null && order === undefined)
      trial.violation(`lost: order ${reply.orderId} of ${email} was confirmed under ${key}, but is not in the list`)
    if (reply?.orderId != null && isReportedPaid(purchase) && charged.get(reply.orderId) !== 1)
      trial.violation(
        `order ${reply.orderId} was reported as paid, but charged ${charged.get(reply.orderId) ?? 0} times`
      )
  }
  const live = orders.filter(({ status }) => !over.has(status)).length
  if (live > purchases.length)
    trial.violation(`${email} bought ${purchases.length} times, but has ${live} orders: one key created two`)
  const charges = orders.reduce((sum, { id }) => sum + (charged.get(id) ?? 0), 0)
  // A buyer who sends the same cart again while it is unpaid continues the same order.
  const paid = purchases.filter((purchase) => isReportedPaid(purchase))
  const sure = new Set(paid.map(({ key, reply }) => reply?.orderId ?? key)).size
  const unknown = purchases.filter((purchase) => isUnknown(purchase)).length
  if (charges < sure || charges > sure + unknown)
    trial.violation(
      `${email} was charged ${charges} times, with ${sure} confirmations and ${unknown} requests without a response`
    )
}

function isUnknown(purchase: Purchase): boolean {
  return purchase.reply === null && !isReportedPaid(purchase)
}

/** The number of charges of each order in the sandbox's ledger. */
function chargedOrders({ charges }: Ledger): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { status, metadata } of charges) {
    const id = Number(metadata['shopstead_order'])
    if (status === 'succeeded') counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** Compares the sandbox's ledger with the orders that the customers see. */
export function verifyMoney({ trial, sandbox }: CrashContext, shown: readonly ShownOrder[]): void {
  const ledger = sandbox.ledger()
  const orders = new Map(shown.map((order) => [order.id, order]))
  for (const { id, status, metadata, amount } of ledger.charges) {
    if (status !== 'succeeded') continue
    const order = orders.get(Number(metadata['shopstead_order']))
    if (order === undefined) trial.violation(`${id}: charged, but no order`)
    else if (amount !== minor(order.total)) trial.violation(`order ${order.id} of ${order.total} was charged ${amount}`)
  }
  const charged = chargedOrders(ledger)
  const refunded = refundedOrders(ledger)
  for (const order of shown) {
    const times = charged.get(order.id) ?? 0
    const isWholeBack = refunded.get(order.id) === minor(order.total)
    const expected = paid.has(order.status) || order.status === 'refunded' ? 1 : 0
    if (times > 1) trial.violation(`charged twice: order ${order.id} was charged ${times} times`)
    else if (times !== expected) trial.violation(`order ${order.id} is ${order.status}, but was charged ${times} times`)
    if (isWholeBack !== (order.status === 'refunded'))
      trial.violation(`order ${order.id} is ${order.status}, but ${refunded.get(order.id) ?? 0} was refunded`)
    if (order.status === 'pending' && !isOpenAt(ledger, order.id))
      trial.violation(`order ${order.id} is pending, but cannot be paid`)
  }
  trial.figure(`ledger: ${charged.size} orders charged, ${refunded.size} refunded; ${shown.length} orders shown`)
}

/** Compares the refunds that the operator requested with the ledger and with the shop's orders. */
export async function verifyRefunds({ trial, sandbox, shop, records }: CrashContext): Promise<void> {
  const refunded = refundedOrders(sandbox.ledger())
  for (const orderId of refunded.keys())
    if (records.refunds.every((request) => request.orderId !== orderId))
      trial.violation(`order ${orderId} was refunded without a request`)
  for (const orderId of new Set(records.refunds.map((request) => request.orderId))) {
    const { stdout } = await shop.run(['orders', 'show', String(orderId)])
    const { order } = JSON.parse(stdout) as { order: { total: number; refunded: number } }
    const back = refunded.get(orderId) ?? 0
    const request = records.refunds.filter((refund) => refund.orderId === orderId)
    const inMinor = ({ amountMinor }: { amountMinor: number | null }): number => amountMinor ?? minor(order.total)
    const most = Math.min(sum(request.map(inMinor)), minor(order.total))
    const least = Math.min(sum(request.filter(({ outcome }) => outcome === 'done').map(inMinor)), minor(order.total))
    if (back < least || back > most)
      trial.violation(`order ${orderId}: ${back} was refunded, ${least} to ${most} was requested`)
    if (minor(order.refunded) !== back)
      trial.violation(`order ${orderId} shows ${order.refunded} refunded, but the ledger shows ${back}`)
  }
}

function refundedOrders({ refunds, charges }: Ledger): Map<number, number> {
  const orderOf = new Map<unknown, number>(charges.map(({ id, metadata }) => [id, Number(metadata['shopstead_order'])]))
  const sums = new Map<number, number>()
  for (const { charge, amount, status } of refunds) {
    const orderId = orderOf.get(charge) ?? Number.NaN
    if (status === 'succeeded') sums.set(orderId, (sums.get(orderId) ?? 0) + amount)
  }
  return sums
}

function isOpenAt({ intents, sessions }: Ledger, orderId: number): boolean {
  const ofOrder = ({ metadata }: { metadata: { [name: string]: string } | null }): boolean =>
    metadata?.['shopstead_order'] === String(orderId)
  const openPage = sessions.some((session) => ofOrder(session) && session.status === 'open')
  return openPage || intents.some((intent) => ofOrder(intent) && openIntents.has(intent.status))
}

/**
 * Verifies that repeating a request with its key returns the same order and creates no charge. The key of a cancelled order
 * is free (docs/contract.md 5.8).
 */
export async function verifyReplays(
  context: CrashContext,
  shown: readonly ShownOrder[],
  random: Random
): Promise<void> {
  const before = context.sandbox.ledger().charges.length
  const cancelled = new Set(shown.filter(({ status }) => status === 'cancelled').map(({ id }) => id))
  const isKept = ({ reply }: Purchase): boolean => reply?.status === 200 && !cancelled.has(reply.orderId ?? 0)
  const answered = context.records.accounts.flatMap((account) =>
    account.purchases.filter(isKept).map((purchase) => ({ account, purchase }))
  )
  for (let count = Math.min(answered.length, 100); count > 0; count -= 1) {
    const { account, purchase } = random.pick(answered)
    const { status, data, text } = await untilAnswered(context, () => checkOut(account, purchase))
    context.trial.count('keys repeated at the end')
    if (status !== 200 || Number(data['orderId']) !== purchase.reply?.orderId)
      context.trial.violation(`${purchase.key} returned ${purchase.reply?.text}, then ${text}`)
  }
  const after = context.sandbox.ledger().charges.length
  if (after !== before) context.trial.violation(`the repeated requests created ${after - before} charges`)
}

/** Verifies the database file's integrity, the stock, and that each order was reported as paid at most once. */
export function verifyDatabase(
  { trial }: CrashContext,
  file: string,
  shown: readonly ShownOrder[],
  units: number
): void {
  const database = new Database(file, { readonly: true })
  try {
    const verdict = database.pragma('integrity_check', { simple: true })
    if (verdict !== 'ok') trial.violation(`integrity_check: ${String(verdict)}`)
    const orphans = database.pragma('foreign_key_check') as unknown[]
    if (orphans.length > 0) trial.violation(`foreign_key_check: ${JSON.stringify(orphans.slice(0, 5))}`)
    const left = database.prepare<[], number>(`SELECT stock FROM products WHERE slug = 'lantern'`).pluck().get() ?? -1
    const held = sum(
      shown
        .filter(({ status }) => !over.has(status) && status !== 'refunded' && status !== 'on-hold')
        .flatMap(({ lineItems }) => lineItems.filter(({ name }) => name === 'Lantern').map(({ quantity }) => quantity))
    )
    if (left < 0 || left + held !== units)
      trial.violation(`of ${units} lanterns ${held} are in orders and ${left} in stock`)
    const warned = new Set(
      database.prepare<[], number>(`SELECT order_id FROM payment_warnings WHERE kind = 'late_payment'`).pluck().all()
    )
    for (const { id } of shown.filter(({ status }) => status === 'on-hold'))
      if (!warned.has(id)) trial.violation(`order ${id} is on hold, but no operator learns why`)
    const twice = database
      .prepare(
        `SELECT json_extract(payload, '$.orderId') AS id, count(*) AS times FROM events WHERE type = 'order.paid'
         GROUP BY 1 HAVING times > 1`
      )
      .all()
    if (twice.length > 0) trial.violation(`reported twice as paid: ${JSON.stringify(twice.slice(0, 5))}`)
  } finally {
    database.close()
  }
}

function minor(total: number): number {
  return Math.round(total * 100)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
