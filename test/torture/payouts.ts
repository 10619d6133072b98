import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { liveAffiliateYear } from '../shop/payouts/affiliate-year.ts'
import type { Part, Trial } from './part.ts'

export const payouts: Part = {
  name: 'payouts',
  about: 'years of ten affiliates with fraud, refunds, disputes, restores and erasures: every sum is exact on each day',
  async run(trial: Trial) {
    const years = trial.isFull ? 500 : 4
    for (let year = 1; year <= years; year += 1) {
      await live(trial, trial.random.between(0, 0x7fffffff))
      trial.progress(`${year} of ${years} years`)
    }
  }
}

async function live(trial: Trial, seed: number): Promise<void> {
  const folder = mkdtempSync(join(trial.packed.folder, 'payouts-'))
  try {
    for (const [event, times] of Object.entries(await liveAffiliateYear(seed, folder))) trial.count(event, times)
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined }
    trial.violation(`${message}: ${cause instanceof Error ? (cause.stack ?? cause.message) : ''}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
