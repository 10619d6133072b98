import { mostSpread } from './measure/statistics.ts'
import { table } from './measure/table.ts'
import type { Comparison, Figure, Outcome } from './rows/row.ts'

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const exact = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(2))
const short = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value))

const ratioOf = ({ shop, reference }: Comparison): number => shop.requestsASecond / reference.requestsASecond

export function isReached(outcome: Outcome): boolean {
  return outcome.kind === 'comparison' ? ratioOf(outcome) >= outcome.bar : outcome.value <= outcome.most
}

/** Whether its runs are so far apart that they tell of the machine. */
export function isNoisy(outcome: Outcome): boolean {
  return spreadOf(outcome) > mostSpread
}

function spreadOf(outcome: Outcome): number {
  return outcome.kind === 'figure' ? (outcome.spread ?? 0) : Math.max(outcome.shop.spread, outcome.reference.spread)
}

function verdictOf(outcome: Outcome): string {
  const verdict = isReached(outcome) ? 'reached' : 'MISSED'
  return isNoisy(outcome) ? `${verdict}, noisy` : verdict
}

export function lineOf(outcome: Outcome): string {
  const figure =
    outcome.kind === 'comparison'
      ? `${exact(ratioOf(outcome))} of ${outcome.against} (${whole(outcome.shop.requestsASecond)} by ${whole(outcome.reference.requestsASecond)} requests/s)`
      : `${short(outcome.value)} ${outcome.unit}`
  return `${outcome.name}: ${figure}, ${verdictOf(outcome)}`
}

export function comparisonTable(outcomes: readonly Outcome[]): string {
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

export function figureTable(outcomes: readonly Outcome[]): string {
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
