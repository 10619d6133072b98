import { afterAll, beforeEach } from 'vitest'
import { openTill, shelf } from './open-till.ts'
import type { Till } from './open-till.ts'

export { eventOf, openTill, shelf } from './open-till.ts'
export type { Till } from './open-till.ts'

/** A till for all tests of a file, each of which begins without faults and warnings, and without webhooks that get through. */
export async function openQuietTill(seed: object = shelf): Promise<Till> {
  const till = await openTill(seed)
  beforeEach(() => {
    till.sandbox.clearFaults()
    till.loseWebhooks()
    till.logged.length = 0
  })
  afterAll(() => till.close())
  return till
}
