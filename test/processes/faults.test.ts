import { describe, it } from 'vitest'
import { allKills, runKills } from '../faults/kills.ts'
import { noResult, runMatrix, report } from '../faults/matrix.ts'
import { allRuns, mostDangerousRuns, pairwise } from '../faults/runs.ts'

const minutes = 5 * 60_000

describe.concurrent('an order is charged at most once, and exactly once when it is paid', () => {
  it(
    'for every fault of the gateway',
    async ({ expect }) => {
      const runs = [...mostDangerousRuns(), ...pairwise(allRuns())]
      const result = noResult()
      await runMatrix(runs, result)
      process.stdout.write(`${report(result)}\n`)
      expect(result).toMatchObject({ runs: runs.length, violations: [] })
      expect(result.charges).toBeGreaterThan(runs.length / 4)
    },
    minutes
  )

  it(
    'for every point at which the process is killed',
    async ({ expect }) => {
      const runs = pairwise(allKills())
      const result = noResult()
      await runKills(runs, result)
      process.stdout.write(`${report(result)}\n`)
      expect(result).toMatchObject({ runs: runs.length, violations: [] })
      expect(result.charges).toBeGreaterThan(runs.length / 4)
    },
    minutes
  )
})
