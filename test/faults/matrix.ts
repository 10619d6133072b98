import { Buyer } from './buyer.ts'
import { verify } from './verify.ts'
import type { Findings } from './verify.ts'
import type { ShopAndGateway } from './shop-and-gateway.ts'
import { openInProcess, openOverSocket } from './shop-and-gateway.ts'
import { describeRun } from './runs.ts'
import type { Run } from './runs.ts'

export type Result = { runs: number; charges: number; orders: number; violations: string[] }

/** Longer than the delay of any late webhook. */
const farAheadMs = 60_000
/** Many workers, because each one waits for faults most of the time. */
const workersPerTransport = 12

/** A result without any runs. */
export const noResult = (): Result => ({ runs: 0, charges: 0, orders: 0, violations: [] })

/** Executes all runs and adds their findings to `result`. */
export async function runMatrix(
  runs: readonly Run[],
  result: Result,
  progress: (line: string) => void = () => {}
): Promise<void> {
  const queues = { 'in process': runs.filter(isInProcess), socket: runs.filter((run) => !isInProcess(run)) }
  const openers = { 'in process': openInProcess, socket: openOverSocket }
  await Promise.all(
    (['in process', 'socket'] as const).flatMap((transport) => {
      const workers = Math.min(workersPerTransport, queues[transport].length)
      return Array.from({ length: workers }, () => runQueue(openers[transport], queues[transport], result, progress))
    })
  )
}

const isInProcess = ({ transport }: Run): boolean => transport === 'in process'

async function runQueue(
  open: () => Promise<ShopAndGateway>,
  queue: Run[],
  result: Result,
  progress: (line: string) => void
): Promise<void> {
  const shop = await open()
  try {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      const findings = await runOne(shop, run)
      count(result, findings, describeRun(run))
      if (result.runs % 250 === 0) progress(`${result.runs} runs, ${result.violations.length} violations`)
    }
  } finally {
    await shop.close()
  }
}

/** Adds one run's findings to the result. */
export function count(result: Result, findings: Findings, what: string): void {
  result.runs += 1
  result.charges += findings.charges
  result.orders += findings.orders
  result.violations.push(...findings.violations.map((violation) => `${violation} (${what})`))
}

/** One checkout with its fault, one reconciliation, and the verification. */
async function runOne(shop: ShopAndGateway, run: Run): Promise<Findings> {
  const { sandbox } = shop
  const before = new Set(sandbox.ledger().charges.map(({ id }) => id))
  const buyer = await Buyer.enter(shop, run)
  sandbox.addFault({ target: run.call, fault: run.fault, moment: run.moment, times: run.times === 'once' ? 1 : 8 })
  if (run.webhooks !== 'on time') sandbox.addFault({ target: 'webhook:*', fault: run.webhooks, times: -1 })
  const first = await buyer.buy()
  if (run.client === 'repeats immediately' && isUnsettled(first.status)) await buyer.buy()
  await sandbox.deliverDue(Date.now() + farAheadMs)
  sandbox.clearFaults()
  await shop.reconcile()
  const findings = await verify(sandbox, buyer, before)
  if (run.client !== 'repeats later') return findings
  await buyer.buy()
  await sandbox.deliverDue(Date.now() + farAheadMs)
  const again = await verify(sandbox, buyer, before)
  return { ...again, violations: [...findings.violations, ...again.violations] }
}

/** Whether a response leaves the outcome of a checkout unknown. */
export function isUnsettled(status: number | null): boolean {
  return status === null || status >= 500 || status === 409
}

/** The violations and the totals, a line each. */
export function report({ runs, charges, orders, violations }: Result): string {
  return [...violations, `${runs} runs, ${charges} charges, ${orders} orders, ${violations.length} violations`].join(
    '\n'
  )
}
