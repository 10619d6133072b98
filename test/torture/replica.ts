import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import type { Gateway } from '../faults/shop-and-gateway.ts'
import { hasLitestream, pathWithLitestream, startReplication } from '../support/litestream.ts'
import { CrashingShop, stablePort } from './crash/crashing-shop.ts'
import { openShop } from './open-shop.ts'
import { NotSupported } from './part.ts'
import type { Part, Trial } from './part.ts'
import { runBuyer } from './replica/buyer.ts'
import type { Placed } from './replica/buyer.ts'
import { answerLostCharges } from './replica/operator.ts'
import { verifyCharges, verifyOrders } from './replica/verify.ts'

const buyers = 8

export type LostMachine = {
  trial: Trial
  shop: CrashingShop
  gateway: Gateway
  dataDir: string
  /** The folder that survives, with the replica and the copy of the secret key. */
  safe: string
}

export const replica: Part = {
  name: 'replica',
  about: 'the loss of the whole machine under load, and the shop that its replica brings back',
  async run(trial) {
    if (!hasLitestream) throw new NotSupported('Litestream, which npm does not have for this machine')
    const safe = mkdtempSync(join(trial.packed.folder, 'safe-'))
    const dataDir = join(mkdtempSync(join(trial.packed.folder, 'lost-')), 'data')
    const port = await stablePort()
    const gateway = await openGateway(() => `http://127.0.0.1:${port}`)
    const env = { ...stripeEnv(gateway.origin), PATH: pathWithLitestream(), SHOPSTEAD_REPLICA: join(safe, 'replica') }
    const shop = new CrashingShop(trial.packed, { dataDir, port, env })
    try {
      await openShop(trial.packed, dataDir, [{ slug: 'mug', name: 'Mug', price: '12.50' }])
      cpSync(join(dataDir, 'secret.key'), join(safe, 'secret.key'))
      await runRounds({ trial, shop, gateway, dataDir, safe })
    } finally {
      await shop.end('SIGKILL')
      await gateway.close()
    }
  }
}

async function runRounds(machine: LostMachine): Promise<void> {
  const { trial, shop, dataDir } = machine
  const rounds = trial.isFull ? 100 : 2
  let placed: Placed[] = []
  const lateMs: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const { orders, killedAt } = await loseMachine(machine)
    placed = [...placed, ...orders]
    trial.count('machines lost')
    await bringBack(machine)
    await shop.start()
    const reconciled = await shop.run(['orders', 'reconcile'])
    if (reconciled.exitCode !== 0) trial.violation(`round ${round}: orders reconcile: ${reconciled.stdout}`)
    const found = verifyOrders(machine, placed, killedAt)
    lateMs.push(...found.lost.map(({ answeredAt }) => killedAt - answeredAt))
    placed = found.kept
    await verifyCharges(machine)
    await answerLostCharges(machine)
    await shop.end('SIGKILL')
    trial.progress(`${round} of ${rounds} rounds`)
  }
  trial.figure(`the oldest lost order was answered ${Math.max(0, ...lateMs)} ms before the loss of the machine`)
  rmSync(dataDir, { recursive: true })
}

/** Sells under replication, kills both processes at a random moment, and deletes the folder. */
async function loseMachine({ trial, shop, gateway, dataDir, safe }: LostMachine) {
  const { exitCode, stdout } = await shop.run(['replicate'])
  if (exitCode !== 0) throw new Error(`shopstead replicate: ${stdout}`)
  const { configuration } = JSON.parse(stdout) as { configuration: string }
  mkdirSync(safe, { recursive: true })
  await shop.start()
  const replication = await startReplication(safe, configuration)
  const orders: Placed[] = []
  let isOver = false
  const context = { shop, gateway, orders, isOver: () => isOver }
  const all = Promise.all(Array.from({ length: buyers }, () => runBuyer(context, trial.random.fork())))
  await sleep(trial.random.between(500, 4_000))
  const killedAt = Date.now()
  isOver = true
  shop.kill()
  await replication.end('SIGKILL')
  await shop.end('SIGKILL')
  await all
  rmSync(dataDir, { recursive: true })
  trial.count('orders placed', orders.length)
  return { orders, killedAt }
}

async function bringBack({ shop, safe, dataDir }: LostMachine): Promise<void> {
  const key = join(safe, 'secret.key')
  const { exitCode, stdout, stderr } = await shop.run(['restore', '--from-replica', '--secret-key', key])
  if (exitCode !== 0) throw new Error(`shopstead restore: ${stdout} ${stderr}`)
  if (readFileSync(key, 'utf8') !== readFileSync(join(dataDir, 'secret.key'), 'utf8'))
    throw new Error('the restored secret key is not the one of the lost machine')
}
