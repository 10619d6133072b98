/** The complete fault matrix of `npm run faults`: all calls, faults, moments and payment methods, and all kills. */
import { allKills, runKills } from './kills.ts'
import { noResult, runMatrix, report } from './matrix.ts'
import { allRuns } from './runs.ts'

const runs = allRuns()
const kills = allKills()
const progress = (line: string): void => void process.stderr.write(`${line}\n`)
progress(`${runs.length} runs with a gateway fault, ${kills.length} with a killed process`)
const result = noResult()
await runMatrix(runs, result, progress)
await runKills(kills, result)
process.stdout.write(`${report(result)}\n`)
process.exitCode = result.violations.length > 0 ? 1 : 0
