import { loadOn } from './load.ts'
import type { RequestSpec, Pressure } from './load.ts'
import { median, spread } from './statistics.ts'

/** A request and the process that responds to it. */
export type Side = RequestSpec & { pid: number }

/** Medians of all runs of one side. */
export type Measured = {
  requestsASecond: number
  cpuMicros: number
  p50Ms: number
  p99Ms: number
  failures: number
  /** The spread of its runs in requests per second. */
  spread: number
}

export type Rounds = Pressure & {
  rounds: number
  /**
   * The time that V8 gets to compile the hot functions on the server's core. On a slow core it took 18 s for /me and 6 s for
   * the reference.
   */
  warmUpSeconds: number
}

/** Runs both sides alternately, each one first in every other round, so that other load affects both equally. */
export async function compare(shop: Side, reference: Side, rounds: Rounds): Promise<[Measured, Measured]> {
  const readings = new Map<Side, Awaited<ReturnType<typeof loadOn>>[]>([
    [shop, []],
    [reference, []]
  ])
  if (rounds.warmUpSeconds > 0)
    for (const side of [reference, shop]) await loadOn(side.pid, side, { ...rounds, seconds: rounds.warmUpSeconds })
  for (let round = 0; round < rounds.rounds; round += 1) {
    for (const side of round % 2 === 0 ? [reference, shop] : [shop, reference]) {
      readings.get(side)?.push(await loadOn(side.pid, side, rounds))
    }
  }
  const measured = (side: Side): Measured => {
    const runs = readings.get(side) ?? []
    const middle = (of: (run: (typeof runs)[number]) => number): number => median(runs.map(of))
    return {
      requestsASecond: middle((run) => run.requestsASecond),
      cpuMicros: middle((run) => run.cpuMicros),
      p50Ms: middle((run) => run.p50Ms),
      p99Ms: middle((run) => run.p99Ms),
      failures: runs.reduce((sum, run) => sum + run.failures, 0),
      spread: spread(runs.map((run) => run.requestsASecond))
    }
  }
  return [measured(shop), measured(reference)]
}
