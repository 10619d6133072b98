import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { Buyer } from './buyer.ts'

const paid: ReadonlySet<string> = new Set(['processing', 'completed'])
/** Intents that can still become a payment. */
const openIntents: ReadonlySet<string> = new Set(['requires_action', 'processing'])

export type Findings = { charges: number; orders: number; violations: string[] }

/**
 * Compares a buyer's orders, as the API shows them, with the gateway's ledger and with the responses the buyer got.
 * Does not read the shop's database.
 *
 * @param since ids of the charges before the run
 */
export async function verify(sandbox: Sandbox, buyer: Buyer, since: ReadonlySet<string>): Promise<Findings> {
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
      violations.push(`order ${order.id} was charged an amount that differs from its total`)
    if (order.status === 'pending' && !isOpenAt(ledger, order.id))
      violations.push(`order ${order.id} is pending, but cannot be paid`)
  }
  if (charges.length > 1) violations.push(`one key was charged ${charges.length} times`)
  return {
    charges: charges.length,
    orders: orders.length,
    violations: [...violations, ...brokenResponses(buyer, charges, orders), ...falseResults(buyer, charges, orders)]
  }
}

function isOpenAt({ intents, sessions }: ReturnType<Sandbox['ledger']>, orderId: number): boolean {
  const ofOrder = ({ metadata }: { metadata: Record<string, string> | null }): boolean =>
    metadata?.shopstead_order === String(orderId)
  const openPage = sessions.some((session) => ofOrder(session) && session.status === 'open')
  return openPage || intents.some((intent) => ofOrder(intent) && openIntents.has(intent.status))
}

/** What the site was told when the buyer came back must be true for the order. */
function falseResults(
  { results }: Buyer,
  charges: readonly { metadata: Record<string, string> }[],
  orders: readonly { id: number; status: string }[]
): string[] {
  return results.flatMap(({ orderId, landed }) => {
    const status = orders.find(({ id }) => id === orderId)?.status ?? 'missing'
    const isCharged = charges.some(({ metadata }) => metadata['shopstead_order'] === String(orderId))
    const isTrue =
      landed === 'success' ? paid.has(status) : landed === 'cancelled' ? status === 'cancelled' && !isCharged : true
    const isWrongFailure = landed === 'failed' && isCharged
    return isTrue && !isWrongFailure ? [] : [`the site was told ${landed}, but order ${orderId} is ${status}`]
  })
}

/** The last response must be true. */
function brokenResponses(
  buyer: Buyer,
  charges: readonly { id: string }[],
  orders: readonly { id: number; status: string }[]
): string[] {
  const last = buyer.results.at(-1)
  if (last === undefined) return ['the buyer sent no request']
  const statusOf = (id: number | null): string => orders.find((order) => order.id === id)?.status ?? 'missing'
  if (last.paymentStatus === 'succeeded' && !paid.has(statusOf(last.orderId)))
    return [`order ${last.orderId} was reported as paid, but is ${statusOf(last.orderId)}`]
  if ((last.status === 402 || last.status === 502) && charges.length > 0)
    return [`the buyer got ${last.status}, but was charged`]
  return []
}
