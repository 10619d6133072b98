import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { checkDocuments, makeFrench, refundedCart } from '../shop/orders/refund-properties.ts'
import { checkRefunds, checkTaxes, taxedOrder } from '../shop/tax/tax-properties.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import type { Part, Trial } from './part.ts'

/** Carts for each new database: an old shop would take longer, and would test nothing more. */
const cartsPerShop = 1000

export const taxes: Part = {
  name: 'taxes',
  about: 'random carts, rates, discounts and refunds: every sum and document is exact, and refunds return all of a tax',
  run(trial) {
    const numRuns = trial.isFull ? 100_000 : 2000
    const seed = trial.random.between(0, 0x7fffffff)
    for (const check of [checkTaxes, checkRefunds]) report(trial, check.name, taxedOrder, check, { numRuns, seed })
    for (let from = 0; from < numRuns; from += cartsPerShop) {
      const numRuns = trial.isFull ? cartsPerShop : cartsPerShop / 4
      checkInShops(trial, { numRuns, seed: seed + from })
      trial.progress(`carts until ${from + numRuns}`)
    }
    return Promise.resolve()
  }
}

type Runs = { numRuns: number; seed: number }

/** Buys and refunds carts in two new shops on disk. */
function checkInShops(trial: Trial, runs: Runs): void {
  const folder = mkdtempSync(join(trial.packed.folder, 'taxes-'))
  const open = (included: boolean): Db => {
    const file = join(folder, `${included ? 'gross' : 'net'}.db`)
    createMigratedDatabase(file)
    const db = openDatabase(file)
    // Nothing crashes here, and a hundred thousand carts would wait for the disk for hours.
    db.sqlite.pragma('synchronous = OFF')
    return makeFrench(db, included)
  }
  const shops = [open(false), open(true)] as const
  try {
    report(trial, 'checkDocuments', refundedCart, (cart) => checkDocuments(shops, cart), runs)
  } finally {
    for (const { sqlite } of shops) sqlite.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function report<T>(trial: Trial, name: string, values: fc.Arbitrary<T>, check: (value: T) => void, runs: Runs): void {
  const result = fc.check(fc.property(values, check), runs)
  trial.count(name, result.numRuns)
  if (result.failed) trial.violation(`${name}: ${fc.defaultReportMessage(result) ?? ''}`)
}
