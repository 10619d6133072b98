// In UTC, because the recipient's time zone is unknown.

/** For example `15 January 2026 at 12:00 UTC`. */
export function formatTime(epochMs: number): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  return `${format.format(epochMs)} UTC`
}

/** For example `15 January 2026`. */
export function formatDay(epochMs: number): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(epochMs)
}
