import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { Buyer } from './buyer.ts'

const paid: ReadonlySet<string> = new Set(['processing', 'completed'])
/** What can still become a payment. */
const openIntents: ReadonlySet<string> = new Set(['requires_action', 'processing'])

export type Verdict = { charges: number; orders: number; violations: string[] }

/**
 * Holds what the shop says of a buyer's orders against the gateway's own ledger and against what the buyer was told.
 * The shop's database is not asked.
 *
 * @param since charges that the ledger held before the buyer came
 */
export async function judge(sandbox: Sandbox, buyer: Buyer, since: ReadonlySet<string>): Promise<Verdict> {
  const ledger = sandbox.ledger()
  const orders = await buyer.orders()
  const charges = ledger.charges.filter((charge) => charge.status === 'succeeded' && !since.has(charge.id))
  const violations: string[] = []
  for (const { metadata, id } of charges) {
    if (orders.every((order) => String(order.id) !== metadata.shopstead_order))
      violations.push(`${id}: charged, but no order`)
  }
  for (const order of orders) {
    const own = charges.filter(({ metadata }) => metadata.shopstead_order === String(order.id))
    const isPaid = paid.has(order.status)
    if (own.length > 1) violations.push(`order ${order.id} was charged ${own.length} times`)
    if (isPaid && own.length === 0) violations.push(`order ${order.id} is ${order.status}, but was never charged`)
    if (!isPaid && own.length > 0) violations.push(`order ${order.id} was charged, but is ${order.status}`)
    if (own.some(({ amount }) => amount !== Math.round(order.total * 100)))
      violations.push(`order ${order.id} was charged another amount than its total`)
    if (order.status === 'pending' && !isOpenAt(ledger, order.id))
      violations.push(`order ${order.id} waits for a payment that nobody can make`)
  }
  if (charges.length > 1) violations.push(`one key was charged ${charges.length} times`)
  return {
    charges: charges.length,
    orders: orders.length,
    violations: [...violations, ...brokenWord(buyer, charges, orders)]
  }
}

function isOpenAt({ intents, sessions }: ReturnType<Sandbox['ledger']>, orderId: number): boolean {
  const ofOrder = ({ metadata }: { metadata: Record<string, string> | null }): boolean =>
    metadata?.shopstead_order === String(orderId)
  const openPage = sessions.some((session) => ofOrder(session) && session.status === 'open')
  return openPage || intents.some((intent) => ofOrder(intent) && openIntents.has(intent.status))
}

/** What the buyer was told must have come true. */
function brokenWord(
  buyer: Buyer,
  charges: readonly { id: string }[],
  orders: readonly { id: number; status: string }[]
): string[] {
  const last = buyer.told.at(-1)
  if (last === undefined) return ['the buyer asked for nothing']
  const statusOf = (id: number | null): string => orders.find((order) => order.id === id)?.status ?? 'not there'
  if (last.paymentStatus === 'succeeded' && !paid.has(statusOf(last.orderId)))
    return [`order ${last.orderId} was told to be paid, but is ${statusOf(last.orderId)}`]
  if ((last.status === 402 || last.status === 502) && charges.length > 0)
    return [`the buyer was told ${last.status}, but was charged`]
  return []
}
