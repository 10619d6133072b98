/**
 * A shop's server in a separate process, to be killed with SIGKILL. Arguments: the data folder and the gateway's origin.
 * After the command `arm` it counts its write transactions and kills itself before or after the given one.
 */
import Database from 'better-sqlite3'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { startShop } from '../support/running-shop.ts'
import { stripeEnv } from './shop-and-gateway.ts'

export type Command = { do: 'arm'; write: number; when: 'before' | 'after' } | { do: 'count' } | { do: 'reconcile' }
export type Reply =
  | { type: 'ready'; url: string }
  | { type: 'armed' | 'reconciled' }
  | { type: 'counted'; writes: number }

const [dataDir = '', origin = ''] = process.argv.slice(2)
let writes = 0
let killAt = { write: 0, when: 'before' }

const killIfAt = (write: number, when: 'before' | 'after'): void => {
  if (write === killAt.write && when === killAt.when) process.kill(process.pid, 'SIGKILL')
}

/** Replaced before the shop opens its databases, because the shop creates its transactions only once. */
const connections: { transaction: typeof Database.prototype.transaction } = Database.prototype
const { transaction } = connections
let counted: Database.Database | undefined
connections.transaction = function counting(this: Database.Database, work: (...args: unknown[]) => unknown) {
  const made = transaction.call(this, work)
  const immediate = (...args: unknown[]): unknown => {
    if (this !== counted) return made.immediate(...args)
    writes += 1
    // Other transactions may begin during this one.
    const write = writes
    killIfAt(write, 'before')
    const result = made.immediate(...args)
    killIfAt(write, 'after')
    return result
  }
  const { deferred, exclusive } = made
  return Object.assign(immediate, { immediate, deferred, exclusive, default: immediate })
} as typeof transaction

const shop = await startShop({ dataDir, seed: null, env: stripeEnv(origin) })
counted = shop.app.db.sqlite

const send = (reply: Reply): void => void process.send?.(reply)

process.on('message', (command: Command) => {
  if (command.do === 'arm') {
    writes = 0
    killAt = command
    return send({ type: 'armed' })
  }
  if (command.do === 'count') return send({ type: 'counted', writes })
  void settlePayments(shop.app, { underWay: 'take' }).then(() => send({ type: 'reconciled' }))
})
send({ type: 'ready', url: shop.url })
