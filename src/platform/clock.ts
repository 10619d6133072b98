/** The only source of time for what the shop decides; tests put their own in its place. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** ISO 8601 UTC with milliseconds, as every answer of the service writes a time. */
export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

export function toIsoOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : toIso(epochMs)
}
