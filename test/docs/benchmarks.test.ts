import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { benchmarksPage } from '../bench/document.ts'
import { readRuns } from '../bench/results.ts'

it('has no figure in docs/benchmarks.md that a run of the benchmark did not measure', () => {
  expect(readFileSync('docs/benchmarks.md', 'utf8')).toBe(benchmarksPage(readRuns()))
})
