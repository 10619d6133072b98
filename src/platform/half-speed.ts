import { setTimeout as pause } from 'node:timers/promises'

/** Does a part of long work, and then leaves the lock and the processor to others for as long as the part took. */
export async function atHalfSpeed<T>(part: () => T | Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await part()
  await pause(performance.now() - startedAt)
  return result
}
