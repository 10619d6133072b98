import { maxSpread } from './measure/statistics.ts'
import { table } from './measure/table.ts'
import type { Run } from './results.ts'
import type { Comparison, Figure, Outcome } from './rows/row.ts'

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const exact = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(2))
const short = (value: number): string => (value === 0 || value >= 10 ? whole(value) : value.toFixed(1))

const ratioOf = ({ shop, reference }: Comparison): number => shop.requestsASecond / reference.requestsASecond

/** Whether an outcome reaches its target. A comparison with failures never does, because refusals are fast. */
export function isReached(outcome: Outcome): boolean {
  if (outcome.kind === 'figure') return outcome.value <= outcome.max
  return ratioOf(outcome) >= outcome.target && !hasFailures(outcome)
}

/** Whether a request was refused or not answered. */
export function hasFailures(outcome: Outcome): boolean {
  if (outcome.kind === 'figure') return outcome.unit === 'failures' && outcome.value > 0
  return outcome.shop.failures + outcome.reference.failures > 0
}

/** Whether the spread of its runs is too large. */
function isNoisy(outcome: Outcome): boolean {
  return spreadOf(outcome) > maxSpread
}

function spreadOf(outcome: Outcome): number {
  return outcome.kind === 'figure' ? (outcome.spread ?? 0) : Math.max(outcome.shop.spread, outcome.reference.spread)
}

function verdictOf(outcome: Outcome): string {
  const { failures } = outcome.kind === 'comparison' ? outcome.shop : { failures: 0 }
  const verdict = isReached(outcome) ? 'reached' : failures > 0 ? `MISSED: ${failures} failures` : 'MISSED'
  return isNoisy(outcome) ? `${verdict}, noisy` : verdict
}

/** All outcomes of a run in Markdown. */
export function report(run: Run): string {
  const outcomes = Object.values(run.rows).flat()
  const where = run.isPinned
    ? 'server and load generator have one core each'
    : 'no process is pinned to a core, because taskset or a second core is missing'
  const noisy = outcomes.filter(isNoisy).map(({ name }) => name)
  const reached = outcomes.filter(isReached).length
  return [
    `Node.js ${run.node} on ${run.machine}; ${where}. On average, ${run.load} processes wanted a core when the run began.`,
    `Medians of ${run.rounds} runs of ${run.seconds} s, alternating, with ${run.connections} connections. Of two figures, the first is Shopstead's.`,
    '',
    ...(outcomes.some(isComparison) ? [comparisonTable(outcomes), ''] : []),
    ...(outcomes.some(isFigure) ? [figureTable(outcomes), ''] : []),
    ...(noisy.length > 0 ? [`Unreliable, because the runs differ by more than 20 %: ${noisy.join('; ')}.`, ''] : []),
    `${reached} of ${outcomes.length} reached.`
  ].join('\n')
}

const busiestHour = 0.1

/** What a shop can do on a day whose busiest hour has a tenth of its requests, as a shop owner would say it. */
function servesADay({ serves, shop }: Comparison): string {
  if (serves === undefined) return ''
  const perDay = (shop.requestsASecond * 3_600) / busiestHour
  const digits = Math.max(0, Math.floor(Math.log10(perDay)) - 1)
  const rounded = Math.round(perDay / 10 ** digits) * 10 ** digits
  return rounded >= 1e6 ? `${rounded / 1e6} million ${serves}` : `${rounded.toLocaleString('en')} ${serves}`
}

/** An outcome in one line. */
export function lineOf(outcome: Outcome): string {
  const figure =
    outcome.kind === 'comparison'
      ? `${exact(ratioOf(outcome))} of ${outcome.against} (${whole(outcome.shop.requestsASecond)} and ${whole(outcome.reference.requestsASecond)} requests/s)`
      : `${short(outcome.value)} ${outcome.unit}`
  return `${outcome.name}: ${figure}, ${verdictOf(outcome)}`
}

function comparisonTable(outcomes: readonly Outcome[]): string {
  const head = [
    'endpoint',
    'reference',
    'requests/s',
    'CPU µs',
    'p50 ms',
    'p99 ms',
    'ratio',
    'CPU ratio',
    'target',
    'spread',
    'carries a day',
    ''
  ]
  return table(head, outcomes.filter(isComparison).map(comparisonCells))
}

/** The cells of a comparison; a pair is the shop's figure and the reference's. */
function comparisonCells(outcome: Comparison): string[] {
  const { name, against, shop, reference, target } = outcome
  const pair = (of: (side: Comparison['shop']) => string): string => `${of(shop)} / ${of(reference)}`
  return [
    name,
    against,
    pair(({ requestsASecond }) => whole(requestsASecond)),
    pair(({ cpuMicros }) => short(cpuMicros)),
    pair(({ p50Ms }) => exact(p50Ms)),
    pair(({ p99Ms }) => exact(p99Ms)),
    exact(ratioOf(outcome)),
    exact(reference.cpuMicros / shop.cpuMicros),
    exact(target),
    `${whole(spreadOf(outcome) * 100)} %`,
    servesADay(outcome),
    verdictOf(outcome)
  ]
}

function figureTable(outcomes: readonly Outcome[]): string {
  return table(['', 'measured', 'at most', 'spread', ''], outcomes.filter(isFigure).map(figureCells))
}

function figureCells(figure: Figure): string[] {
  const { name, value, unit, max, spread } = figure
  const amount = (of: number): string => `${unit === '×' ? exact(of) : short(of)} ${unit}`
  const apart = spread === undefined ? '' : `${whole(spread * 100)} %`
  return [name, amount(value), amount(max), apart, verdictOf(figure)]
}

function isComparison(outcome: Outcome): outcome is Comparison {
  return outcome.kind === 'comparison'
}

function isFigure(outcome: Outcome): outcome is Figure {
  return outcome.kind === 'figure'
}
