import { loadOn } from './load.ts'
import type { Asked, Pressure } from './load.ts'
import { median, spread } from './statistics.ts'

/** A request and the process that answers it. */
export type Side = Asked & { pid: number }

/** Medians of all runs of one side. */
export type Measured = {
  requestsASecond: number
  cpuMicros: number
  p50Ms: number
  p99Ms: number
  failures: number
  /** How far apart its runs are in requests a second. */
  spread: number
}

export type Rounds = Pressure & { rounds: number }

/**
 * Until V8 has compiled what is asked for often, which it does on the same core: where that is a slow one, the last of
 * the functions behind /me come after 18 s, those of the reference after 6.
 */
const warmUpSeconds = 20

/** Both sides by turns, each first in every other round, so that whatever else the machine does falls on both. */
export async function compare(shop: Side, reference: Side, rounds: Rounds): Promise<[Measured, Measured]> {
  const readings = new Map<Side, Awaited<ReturnType<typeof loadOn>>[]>([
    [shop, []],
    [reference, []]
  ])
  for (const side of [reference, shop]) await loadOn(side.pid, side, { ...rounds, seconds: warmUpSeconds })
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
