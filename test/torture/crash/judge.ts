import Database from 'better-sqlite3'
import type { Ledger } from '../../../src/sandbox/controls.ts'
import { Browser } from '../../support/browser.ts'
import { allOrdersOf } from '../all-orders.ts'
import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import { ask, password, untilAnswered } from './customer.ts'
import type { World } from './customer.ts'
import { wasToldPaid } from './record.ts'
import type { Account, Purchase } from './record.ts'

export type ShownOrder = {
  id: number
  status: string
  total: number
  lineItems: { name: string; quantity: number }[]
}

/** Statuses of orders that somebody has paid for and that nobody was given everything back for. */
const paid: ReadonlySet<string> = new Set(['processing', 'completed'])
const over: ReadonlySet<string> = new Set(['failed', 'cancelled'])
/** What can still become a payment. */
const openIntents: ReadonlySet<string> = new Set(['requires_action', 'processing'])

/**
 * Every acknowledged account logs in with its password, the session it was given still holds, and its orders are what it
 * was told. Answers all orders that any account shows.
 */
export async function judgeAccounts(world: World): Promise<ShownOrder[]> {
  const shown: ShownOrder[] = []
  const charged = chargedOrders(world.sandbox.ledger())
  for (const account of world.record.accounts) {
    const { email } = account
    const browser = new Browser(world.shop.apiRoot)
    const { status, text } = await browser.post('/auth/login', { email, password })
    if (status !== 200) {
      world.trial.violation(`lost: ${email} was told it is registered, but its login answers ${status}: ${text}`)
      continue
    }
    const orders = await allOrdersOf<ShownOrder>(browser)
    const held = await account.browser.get('/orders')
    if (held.status !== 200) world.trial.violation(`lost: the session of ${email} answers ${held.status}`)
    judgePurchases(world.trial, account, orders, charged)
    shown.push(...orders)
  }
  return shown
}

function judgePurchases(
  trial: Trial,
  { email, purchases }: Account,
  orders: readonly ShownOrder[],
  charged: ReadonlyMap<number, number>
): void {
  for (const purchase of purchases) {
    const { key, told } = purchase
    const order = orders.find(({ id }) => id === told?.orderId)
    if (told?.orderId != null && order === undefined)
      trial.violation(`lost: ${email} was told of order ${told.orderId} under ${key}, but its list does not have it`)
    if (told?.orderId != null && wasToldPaid(purchase) && charged.get(told.orderId) !== 1)
      trial.violation(`order ${told.orderId} was told to be paid, but charged ${charged.get(told.orderId) ?? 0} times`)
  }
  const live = orders.filter(({ status }) => !over.has(status)).length
  if (live > purchases.length)
    trial.violation(`${email} bought ${purchases.length} times, but has ${live} orders: one key made two`)
  const charges = orders.reduce((sum, { id }) => sum + (charged.get(id) ?? 0), 0)
  const sure = purchases.filter((purchase) => wasToldPaid(purchase)).length
  const unknown = purchases.filter((purchase) => isUnknown(purchase)).length
  if (charges < sure || charges > sure + unknown)
    trial.violation(
      `${email} was charged ${charges} times, but told so ${sure} times and left ${unknown} without an answer`
    )
}

function isUnknown(purchase: Purchase): boolean {
  return purchase.told === null && !wasToldPaid(purchase)
}

/** How often each order was charged, by the stand-in's ledger. */
function chargedOrders({ charges }: Ledger): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { status, metadata } of charges) {
    const id = Number(metadata['shopstead_order'])
    if (status === 'succeeded') counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** The stand-in's ledger against what the shop's own customers see. */
export function judgeMoney({ trial, sandbox }: World, shown: readonly ShownOrder[]): void {
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
      trial.violation(`order ${order.id} is ${order.status}, but ${refunded.get(order.id) ?? 0} went back`)
    if (order.status === 'pending' && !isOpenAt(ledger, order.id))
      trial.violation(`order ${order.id} waits for a payment that nobody can make`)
  }
  trial.figure(`ledger: ${charged.size} orders charged, ${refunded.size} refunded; ${shown.length} orders shown`)
}

