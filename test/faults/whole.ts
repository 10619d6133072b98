/** The whole fault matrix, by `npm run faults`: every call × fault × moment × way of paying, and every moment of a kill. */
import { everyKill, playKills } from './kills.ts'
import { noResult, playMatrix, report } from './matrix.ts'
import { everyRun } from './runs.ts'

const runs = everyRun()
const kills = everyKill()
const tell = (line: string): void => void process.stderr.write(`${line}\n`)
tell(`${runs.length} runs with a fault of the gateway, ${kills.length} with a killed process`)
const result = noResult()
await playMatrix(runs, result, tell)
await playKills(kills, result)
process.stdout.write(`${report(result)}\n`)
process.exitCode = result.violations.length > 0 ? 1 : 0
