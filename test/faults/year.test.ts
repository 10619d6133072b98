import { expect, it } from 'vitest'
import { liveYear } from './year.ts'

// `npm run faults` lives whole years.
it('months of subscriptions with faults end with the ledger equal to the books', async () => {
  const { happened, violations } = await liveYear(21, 150)
  expect(violations).toEqual([])
  expect([...happened.keys()]).toEqual(
    expect.arrayContaining([
      'charges',
      'refunds',
      'disputes won',
      'disputes lost',
      'cards that fail',
      'cards that work again',
      'cancellations in the portal',
      'restarts'
    ])
  )
})
