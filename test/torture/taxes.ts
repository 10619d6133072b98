import * as fc from 'fast-check'
import { checkRefunds, checkTaxes, taxedOrder } from '../shop/tax/tax-properties.ts'
import type { Part } from './part.ts'

export const taxes: Part = {
  name: 'taxes',
  about: 'random carts, rates, discounts and refunds: every sum is exact, and all refunds return the whole tax',
  run(trial) {
    const numRuns = trial.isFull ? 100_000 : 2000
    const seed = trial.random.between(0, 0x7fffffff)
    for (const check of [checkTaxes, checkRefunds]) {
      const result = fc.check(fc.property(taxedOrder, check), { numRuns, seed })
      trial.count(check.name, result.numRuns)
      if (result.failed) trial.violation(`${check.name}: ${fc.defaultReportMessage(result) ?? ''}`)
    }
    return Promise.resolve()
  }
}
