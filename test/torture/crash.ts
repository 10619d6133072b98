import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGateway, stripeEnv } from '../faults/lane.ts'
import type { Gateway } from '../faults/lane.ts'
import { CrashingShop, lastingPort } from './crash/crashing-shop.ts'
import type { Restart } from './crash/crashing-shop.ts'
import { live } from './crash/customer.ts'
import type { World } from './crash/customer.ts'
import { judgeAccounts, judgeDatabase, judgeMoney, judgeRefunds, judgeReplays } from './crash/judge.ts'
import { keepRefunding } from './crash/operator.ts'
import type { Memory } from './crash/record.ts'
import { Traffic } from './crash/traffic.ts'
import { openShop } from './open-shop.ts'
import type { Field, Part } from './part.ts'

const customers = 16
const healthWithinMs = 2_000
/** All that Stripe's webhooks are ever late. */
const fourDaysMs = 4 * 24 * 3_600_000

export const crash: Part = {
  name: 'crash',
  about: 'kill -9 in the midst of checkouts, registrations, webhooks and refunds, and what is left of them',
  async run(field) {
    const dataDir = mkdtempSync(join(field.packed.folder, 'crash-'))
    const port = await lastingPort()
    const gateway = await openGateway(
      () => `http://127.0.0.1:${port}`,
      () => shop.strike()
    )
    const env = stripeEnv(gateway.origin)
    const shop = new CrashingShop(field.packed, { dataDir, port, env })
    try {
      const units = field.isWhole ? 600 : 40
      await openShop(field.packed, dataDir, goods(units))
      await crashAndJudge(field, shop, gateway, { file: join(dataDir, 'shopstead.db'), units })
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
  field: Field,
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
  const world: World = { shop, sandbox, field, record, products, isOver: () => isOver, answered }
  const people = Promise.all([
    ...Array.from({ length: customers }, () => live(world, field.random.fork())),
    keepRefunding(world, field.random.fork())
  ])
  // Whoever fails ends the rounds; nobody is left waiting for an answer to him.
  const failed = people.then(
    () => undefined,
    (error: unknown) => ({ error })
  )
  await Promise.race([playRounds(world, traffic), failed])
  isOver = true
  await people
  field.tell('settling what is left')
  await settle(world)
  field.tell(`asking ${record.accounts.length} people`)
  const shown = await judgeAccounts(world)
  judgeMoney(world, shown)
  await judgeRefunds(world)
  await judgeReplays(world, field.random)
  const outcome = await shop.end('SIGTERM')
  if (outcome !== 0) field.violation(`told to stop, the server ended with ${String(outcome)}`)
  judgeDatabase(world, file, shown, units)
}

async function productsOf({ apiRoot }: CrashingShop): Promise<Map<string, number>> {
  const { data } = (await (await fetch(`${apiRoot}/store/offers`)).json()) as {
    data: { offers: { productId: number; productSlug: string }[] }
  }
  return new Map(data.offers.map(({ productSlug, productId }) => [productSlug, productId]))
}

async function playRounds(world: World, traffic: Traffic): Promise<void> {
  const { shop, field } = world
  const rounds = field.isWhole ? 500 : 25
  const restarts: Restart[] = []
  for (let round = 1; round <= rounds; round += 1) {
    await strike(world, traffic)
    await shop.end('SIGKILL')
    if (field.random.oneIn(8)) {
      field.tried('kills at the start')
      await shop.startInVain(field.random.between(50, 500))
    }
    const restart = await shop.start()
    restarts.push(restart)
    if (restart.tookMs - restart.starvedMs > healthWithinMs)
      field.violation(`/health was ok only ${Math.round(restart.tookMs)} ms after restart ${round}`)
    if (round % 25 === 0) field.tell(`${round} of ${rounds} rounds`)
  }
  const own = restarts.map(({ tookMs, starvedMs }) => tookMs - starvedMs)
  field.figure(`/health ok after a restart: ${spread(restarts.map(({ tookMs }) => tookMs))}`)
  field.figure(`the same without the time it stood in line for a processor: ${spread(own)}`)
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
async function strike({ shop, sandbox, field }: World, traffic: Traffic): Promise<void> {
  const { random } = field
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
  if (death === undefined) return field.tried('kills at a random moment')
  field.tried('kills during a call to the gateway')
  if (!death.byStrike) field.violation(`the server died by itself: ${shop.lastWords()}`)
}

/** Nothing is under way any more: what the last life left is taken up, every webhook is delivered, nothing is open. */
async function settle({ shop, sandbox, field }: World): Promise<void> {
  await shop.end('SIGKILL')
  await shop.start()
  while ((await sandbox.deliverDue(Date.now() + fourDaysMs)) > 0) field.tell('delivering what is left')
  const { exitCode, stdout } = await shop.run(['orders', 'reconcile'])
  if (exitCode !== 0) field.violation(`orders reconcile failed at the end: ${stdout}`)
  await sandbox.deliverDue(Date.now() + fourDaysMs)
}
