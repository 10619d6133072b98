import { stripeApiVersion } from '../../src/platform/stripe-client.ts'
import type { Moment } from '../../src/sandbox/http/faults.ts'
import { Random } from '../torture/random.ts'
import { compareLedger } from './ledger.ts'
import { dayMs, MoneyShop } from './money-shop.ts'
import { renewalsOf, stepNames, stepOf } from './money-steps.ts'
import type { Operator, StepName } from './money-steps.ts'
import { describeRun, momentsOfWrites } from './runs.ts'
import type { Run } from './runs.ts'

/** One step after the first payment, with one fault. */
export type MoneyRun = {
  step: StepName
  /** The call to the gateway that has the fault. */
  call: string
  fault: MoneyFault
  moment: Moment
  /** `lasting`: until the shop has heard of everything else. */
  times: 'once' | 'lasting'
  webhooks: Run['webhooks']
  operator: Operator
  /** Whether the shop restarts after the step. */
  restart: 'yes' | 'no'
  /** The API version that events are rendered at. */
  events: 'current' | 'older'
  seed: string
}

export type MoneyResult = {
  runs: number
  charges: number
  refunds: number
  disputes: number
  faults: number
  violations: string[]
}
export const noMoney = (): MoneyResult => ({
  runs: 0,
  charges: 0,
  refunds: 0,
  disputes: 0,
  faults: 0,
  violations: []
})

/** Without `reset`, which stripe-node always repeats after half a second, and without a card's decline. */
type MoneyFault = Exclude<Run['fault'], 'reset' | '402'>

const faults = (Object.keys(momentsOfWrites) as Run['fault'][]).filter(
  (fault): fault is MoneyFault => fault !== 'reset' && fault !== '402'
)
const writes: ReadonlySet<string> = new Set(['refunds.create', 'subscriptions.cancel'])

/** All valid combinations of a step, a call and its fault, with the other columns chosen by the seed. */
export function moneyRuns(seeds: readonly number[]): MoneyRun[] {
  return seeds.flatMap((seed) => {
    const random = new Random(seed)
    return stepNames.flatMap((step) =>
      stepOf(step).calls.flatMap((call) =>
        faults.flatMap((fault) =>
          momentsOf(call, fault).flatMap((moment) =>
            (['once', 'lasting'] as const).map((times): MoneyRun => ({
              step,
              call,
              fault,
              moment,
              times,
              webhooks: random.pick(['on time', 'lost', 'twice', 'late', 'out_of_order'] as const),
              operator: random.pick(['waits', 'repeats'] as const),
              restart: random.oneIn(3) ? 'yes' : 'no',
              events: random.oneIn(3) ? 'older' : 'current',
              seed: String(random.between(1, 1_000_000))
            }))
          )
        )
      )
    )
  })
}

/** One run for each call of each step, with a fault that the seed chooses. */
export function someMoneyRuns(seed: number): MoneyRun[] {
  const random = new Random(seed)
  const byCall = Map.groupBy(moneyRuns([seed]), ({ step, call }) => `${step} ${call}`)
  return [...byCall.values()].map((runs) => random.pick(runs))
}

function momentsOf(call: string, fault: MoneyFault): readonly Moment[] {
  return writes.has(call) ? momentsOfWrites[fault] : ['before']
}

/** A new shop after so many runs, because the comparison reads all of its ledger. */
const runsPerShop = 20

/** Executes all runs one after the other and adds their findings to `result`. */
export async function runMoney(
  runs: readonly MoneyRun[],
  result: MoneyResult,
  progress: (line: string) => void = () => {}
): Promise<void> {
  for (let at = 0; at < runs.length; at += runsPerShop) {
    const shop = MoneyShop.open()
    try {
      for (const run of runs.slice(at, at + runsPerShop)) await runOne(shop, run, result)
    } finally {
      shop.close()
    }
    if (at % 500 === 0) progress(`${result.runs} runs, ${result.violations.length} violations`)
  }
}

/** One step with its fault, then everything that the shop has to hear of, and the comparison. */
async function runOne(shop: MoneyShop, run: MoneyRun, result: MoneyResult): Promise<void> {
  const { sandbox } = shop
  const step = stepOf(run.step)
  const random = new Random(Number(run.seed))
  const before = new Set(sandbox.ledger().charges.map(({ id }) => id))
  const subscriber = await shop.subscribe(step.paymentMethod)
  for (let renewals = step.renewals; renewals > 0; renewals -= 1) {
    sandbox.renewSubscription(subscriber.subscription, 'paid')
    await shop.deliver()
  }
  const version = run.events === 'older' ? '2024-06-20' : stripeApiVersion
  sandbox.useVersions({ account: version, endpoint: version })
  if (run.webhooks !== 'on time') sandbox.addFault({ target: 'webhook:*', fault: run.webhooks, times: -1 })
  const { call: target, fault, moment } = run
  const planned = sandbox.addFault({ target, fault, moment, times: run.times === 'once' ? 1 : -1 })
  const renewals = renewalsOf(shop, subscriber.orderId)
  await step.act({ ...subscriber, shop, random, renewals, operator: run.operator })
  if (run.restart === 'yes') shop.restart()
  await shop.deliver()
  await shop.reconcile()
  const left = shop.sandbox.listFaults().find(({ id }) => id === planned.id)
  if (left === undefined) result.faults += 1
  await shop.settle()
  const found = compareLedger(shop, before)
  result.runs += 1
  result.charges += found.charges
  result.refunds += found.refunds
  result.disputes += found.disputes
  result.violations.push(...found.violations.map((violation) => `${violation} (${describeRun(run)})`))
  await endAll(shop)
  shop.clock.advance(dayMs / 2)
}

/** Ends the subscriptions, so that the next run's time renews none of them. */
async function endAll(shop: MoneyShop): Promise<void> {
  const stripe = await shop.stripe()
  for (const { id, status } of shop.sandbox.ledger().subscriptions)
    if (status !== 'canceled') await stripe.subscriptions.cancel(id)
  await shop.deliver()
}

/** The violations and the totals. */
export function reportMoney(result: MoneyResult): string {
  const { runs, charges, refunds, disputes, violations } = result
  const totals = `${runs} runs, ${charges} charges, ${refunds} refunds, ${disputes} disputes, ${violations.length} violations`
  return [...violations, totals].join('\n')
}
