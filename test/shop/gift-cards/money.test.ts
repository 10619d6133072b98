import * as fc from 'fast-check'
import { afterAll, it } from 'vitest'
import { moneySteps, openMoneyShop } from './random-money.ts'

const shop = await openMoneyShop()
afterAll(() => shop.close())

it('charges and gift cards less what goes back are the documents, and no card is spent twice', async () => {
  await fc.assert(
    fc.asyncProperty(moneySteps, (steps) => shop.take(steps)),
    { numRuns: 6, endOnFailure: true }
  )
})
