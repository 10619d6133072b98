import { setTimeout as pause } from 'node:timers/promises'

/** The only source of time for what the shop decides; tests replace it. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** How far a stored time may be ahead of the clock because the clock was set back since. */
export const setBackMs = 5 * 60_000

/** Whether a stored time is so far ahead that the clock was wrong then or is wrong now; such a time decides nothing. */
export function isFromFuture(at: number, now: number): boolean {
  return at - now > setBackMs
}

/**
 * Leaves the lock and the processor to others between two parts of long work.
 *
 * @param startedAt when the last part began, by `performance.now()`
 * @param share the share of the time that the work takes: 1/2 waits for as long as the part took
 */
export async function restAfter(startedAt: number, share: number): Promise<void> {
  await pause((performance.now() - startedAt) * (1 / share - 1))
}
