import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { liveAffiliateYear } from './affiliate-year.ts'

it('commissions less reversals are what was paid and is due less the debts, on each day of a year, and fraud earns nothing', async () => {
  const property = fc.asyncProperty(fc.integer({ min: 0 }), async (seed) => {
    const lived = await liveAffiliateYear(seed, temporaryFolder())
    // A year without these would show little.
    for (const event of ['payment', 'refund', 'failed refund', 'dispute', 'renewal', 'payout', 'failed payout'])
      expect(lived[event] ?? 0).toBeGreaterThan(0)
  })
  await fc.assert(property, { numRuns: 1, endOnFailure: true })
}, 180_000)
