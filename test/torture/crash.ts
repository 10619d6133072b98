import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import type { Gateway } from '../faults/shop-and-gateway.ts'
import { CrashingShop, stablePort } from './crash/crashing-shop.ts'
import type { Restart } from './crash/crashing-shop.ts'
import { runCustomer } from './crash/customer.ts'
import type { CrashContext } from './crash/customer.ts'
import { verifyAccounts, verifyDatabase, verifyMoney, verifyRefunds, verifyReplays } from './crash/verify.ts'
import { refundOrders } from './crash/operator.ts'
import type { ClientRecords } from './crash/records.ts'
import { Traffic } from './crash/traffic.ts'
import { openShop } from './open-shop.ts'
import type { Trial, Part } from './part.ts'

const customers = 16
const healthWithinMs = 2_000
/** Longer than Stripe retries webhooks. */
const fourDaysMs = 4 * 24 * 3_600_000

export const crash: Part = {
  name: 'crash',
  about: 'kill -9 during checkouts, registrations, webhooks and refunds, and the state afterwards',
  async run(trial) {
    const dataDir = mkdtempSync(join(trial.packed.folder, 'crash-'))
    const port = await stablePort()
    const gateway = await openGateway(
      () => `http://127.0.0.1:${port}`,
      () => shop.kill()
    )
    const env = stripeEnv(gateway.origin)
    const shop = new CrashingShop(trial.packed, { dataDir, port, env })
    try {
      const units = trial.isFull ? 600 : 40
      await openShop(trial.packed, dataDir, catalog(units))
      await crashAndVerify(trial, shop, gateway, { file: join(dataDir, 'shopstead.db'), units })
    } finally {
      await shop.end('SIGKILL')
      await gateway.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

/** One product with limited stock and one without. */
const catalog = (units: number) => [
  { slug: 'mug', name: 'Mug', price: '12.50' },
  { slug: 'lantern', name: 'Lantern', price: '30.00', stock: units }
]

async function crashAndVerify(
  trial: Trial,
  shop: CrashingShop,
  { sandbox }: Gateway,
  { file, units }: { file: string; units: number }
): Promise<void> {
  await shop.start()
  let isOver = false
  const products = await productsOf(shop)
  const records: ClientRecords = { accounts: [], refunds: [] }
  const traffic = new Traffic()
  const answered = (): void => traffic.answered()
  const context: CrashContext = { shop, sandbox, trial, records, products, isOver: () => isOver, answered }
  const clients = Promise.all([
    ...Array.from({ length: customers }, () => runCustomer(context, trial.random.fork())),
    refundOrders(context, trial.random.fork())
  ])
  // A client that throws ends the rounds, so that the part does not wait for it.
  const failed = clients.then(
    () => undefined,
    (error: unknown) => ({ error })
  )
  await Promise.race([runRounds(context, traffic), failed])
  isOver = true
  await clients
  trial.progress('finishing pending payments')
  await finishPending(context)
  trial.progress(`verifying ${records.accounts.length} accounts`)
  const shown = await verifyAccounts(context)
  verifyMoney(context, shown)
  await verifyRefunds(context)
  await verifyReplays(context, shown, trial.random)
  const outcome = await shop.end('SIGTERM')
  if (outcome !== 0) trial.violation(`after SIGTERM the server ended with ${String(outcome)}`)
  verifyDatabase(context, file, shown, units)
}

async function productsOf({ apiRoot }: CrashingShop): Promise<Map<string, number>> {
  const { data } = (await (await fetch(`${apiRoot}/store/offers`)).json()) as {
    data: { offers: { productId: number; productSlug: string }[] }
  }
  return new Map(data.offers.map(({ productSlug, productId }) => [productSlug, productId]))
}

async function runRounds(context: CrashContext, traffic: Traffic): Promise<void> {
  const { shop, trial } = context
  const rounds = trial.isFull ? 500 : 12
  const restarts: Restart[] = []
  for (let round = 1; round <= rounds; round += 1) {
    await kill(context, traffic)
    await shop.end('SIGKILL')
    if (trial.random.oneIn(trial.isFull ? 8 : 4)) {
      trial.count('kills at the start')
      await shop.startAndKill(trial.random.between(50, 500))
    }
    const restart = await shop.start()
    restarts.push(restart)
    if (restart.tookMs - restart.cpuWaitMs > healthWithinMs)
      trial.violation(`/health was ok only ${Math.round(restart.tookMs)} ms after restart ${round}`)
    if (round % 25 === 0 || round === rounds) trial.progress(`${round} of ${rounds} rounds`)
  }
  const own = restarts.map(({ tookMs, cpuWaitMs }) => tookMs - cpuWaitMs)
  trial.figure(`/health ok after a restart: ${spread(restarts.map(({ tookMs }) => tookMs))}`)
  trial.figure(`without the time spent waiting for a processor: ${spread(own)}`)
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  return `median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, worst ${Math.round(sorted.at(-1) ?? 0)} ms`
}

const callsToKill = [
  'payment_intents.create',
  'payment_intents.confirm',
  'checkout.sessions.create',
  'checkout.sessions.retrieve',
  'payment_intents.retrieve',
  'refunds.create'
] as const

/**
 * Kills the server after a random number of responses and milliseconds, or during a call to the gateway, before or after
 * its effect. Counting responses keeps the amount of work equal on a slow machine.
 */
async function kill({ shop, sandbox, trial }: CrashContext, traffic: Traffic): Promise<void> {
  const { random } = trial
  const answers = random.between(0, 50)
  const pauseMs = random.between(0, 40)
  const inCall = random.oneIn(3)
  if (inCall) {
    const moment = random.pick(['before', 'after'] as const)
    sandbox.addFault({ target: random.pick(callsToKill), fault: 'kill', moment, skip: random.between(0, 6) })
  }
  // A rare call may not happen. Then the server is killed after more responses.
  const enough = traffic.wait(inCall ? answers + 50 : answers).then(() => sleep(pauseMs))
  const death = await Promise.race([shop.died(), enough])
  sandbox.clearFaults()
  if (death === undefined) return trial.count('kills at a random moment')
  trial.count('kills during a call to the gateway')
  if (!death.byKill) trial.violation(`the server ended without a kill: ${shop.lastErrors()}`)
}

/** Finishes pending work: a restart resumes what the last process left, and all webhooks are delivered. */
async function finishPending({ shop, sandbox, trial }: CrashContext): Promise<void> {
  await shop.end('SIGKILL')
  await shop.start()
  while ((await sandbox.deliverDue(Date.now() + fourDaysMs)) > 0) trial.progress('delivering the remaining webhooks')
  const { exitCode, stdout } = await shop.run(['orders', 'reconcile'])
  if (exitCode !== 0) trial.violation(`orders reconcile failed at the end: ${stdout}`)
  await sandbox.deliverDue(Date.now() + fourDaysMs)
}
