import { describe, it } from 'vitest'
import { everyKill, playKills } from '../faults/kills.ts'
import { noResult, playMatrix, report } from '../faults/matrix.ts'
import { everyRun, mostDangerous, pairwise } from '../faults/runs.ts'

const minutes = 5 * 60_000

describe.concurrent('an order is charged at most once, and exactly once when it is paid', () => {
  it(
    'whatever the gateway does',
    async ({ expect: hopes }) => {
      const runs = [...mostDangerous(), ...pairwise(everyRun())]
      const result = noResult()
      await playMatrix(runs, result)
      process.stdout.write(`${report(result)}\n`)
      hopes(result).toMatchObject({ runs: runs.length, violations: [] })
      hopes(result.charges).toBeGreaterThan(runs.length / 4)
    },
    minutes
  )

  it(
    'whenever the process is killed',
    async ({ expect: hopes }) => {
      const runs = pairwise(everyKill())
      const result = noResult()
      await playKills(runs, result)
      process.stdout.write(`${report(result)}\n`)
      hopes(result).toMatchObject({ runs: runs.length, violations: [] })
      hopes(result.charges).toBeGreaterThan(runs.length / 4)
    },
    minutes
  )
})
