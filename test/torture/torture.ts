/**
 * Stress tests of the packed package with real processes, run by `npm run torture`. Every part prints what it did, how
 * often, and the violations it found. The exit code is 1 when a promise was broken.
 *
 *     npm run torture                          everything, for hours
 *     npm run torture -- --short               the short form of each part, as in CI
 *     npm run torture -- --short crash storage only these parts
 *     npm run torture -- --seed 42             the random choices of an earlier run
 *     npm run torture -- operators --only erasing   the pieces of work whose name contains this text
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { installPacked } from '../support/packed.ts'
import type { Packed } from '../support/packed.ts'
import { abuse } from './abuse.ts'
import { authorisation } from './authorisation.ts'
import { budgets } from './budgets.ts'
import { clock } from './clock.ts'
import { crash } from './crash.ts'
import { Random } from './random.ts'
import { durability } from './durability.ts'
import { fuzz } from './fuzz.ts'
import { invoices } from './invoices.ts'
import { money } from './money.ts'
import { operators } from './operators.ts'
import { NotSupported } from './part.ts'
import type { Trial, Part } from './part.ts'
import { payouts } from './payouts.ts'
import { quotes } from './quotes.ts'
import { races } from './races.ts'
import { replica } from './replica.ts'
import { smallMachine } from './small-machine.ts'
import { soak } from './soak.ts'
import { storage } from './storage.ts'
import { taxes } from './taxes.ts'
import { tornLog } from './torn-log.ts'

const parts: readonly Part[] = [
  crash,
  replica,
  durability,
  tornLog,
  storage,
  clock,
  fuzz,
  races,
  quotes,
  invoices,
  taxes,
  payouts,
  money,
  authorisation,
  abuse,
  budgets,
  operators,
  smallMachine,
  soak
]

const help = `Usage: npm run torture -- [options] [part ...]

  --short     run the short form of each part, as in CI: minutes instead of hours
  --seed N    repeat the random choices of an earlier run, which printed its seed
  --only TEXT of the part "operators", the pieces of work whose name contains this text
  --list      list the parts
`

const { values, positionals } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    list: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' }
  },
  allowPositionals: true
})

/** Of a part; the others are only counted. */
const printedViolations = 20

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const progress = (line: string): void => void process.stderr.write(`${line}\n`)

if (values.help) {
  print(help)
} else if (values.list) {
  for (const { name, about } of parts) print(`${name.padEnd(14)}${about}`)
} else {
  const unknown = positionals.find((positional) => !parts.some(({ name }) => name === positional))
  const seed = Number(values.seed ?? randomInt(2 ** 31))
  if (unknown !== undefined) refuse(`Unknown part "${unknown}". List the parts with --list.`)
  else if (!Number.isSafeInteger(seed)) refuse('--seed must be an integer.')
  else await torture(positionals.length === 0 ? parts : parts.filter(({ name }) => positionals.includes(name)), seed)
}

function refuse(why: string): void {
  progress(why)
  process.exitCode = 2
}

async function torture(those: readonly Part[], seed: number): Promise<void> {
  print(`seed ${seed}, ${values.short ? 'short' : 'full'} form`)
  progress('building, packing and installing the package')
  const packed = installPacked()
  const outcomes: Outcome[] = []
  try {
    for (const part of those) outcomes.push(await runPart(part, packed, seed))
  } finally {
    packed.remove()
  }
  const failed = outcomes.filter(({ violations }) => violations.length > 0)
  // Once more: the end of a long log is what people see first.
  for (const { name, violations } of failed) {
    print(`\n${name} failed:`)
    for (const text of violations) printViolation(text)
  }
  const skipped = outcomes.filter(({ isSkipped }) => isSkipped).length
  print(`\n${outcomes.length - skipped - failed.length} parts passed, ${failed.length} failed`)
  // A part that threw may have left processes running. They end with this process, but would keep it alive.
  process.exit(failed.length > 0 ? 1 : 0)
}

type Outcome = {
  name: string
  isSkipped: boolean
  /** Those that were printed: the first 20. */
  violations: readonly string[]
}

function printViolation(text: string): void {
  print(`  violation: ${text.replaceAll('\n', '\n    ')}`)
}

/** Runs one part. Its random numbers do not depend on the parts before it. */
async function runPart(part: Part, packed: Packed, seed: number): Promise<Outcome> {
  const counts = new Map<string, number>()
  const figures: string[] = []
  const violations: string[] = []
  let found = 0
  const started = performance.now()
  // At once: the person who watches a run of hours does not wait for its end.
  const violation = (text: string): void => {
    found += 1
    if (found > printedViolations) return
    violations.push(text)
    printViolation(text)
  }
  const trial: Trial = {
    isFull: !values.short,
    packed,
    random: new Random(seed),
    only: values.only,
    count: (what, times = 1) => void counts.set(what, (counts.get(what) ?? 0) + times),
    violation,
    figure: (text) => void figures.push(text),
    progress: (line) => progress(`  ${part.name}: ${line}`)
  }
  print(`\n${part.name}: ${part.about}`)
  try {
    await part.run(trial)
  } catch (error) {
    if (error instanceof NotSupported) {
      print(`  skipped: ${error.message}`)
      return { name: part.name, isSkipped: true, violations: [] }
    }
    violation(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  for (const [what, times] of counts) print(`  ${what}: ${times}`)
  for (const figure of figures) print(`  ${figure}`)
  print(`  violations: ${found} (${Math.round((performance.now() - started) / 1000)} s, seed ${seed})`)
  return { name: part.name, isSkipped: false, violations }
}
