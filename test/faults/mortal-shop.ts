/**
 * A shop's server as a process of its own, on the data folder that is its argument, to be killed with SIGKILL. It counts
 * its write transactions from the word `arm` on, and dies by its own hand before or after the one that it was told.
 */
import { settlePayments } from '../../src/jobs.ts'
import { startShop } from '../support/running-shop.ts'
import { stripeEnv } from './lane.ts'

export type Order = { do: 'arm'; write: number; when: 'before' | 'after' } | { do: 'reconcile' }
export type Word =
  | { said: 'ready'; url: string }
  | { said: 'armed' | 'reconciled' }
  | { said: 'counted'; writes: number }

const [dataDir = '', origin = ''] = process.argv.slice(2)
const shop = await startShop({ dataDir, seed: null, env: stripeEnv(origin) })
const { sqlite } = shop.app.db
const begin = sqlite.transaction.bind(sqlite)
let writes = 0
let deadly = { write: 0, when: 'before' }

const dieAt = (when: 'before' | 'after'): void => {
  if (writes === deadly.write && when === deadly.when) process.kill(process.pid, 'SIGKILL')
}

sqlite.transaction = ((work: () => unknown) => {
  const transaction = begin(work)
  const immediate = (): unknown => {
    writes += 1
    dieAt('before')
    const result = transaction.immediate()
    dieAt('after')
    return result
  }
  const { deferred, exclusive } = transaction
  return Object.assign(immediate, { immediate, deferred, exclusive, default: immediate })
}) as typeof sqlite.transaction

const say = (word: Word): void => void process.send?.(word)

process.on('message', (order: Order) => {
  if (order.do === 'arm') {
    writes = 0
    deadly = order
    return say({ said: 'armed' })
  }
  void settlePayments(shop.app, { underWay: 'take' }).then(() => say({ said: 'reconciled' }))
})
say({ said: 'ready', url: shop.url })
