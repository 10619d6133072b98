/** The only source of time for what the shop decides; tests put their own in its place. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** How far ahead of the clock a time of our own may lie, because the clock has been set back since. */
export const setBackMs = 5 * 60_000

/** Whether a time of our own lies so far ahead that the clock was wrong then or is now: nothing may rest on it. */
export function isFromFuture(at: number, now: number): boolean {
  return at - now > setBackMs
}

/** ISO 8601 UTC with milliseconds, as every answer of the service writes a time. */
export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

export function toIsoOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : toIso(epochMs)
}
