import { setTimeout as pause } from 'node:timers/promises'

/** Enough for a busy machine. The limit of a fast test comes first. */
const limitMs = 60_000

/**
 * Waits for an event that a test cannot listen to: returns what `check` finds, once that is neither false nor undefined.
 *
 * @param what the event, for the error
 * @throws Error when it does not come within a minute
 */
export async function until<T>(
  what: string,
  check: () => T | false | undefined | Promise<T | false | undefined>
): Promise<T> {
  const endsAt = performance.now() + limitMs
  for (;;) {
    const found = await check()
    if (found !== undefined && found !== false) return found
    if (performance.now() > endsAt) throw new Error(`This did not come within ${limitMs / 1000} s: ${what}.`)
    await pause(10)
  }
}
