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
