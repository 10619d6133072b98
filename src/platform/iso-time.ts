/**
 * ISO 8601 UTC with milliseconds, as all answers write times.
 *
 * @throws RangeError for a value that is not a number or lies outside the range of Date
 */
export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** The ISO 8601 time of an instant; null stays null. */
export function toIsoOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : toIso(epochMs)
}

/** The day of an instant in UTC, `YYYY-MM-DD`. */
export function toDay(epochMs: number): string {
  return toIso(epochMs).slice(0, 'YYYY-MM-DD'.length)
}
