/**
 * The fault matrix of `npm run faults`: every fault of every step of a payment, against the sandbox. It prints what it
 * did and every violation; the exit code is 1 when there is one.
 *
 *     npm run faults                          all faults of checkouts and of the money after them, all kills, 20 years
 *     npm run faults -- --short               as in CI: one fault for each call after the first payment, 3 years
 *     npm run faults -- --seed 42             the random choices of an earlier run
 *
 * CI runs the faults of checkouts and the kills in test/processes/faults.test.ts.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { allKills, runKills } from './kills.ts'
import { noResult, runMatrix, report } from './matrix.ts'
import { moneyRuns, noMoney, reportMoney, runMoney, someMoneyRuns } from './money-matrix.ts'
import { allRuns } from './runs.ts'
import { liveYear, reportYears } from './year.ts'
import type { YearResult } from './year.ts'

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false }, seed: { type: 'string' } } })
const seed = Number(values.seed ?? randomInt(2 ** 31 - 100))
if (!Number.isSafeInteger(seed)) throw new TypeError('--seed must be an integer.')

const progress = (line: string): void => void process.stderr.write(`${line}\n`)
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const started = performance.now()
const secondsSoFar = (): string => `${Math.round((performance.now() - started) / 1000)} s`
let violations = 0

print(`seed ${seed}, ${values.short ? 'short' : 'full'} form`)
await money(values.short ? someMoneyRuns(seed) : moneyRuns([seed, seed + 1, seed + 2]))
await years(values.short ? 3 : 20)
if (!values.short) await checkouts()
print(`${violations} violations (${secondsSoFar()}, seed ${seed})`)
process.exitCode = violations > 0 ? 1 : 0

async function money(runs: ReturnType<typeof moneyRuns>): Promise<void> {
  progress(`${runs.length} steps after the first payment, each with a fault`)
  const result = noMoney()
  await runMoney(runs, result, progress)
  print(`after the first payment:\n${reportMoney(result)} (${secondsSoFar()})`)
  violations += result.violations.length
}

async function years(count: number): Promise<void> {
  const lived: YearResult[] = []
  for (let at = 0; at < count; at += 1) {
    lived.push(await liveYear(seed + at))
    progress(`${lived.length} of ${count} years`)
  }
  print(`subscriptions, day by day:\n${reportYears(lived)} (${secondsSoFar()})`)
  violations += lived.reduce((sum, year) => sum + year.violations.length, 0)
}

async function checkouts(): Promise<void> {
  const runs = allRuns()
  const kills = allKills()
  progress(`${runs.length} checkouts with a fault, ${kills.length} with a killed process`)
  const result = noResult()
  await runMatrix(runs, result, progress)
  await runKills(kills, result)
  print(`checkouts:\n${report(result)} (${secondsSoFar()})`)
  violations += result.violations.length
}
