/**
 * A shop's server as a process of its own, on the data folder that is its argument, to be killed with SIGKILL. It counts
 * its write transactions from the word `arm` on, and dies by its own hand before or after the one that it was told.
 */
import Database from 'better-sqlite3'
import { settlePayments } from '../../src/shop/payments/settle-payments.ts'
import { startShop } from '../support/running-shop.ts'
import { stripeEnv } from './lane.ts'

export type Order = { do: 'arm'; write: number; when: 'before' | 'after' } | { do: 'count' } | { do: 'reconcile' }
export type Word =
  | { said: 'ready'; url: string }
  | { said: 'armed' | 'reconciled' }
  | { said: 'counted'; writes: number }

const [dataDir = '', origin = ''] = process.argv.slice(2)
let writes = 0
let deadly = { write: 0, when: 'before' }

const dieAt = (write: number, when: 'before' | 'after'): void => {
  if (write === deadly.write && when === deadly.when) process.kill(process.pid, 'SIGKILL')
}

/** Taken before the shop opens its databases: it makes its transactions once, and the first one while it starts. */
const connections: { transaction: typeof Database.prototype.transaction } = Database.prototype
const { transaction } = connections
let counted: Database.Database | undefined
connections.transaction = function counting(this: Database.Database, work: (...args: unknown[]) => unknown) {
  const made = transaction.call(this, work)
  const immediate = (...args: unknown[]): unknown => {
    if (this !== counted) return made.immediate(...args)
    writes += 1
    // Others may begin within it.
    const write = writes
    dieAt(write, 'before')
    const result = made.immediate(...args)
    dieAt(write, 'after')
    return result
  }
  const { deferred, exclusive } = made
  return Object.assign(immediate, { immediate, deferred, exclusive, default: immediate })
} as typeof transaction

const shop = await startShop({ dataDir, seed: null, env: stripeEnv(origin) })
counted = shop.app.db.sqlite

const say = (word: Word): void => void process.send?.(word)

process.on('message', (order: Order) => {
  if (order.do === 'arm') {
    writes = 0
    deadly = order
    return say({ said: 'armed' })
  }
  if (order.do === 'count') return say({ said: 'counted', writes })
  void settlePayments(shop.app, { underWay: 'take' }).then(() => say({ said: 'reconciled' }))
})
say({ said: 'ready', url: shop.url })
