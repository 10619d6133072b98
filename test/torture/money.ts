import * as fc from 'fast-check'
import { moneySteps, openMoneyShop } from '../shop/gift-cards/random-money.ts'
import type { Part, Trial } from './part.ts'

/** Runs for each new shop: in an old one the steps would meet the same cards less often. */
const runsPerShop = 10

export const money: Part = {
  name: 'money',
  about:
    'purchases, gift cards, edits, returns, exchanges, refunds and late payments in random order: charges less refunds are the documents and balances',
  async run(trial) {
    const shops = trial.isFull ? 200 : 3
    for (let number = 1; number <= shops; number += 1) {
      await tradeInShop(trial)
      trial.progress(`shop ${number} of ${shops}`)
    }
  }
}

async function tradeInShop(trial: Trial): Promise<void> {
  const shop = await openMoneyShop()
  try {
    const take = fc.asyncProperty(moneySteps, (steps) => shop.take(steps, (name) => trial.count(name)))
    const seed = trial.random.between(0, 0x7fffffff)
    // A failed shop stays failed, so that smaller steps would say nothing.
    const result = await fc.check(take, { numRuns: runsPerShop, seed, endOnFailure: true })
    if (result.failed) trial.violation(fc.defaultReportMessage(result) ?? 'unknown')
  } finally {
    await shop.close()
  }
}
