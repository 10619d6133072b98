import type { Clock } from '../platform/clock.ts'

const dayMs = 24 * 60 * 60_000

/**
 * A job for a timer that fires every hour: it skips the start, so that a server that starts often does not do its work
 * each time, runs at the next tick, and then a day after it last succeeded. A failed run is tried again at the next tick.
 */
export function onceADay(clock: Clock, work: () => Promise<unknown>): (first: boolean) => Promise<void> {
  let doneAt = Number.NEGATIVE_INFINITY
  return async (first) => {
    if (first || clock.now() - doneAt < dayMs) return
    await work()
    doneAt = clock.now()
  }
}
