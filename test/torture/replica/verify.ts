import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { LostMachine } from '../replica.ts'
import type { Placed } from './buyer.ts'

/** The promise: at most the newest second is missing. */
const newestMs = 1_000

/**
 * Compares the acknowledged orders with the restored database: only the newest are missing. The second is measured in the
 * full form alone: on a machine whose processors and disk are busy, as in CI, the replication needs longer.
 */
export function verifyOrders(
  { trial, dataDir }: LostMachine,
  placed: readonly Placed[],
  killedAt: number
): { kept: Placed[]; lost: Placed[] } {
  const emails = readAll<{ id: number; email: string }>(dataDir, 'SELECT id, email FROM orders')
  const stored = new Map(emails.map(({ id, email }) => [id, email]))
  const isStored = ({ id, email }: Placed): boolean => stored.get(id) === email
  const lost = placed.filter((order) => !isStored(order))
  trial.count('orders lost', lost.length)
  const kept = placed.filter(isStored)
  const newestKept = Math.max(0, ...kept.map(({ id }) => id))
  for (const { id, answeredAt } of lost) {
    const age = killedAt - answeredAt
    if (trial.isFull && age > newestMs)
      trial.violation(`order ${id}, answered ${age} ms before the loss of the machine, is gone`)
    // An order gets its number in the transaction that the replica has or has not.
    if (id < newestKept) trial.violation(`order ${id} is gone, and order ${newestKept}, which is newer, is there`)
  }
  return { kept, lost }
}

/** Verifies that each charge has paid its order, or a warning names it. */
export async function verifyCharges({ trial, gateway, dataDir, shop }: LostMachine): Promise<void> {
  const { intents, refunds } = gateway.sandbox.ledger()
  const attempts = readAll<{ token: string; paid: number }>(
    dataDir,
    'SELECT token, paid_at IS NOT NULL AS paid FROM payment_attempts JOIN orders ON orders.id = order_id'
  )
  const paidByToken = new Map(attempts.map(({ token, paid }) => [token, paid === 1]))
  const warned = new Set((await lostCharges(shop)).map(({ objectId }) => objectId))
  const returned = new Set<unknown>(refunds.map(({ payment_intent: intent }) => intent))
  for (const { id, status, metadata } of intents) {
    if (status !== 'succeeded' || returned.has(id)) continue
    const paid = paidByToken.get(metadata['shopstead_attempt'] ?? '')
    if (paid === false) trial.violation(`${id} was charged, and its order is there, but not paid`)
    if (paid === undefined && !warned.has(id)) trial.violation(`${id} was charged, and nothing names it`)
    if (paid === true && warned.has(id)) trial.violation(`${id} has paid its order, and a warning says it is lost`)
  }
}

export type LostCharge = { objectId: string; message: string }

/** The warnings about charges whose orders are lost. */
export async function lostCharges(shop: LostMachine['shop']): Promise<LostCharge[]> {
  const { stdout } = await shop.run(['orders', 'warnings', '--kind', 'foreign_object'])
  return (JSON.parse(stdout) as { warnings: LostCharge[] }).warnings
}

function readAll<Row>(dataDir: string, query: string): Row[] {
  const sqlite = new Database(join(dataDir, 'shopstead.db'), { readonly: true })
  try {
    return sqlite.prepare<[], Row>(query).all()
  } finally {
    sqlite.close()
  }
}