/** What the operator was told of each refund, what went back by the ledger, and what the shop says of it. */
export async function judgeRefunds({ trial, sandbox, shop, record }: World): Promise<void> {
  const refunded = refundedOrders(sandbox.ledger())
  for (const orderId of refunded.keys())
    if (record.refunds.every((asked) => asked.orderId !== orderId))
      trial.violation(`order ${orderId} was refunded, but nobody asked for it`)
  for (const orderId of new Set(record.refunds.map((asked) => asked.orderId))) {
    const { stdout } = await shop.run(['orders', 'show', String(orderId)])
    const { order } = JSON.parse(stdout) as { order: { total: number; refunded: number } }
    const back = refunded.get(orderId) ?? 0
    const asked = record.refunds.filter((refund) => refund.orderId === orderId)
    const inMinor = ({ amountMinor }: { amountMinor: number | null }): number => amountMinor ?? minor(order.total)
    const most = Math.min(sum(asked.map(inMinor)), minor(order.total))
    const least = Math.min(sum(asked.filter(({ outcome }) => outcome === 'done').map(inMinor)), minor(order.total))
    if (back < least || back > most)
      trial.violation(`of order ${orderId} ${back} went back; ${least} to ${most} was asked for`)
    if (minor(order.refunded) !== back)
      trial.violation(`order ${orderId} shows ${order.refunded} refunded, but ${back} went back`)
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

/** A key that was answered gives the same order for ever, and charges nobody again. */
export async function judgeReplays(world: World, random: Random): Promise<void> {
  const before = world.sandbox.ledger().charges.length
  const answered = world.record.accounts.flatMap((account) =>
    account.purchases.filter(({ told }) => told?.status === 200).map((purchase) => ({ account, purchase }))
  )
  for (let count = Math.min(answered.length, 100); count > 0; count -= 1) {
    const { account, purchase } = random.pick(answered)
    const { status, data, text } = await untilAnswered(world, () => ask(account, purchase))
    world.trial.count('keys asked again at the end')
    if (status !== 200 || Number(data['orderId']) !== purchase.told?.orderId)
      world.trial.violation(`${purchase.key} answered ${purchase.told?.text}, but again ${text}`)
  }
  const after = world.sandbox.ledger().charges.length
  if (after !== before) world.trial.violation(`asking again made ${after - before} charges`)
}

/** What SQLite says of the file, and what no order may have taken more of than there was. */
export function judgeDatabase({ trial }: World, file: string, shown: readonly ShownOrder[], units: number): void {
  const database = new Database(file, { readonly: true })
  try {
    const verdict = database.pragma('integrity_check', { simple: true })
    if (verdict !== 'ok') trial.violation(`integrity_check: ${String(verdict)}`)
    const orphans = database.pragma('foreign_key_check') as unknown[]
    if (orphans.length > 0) trial.violation(`foreign_key_check: ${JSON.stringify(orphans.slice(0, 5))}`)
    const left = database.prepare<[], number>(`SELECT stock FROM products WHERE slug = 'lantern'`).pluck().get() ?? -1
    const held = sum(
      shown
        .filter(({ status }) => !over.has(status) && status !== 'refunded')
        .flatMap(({ lineItems }) => lineItems.filter(({ name }) => name === 'Lantern').map(({ quantity }) => quantity))
    )
    if (left < 0 || left + held !== units)
      trial.violation(`of ${units} lanterns ${held} are in orders and ${left} on the shelf`)
    const twice = database
      .prepare(
        `SELECT json_extract(payload, '$.orderId') AS id, count(*) AS times FROM events WHERE type = 'order.paid'
         GROUP BY 1 HAVING times > 1`
      )
      .all()
    if (twice.length > 0) trial.violation(`told twice to be paid: ${JSON.stringify(twice.slice(0, 5))}`)
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
