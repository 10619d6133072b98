import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import type { Gateway } from '../faults/shop-and-gateway.ts'
import { CrashingShop, lastingPort } from './crash/crashing-shop.ts'
import type { Restart } from './crash/crashing-shop.ts'
import { live } from './crash/customer.ts'
import type { World } from './crash/customer.ts'
import { judgeAccounts, judgeDatabase, judgeMoney, judgeRefunds, judgeReplays } from './crash/judge.ts'
import { keepRefunding } from './crash/operator.ts'
import type { Memory } from './crash/record.ts'
import { Traffic } from './crash/traffic.ts'
import { openShop } from './open-shop.ts'
import type { Trial, Part } from './part.ts'

const customers = 16
const healthWithinMs = 2_000
/** All that Stripe's webhooks are ever late. */
const fourDaysMs = 4 * 24 * 3_600_000

export const crash: Part = {
  name: 'crash',
  about: 'kill -9 in the midst of checkouts, registrations, webhooks and refunds, and what is left of them',
  async run(trial) {
    const dataDir = mkdtempSync(join(trial.packed.folder, 'crash-'))
    const port = await lastingPort()
    const gateway = await openGateway(
      () => `http://127.0.0.1:${port}`,
      () => shop.strike()
    )
    const env = stripeEnv(gateway.origin)
    const shop = new CrashingShop(trial.packed, { dataDir, port, env })
    try {
      const units = trial.isFull ? 600 : 40
      await openShop(trial.packed, dataDir, goods(units))
      await crashAndJudge(trial, shop, gateway, { file: join(dataDir, 'shopstead.db'), units })
    } finally {
      await shop.end('SIGKILL')
      await gateway.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

/** One runs out, the other never does. */
const goods = (units: number) => [
  { slug: 'mug', name: 'Mug', price: '12.50' },
  { slug: 'lantern', name: 'Lantern', price: '30.00', stock: units }
]

async function crashAndJudge(
  trial: Trial,
  shop: CrashingShop,
  { sandbox }: Gateway,
  { file, units }: { file: string; units: number }
): Promise<void> {
  await shop.start()
  let isOver = false
  const products = await productsOf(shop)
  const record: Memory = { accounts: [], refunds: [] }
  const traffic = new Traffic()
  const answered = (): void => traffic.answered()
  const world: World = { shop, sandbox, trial, record, products, isOver: () => isOver, answered }
  const people = Promise.all([
    ...Array.from({ length: customers }, () => live(world, trial.random.fork())),
    keepRefunding(world, trial.random.fork())
  ])
  // Whoever fails ends the rounds; nobody is left waiting for an answer to him.
  const failed = people.then(
    () => undefined,
    (error: unknown) => ({ error })
  )
  await Promise.race([playRounds(world, traffic), failed])
  isOver = true
  await people
  trial.progress('settling what is left')
  await settle(world)
  trial.progress(`asking ${record.accounts.length} people`)
  const shown = await judgeAccounts(world)
  judgeMoney(world, shown)
  await judgeRefunds(world)
  await judgeReplays(world, trial.random)
  const outcome = await shop.end('SIGTERM')
  if (outcome !== 0) trial.violation(`told to stop, the server ended with ${String(outcome)}`)
  judgeDatabase(world, file, shown, units)
}

async function productsOf({ apiRoot }: CrashingShop): Promise<Map<string, number>> {
  const { data } = (await (await fetch(`${apiRoot}/store/offers`)).json()) as {
    data: { offers: { productId: number; productSlug: string }[] }
  }
  return new Map(data.offers.map(({ productSlug, productId }) => [productSlug, productId]))
}

async function playRounds(world: World, traffic: Traffic): Promise<void> {
  const { shop, trial } = world
  const rounds = trial.isFull ? 500 : 25
  const restarts: Restart[] = []
  for (let round = 1; round <= rounds; round += 1) {
    await strike(world, traffic)
    await shop.end('SIGKILL')
    if (trial.random.oneIn(8)) {
      trial.count('kills at the start')
      await shop.startInVain(trial.random.between(50, 500))
    }
    const restart = await shop.start()
    restarts.push(restart)
    if (restart.tookMs - restart.starvedMs > healthWithinMs)
      trial.violation(`/health was ok only ${Math.round(restart.tookMs)} ms after restart ${round}`)
    if (round % 25 === 0) trial.progress(`${round} of ${rounds} rounds`)
  }
  const own = restarts.map(({ tookMs, starvedMs }) => tookMs - starvedMs)
  trial.figure(`/health ok after a restart: ${spread(restarts.map(({ tookMs }) => tookMs))}`)
  trial.figure(`the same without the time it stood in line for a processor: ${spread(own)}`)
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  return `median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, worst ${Math.round(sorted.at(-1) ?? 0)} ms`
}

const deadlyCalls = [
  'payment_intents.create',
  'payment_intents.confirm',
  'checkout.sessions.create',
  'checkout.sessions.retrieve',
  'payment_intents.retrieve',
  'refunds.create'
] as const

/**
 * Kills it some answers and milliseconds on, or while the gateway is being asked: before that does what it is asked for,
 * or after. Counted in answers, a life is not shorter on a busy machine.
 */
async function strike({ shop, sandbox, trial }: World, traffic: Traffic): Promise<void> {
  const { random } = trial
  const answers = random.between(0, 50)
  const pauseMs = random.between(0, 40)
  const inCall = random.oneIn(3)
  if (inCall) {
    const moment = random.pick(['before', 'after'] as const)
    sandbox.addFault({ target: random.pick(deadlyCalls), fault: 'kill', moment, skip: random.between(0, 6) })
  }
  // The call may come rarely; then it is killed like the others, a good many answers on.
  const enough = traffic.flow(inCall ? answers + 50 : answers).then(() => sleep(pauseMs))
  const death = await Promise.race([shop.dead(), enough])
  sandbox.clearFaults()
  if (death === undefined) return trial.count('kills at a random moment')
  trial.count('kills during a call to the gateway')
  if (!death.byStrike) trial.violation(`the server died by itself: ${shop.lastWords()}`)
}

/** Nothing is under way any more: what the last life left is taken up, every webhook is delivered, nothing is open. */
async function settle({ shop, sandbox, trial }: World): Promise<void> {
  await shop.end('SIGKILL')
  await shop.start()
  while ((await sandbox.deliverDue(Date.now() + fourDaysMs)) > 0) trial.progress('delivering what is left')
  const { exitCode, stdout } = await shop.run(['orders', 'reconcile'])
  if (exitCode !== 0) trial.violation(`orders reconcile failed at the end: ${stdout}`)
  await sandbox.deliverDue(Date.now() + fourDaysMs)
}
