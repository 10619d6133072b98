import { cpus } from 'node:os'
import type { Rounds } from './measure/compare.ts'
import { isPinned } from './measure/machine.ts'
import { mostSpread } from './measure/statistics.ts'
import { table } from './measure/table.ts'
import type { Comparison, Figure, Outcome } from './rows/row.ts'

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const exact = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(2))
const short = (value: number): string => (value === 0 || value >= 10 ? whole(value) : value.toFixed(1))

const ratioOf = ({ shop, reference }: Comparison): number => shop.requestsASecond / reference.requestsASecond

/** Answers that are refusals are quick, so a side that has one has reached nothing. */
export function isReached(outcome: Outcome): boolean {
  if (outcome.kind === 'figure') return outcome.value <= outcome.most
  return ratioOf(outcome) >= outcome.bar && outcome.shop.failures + outcome.reference.failures === 0
}

/** Whether its runs are so far apart that they tell of the machine. */
function isNoisy(outcome: Outcome): boolean {
  return spreadOf(outcome) > mostSpread
}

function spreadOf(outcome: Outcome): number {
  return outcome.kind === 'figure' ? (outcome.spread ?? 0) : Math.max(outcome.shop.spread, outcome.reference.spread)
}

function verdictOf(outcome: Outcome): string {
  const { failures } = outcome.kind === 'comparison' ? outcome.shop : { failures: 0 }
  const verdict = isReached(outcome) ? 'reached' : failures > 0 ? `MISSED: ${failures} failures` : 'MISSED'
  return isNoisy(outcome) ? `${verdict}, noisy` : verdict
}

/** Everything that was measured, in Markdown. */
export function report(outcomes: readonly Outcome[], { rounds, seconds, connections }: Rounds): string {
  const where = isPinned
    ? 'the server has one core and the load the other'
    : 'nothing keeps to a core, since taskset or a second core is missing'
  const noisy = outcomes.filter(isNoisy).map(({ name }) => name)
  const reached = outcomes.filter(isReached).length
  return [
    `Node.js ${process.version} on ${cpus().length} × ${cpus()[0]?.model.trim()}; ${where}. Medians of ${rounds} runs of ${seconds} s by`,
    `turns, ${connections} connections; of two figures the first is Shopstead's.`,
    '',
    ...(outcomes.some(isComparison) ? [comparisonTable(outcomes), ''] : []),
    ...(outcomes.some(isFigure) ? [figureTable(outcomes), ''] : []),
    ...(noisy.length > 0 ? [`Too noisy to tell, with runs over 20 % apart: ${noisy.join('; ')}.`] : []),
    `${reached} of ${outcomes.length} reached.`
  ].join('\n')
}

export function lineOf(outcome: Outcome): string {
  const figure =
    outcome.kind === 'comparison'
      ? `${exact(ratioOf(outcome))} of ${outcome.against} (${whole(outcome.shop.requestsASecond)} by ${whole(outcome.reference.requestsASecond)} requests/s)`
      : `${short(outcome.value)} ${outcome.unit}`
  return `${outcome.name}: ${figure}, ${verdictOf(outcome)}`
}

function comparisonTable(outcomes: readonly Outcome[]): string {
  const head = [
    'endpoint',
    'beside',
    'requests/s',
    'CPU µs',
    'p50 ms',
    'p99 ms',
    'ratio',
    'by CPU',
    'to reach',
    'spread',
    ''
  ]
  return table(head, outcomes.filter(isComparison).map(comparisonCells))
}

/** Each pair is the shop's figure and the reference's. */
function comparisonCells(outcome: Comparison): string[] {
  const { name, against, shop, reference, bar } = outcome
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
    exact(bar),
    `${whole(spreadOf(outcome) * 100)} %`,
    verdictOf(outcome)
  ]
}

function figureTable(outcomes: readonly Outcome[]): string {
  return table(['', 'measured', 'at most', 'spread', ''], outcomes.filter(isFigure).map(figureCells))
}

function figureCells(figure: Figure): string[] {
  const { name, value, unit, most, spread } = figure
  const amount = (of: number): string => `${unit === '×' ? exact(of) : short(of)} ${unit}`
  const apart = spread === undefined ? '' : `${whole(spread * 100)} %`
  return [name, amount(value), amount(most), apart, verdictOf(figure)]
}

function isComparison(outcome: Outcome): outcome is Comparison {
  return outcome.kind === 'comparison'
}

function isFigure(outcome: Outcome): outcome is Figure {
  return outcome.kind === 'figure'
}
