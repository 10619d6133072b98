import { Buyer } from './buyer.ts'
import { judge } from './judge.ts'
import type { Verdict } from './judge.ts'
import type { Lane } from './lane.ts'
import { laneInProcess, laneOverSocket } from './lane.ts'
import { describeRun } from './runs.ts'
import type { Run } from './runs.ts'

export type Result = { runs: number; charges: number; orders: number; violations: string[] }

/** Longer than the delay of any webhook that comes late. */
const farAheadMs = 60_000
/** So many shops are at it at once; most of their time they wait for a fault. */
const lanesOfEach = 12

export const noResult = (): Result => ({ runs: 0, charges: 0, orders: 0, violations: [] })

/** Plays every run and adds what came of them to `result`. */
export async function playMatrix(
  runs: readonly Run[],
  result: Result,
  tell: (line: string) => void = () => {}
): Promise<void> {
  const queues = { 'in process': runs.filter(isInProcess), socket: runs.filter((run) => !isInProcess(run)) }
  const openers = { 'in process': laneInProcess, socket: laneOverSocket }
  await Promise.all(
    (['in process', 'socket'] as const).flatMap((transport) => {
      const lanes = Math.min(lanesOfEach, queues[transport].length)
      return Array.from({ length: lanes }, () => playLane(openers[transport], queues[transport], result, tell))
    })
  )
}

const isInProcess = ({ transport }: Run): boolean => transport === 'in process'

async function playLane(
  open: () => Promise<Lane>,
  queue: Run[],
  result: Result,
  tell: (line: string) => void
): Promise<void> {
  const lane = await open()
  try {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      const verdict = await play(lane, run)
      count(result, verdict, describeRun(run))
      if (result.runs % 250 === 0) tell(`${result.runs} runs, ${result.violations.length} violations`)
    }
  } finally {
    await lane.close()
  }
}

export function count(result: Result, verdict: Verdict, what: string): void {
  result.runs += 1
  result.charges += verdict.charges
  result.orders += verdict.orders
  result.violations.push(...verdict.violations.map((violation) => `${violation} (${what})`))
}

/** One checkout with its fault, one reconciliation, and the verdict. */
async function play(lane: Lane, run: Run): Promise<Verdict> {
  const { sandbox } = lane
  const before = new Set(sandbox.ledger().charges.map(({ id }) => id))
  const buyer = await Buyer.enter(lane, run)
  sandbox.addFault({ target: run.call, fault: run.fault, moment: run.moment, times: run.strikes === 'once' ? 1 : 8 })
  if (run.webhooks !== 'in time') sandbox.addFault({ target: 'webhook:*', fault: run.webhooks, times: -1 })
  const first = await buyer.buy()
  if (run.client === 'repeats at once' && isUnsettled(first.status)) await buyer.buy()
  await sandbox.deliverDue(Date.now() + farAheadMs)
  sandbox.clearFaults()
  await lane.reconcile()
  const verdict = await judge(sandbox, buyer, before)
  if (run.client !== 'repeats later') return verdict
  await buyer.buy()
  await sandbox.deliverDue(Date.now() + farAheadMs)
  const again = await judge(sandbox, buyer, before)
  return { ...again, violations: [...verdict.violations, ...again.violations] }
}

export function isUnsettled(status: number | null): boolean {
  return status === null || status >= 500 || status === 409
}

export function report({ runs, charges, orders, violations }: Result): string {
  return [...violations, `${runs} runs, ${charges} charges, ${orders} orders, ${violations.length} violations`].join(
    '\n'
  )
}
