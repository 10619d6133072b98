import { setTimeout as pause } from 'node:timers/promises'

/**
 * Leaves the lock and the processor to others between two parts of long work.
 *
 * @param startedAt when the last part began, by `performance.now()`
 * @param share the share of the time that the work takes: 1/2 waits for as long as the part took
 */
export async function restAfter(startedAt: number, share: number): Promise<void> {
  await pause((performance.now() - startedAt) * (1 / share - 1))
}
