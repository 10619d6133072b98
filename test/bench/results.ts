import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { Rounds } from './measure/compare.ts'
import { isPinned } from './measure/machine.ts'
import type { Outcome } from './rows/row.ts'

// JSON has no NaN, which a reference without requests has.
const figure = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN)
const measured = z.strictObject({
  requestsASecond: figure,
  cpuMicros: figure,
  p50Ms: figure,
  p99Ms: figure,
  failures: figure,
  spread: figure
})
const outcome: z.ZodType<Outcome> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('comparison'),
    name: z.string(),
    against: z.string(),
    shop: measured,
    reference: measured,
    target: z.number(),
    serves: z.string().optional()
  }),
  z.strictObject({
    kind: z.literal('figure'),
    name: z.string(),
    value: figure,
    unit: z.enum(['×', 'ms', 's', 'MB', 'failures']),
    max: z.number(),
    spread: figure.optional()
  })
])
const run = z.strictObject({
  /** The day, as `2026-01-15`. */
  date: z.string(),
  commit: z.string(),
  node: z.string(),
  machine: z.string(),
  /** Processes that wanted a core in the last five minutes. */
  load: z.number(),
  isPinned: z.boolean(),
  rounds: z.int(),
  seconds: z.number(),
  connections: z.int(),
  rows: z.record(z.string(), z.array(outcome))
})

/** One run of the benchmark: when, where and of what, and the outcomes of each row by the row's name. */
export type Run = z.output<typeof run>

const file = join(import.meta.dirname, 'results.json')

/** The runs that docs/benchmarks.md shows, the newest first. Each row is in the newest run that measured it. */
export function readRuns(): Run[] {
  return z.array(run).parse(JSON.parse(readFileSync(file, 'utf8')))
}

/** Adds a run, whose rows take the place of earlier ones. Returns all runs. */
export function addRun(added: Run): Run[] {
  const earlier = readRuns().map((one) => ({
    ...one,
    rows: Object.fromEntries(Object.entries(one.rows).filter(([name]) => !Object.hasOwn(added.rows, name)))
  }))
  const runs = [added, ...earlier.filter(({ rows }) => Object.keys(rows).length > 0)]
  writeFileSync(file, `${JSON.stringify(runs, null, 1)}\n`)
  return runs
}

/** Describes a run that starts now. */
export function describeRun({ rounds, seconds, connections }: Rounds): Omit<Run, 'rows'> {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', 'src', 'bin', 'package.json') === '' ? '' : ' with changes'
  const [cpu] = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: `${git('rev-parse', '--short', 'HEAD')}${changed}`,
    node: process.version,
    machine: `${cpus().length} × ${cpu?.model.trim()}`,
    load: Math.round((loadavg()[1] ?? 0) * 10) / 10,
    isPinned,
    rounds,
    seconds,
    connections
  }
}
