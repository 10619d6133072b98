/**
 * Mutation testing, run by `npm run test:mutants`: writes a sample of small faults into one copy of the project, switches
 * them on one by one, and prints those that no fast test notices. A run that stops, by itself or by Ctrl+C, continues
 * with the same command. Options narrow it: --under a folder of src, --kind, --match (the text before), --tests (a glob).
 *
 *     npm run test:mutants                            the lines changed since main
 *     npm run test:mutants -- --all --sample 300 --seed 42   all sources
 *     npm run test:mutants -- --all --kind where --match '\.(update|delete)\('  each UPDATE and DELETE without its WHERE
 */
import { createHash, randomInt } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isEquivalent } from './equivalents.ts'
import { importersOf, writeCopy } from './copy.ts'
import { plan } from './plan.ts'
import type { Choice } from './plan.ts'
import type { Mutant } from './possible.ts'
import type { Reached } from './setup.ts'
import { addLine, copy, folder, readLines, runTests } from './state.ts'
import { refusedByTypes } from './types.ts'

type Plan = { choice: Choice; digest: string; mutants: Mutant[]; outOf: number }
type Result = { id: number; result: 'noticed' | 'survived' | 'unreached' | 'refused' | 'equivalent'; by?: string }

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    since: { type: 'string', default: 'main' },
    seed: { type: 'string' },
    sample: { type: 'string', default: '120' },
    under: { type: 'string', default: 'src/' },
    kind: { type: 'string', multiple: true, default: [] },
    match: { type: 'string', default: '' },
    tests: { type: 'string', default: 'test/**/*.test.ts' },
    minutes: { type: 'string', default: '20' }
  }
})

const started = Date.now()
const secondsLeft = (): number => Number(values.minutes) * 60 - (Date.now() - started) / 1000
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const place = ({ file, line, kind, before, after }: Mutant): string =>
  `${file}:${line} (${kind})\n    - ${inOneLine(before)}\n    + ${inOneLine(after)}`
const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 300)

mkdirSync(folder, { recursive: true })
const { mutants, outOf, choice } = readOrMakePlan()
print(`seed ${choice.seed}: ${mutants.length} of ${outOf} possible mutants`)
const taken = new Set(readLines<Result>('results.jsonl').map(({ id }) => id))

/** The plan of an earlier run goes on as long as the sources and the options are the same. */
function readOrMakePlan(): Plan {
  const file = join(folder, 'plan.json')
  const digest = createHash('sha256')
  for (const path of globSync(['src/**/*.*', 'test/**/*.*', '.config/*.*']))
    digest.update(path).update(readFileSync(path))
  const made = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Plan) : undefined
  const { all, since, under, match, kind: kinds } = values
  const seed = Number(values.seed ?? made?.choice.seed ?? randomInt(2 ** 31))
  const choice: Choice = { all, since, under, match, kinds, seed, sample: Number(values.sample) }
  const wanted = digest.update(JSON.stringify([choice, values.tests])).digest('hex')
  if (made?.digest === wanted) return made
  const next: Plan = { choice, digest: wanted, ...plan(choice) }
  for (const old of ['reached.jsonl', 'covered.jsonl', 'results.jsonl']) rmSync(join(folder, old), { force: true })
  writeCopy(copy, next.mutants)
  writeFileSync(file, JSON.stringify(next))
  return next
}

/** Runs every fast test once without a mutant, some files at a time: which of them run which mutant, and which fail? */
async function cover(): Promise<void> {
  const done = new Set(readLines<{ file: string }>('covered.jsonl').map(({ file }) => file))
  const tests = globSync(values.tests, {
    exclude: ['test/processes/**', 'test/browser/**', '**/*.process.test.ts']
  })
  const left = tests.filter((test) => !done.has(test)).toSorted()
  while (left.length > 0 && mutants.length > 0 && secondsLeft() > 0) {
    const files = left.splice(0, 110)
    const { reported } = await runTests(files, 1200, { MUTANTS_REACHED: join(folder, 'reached.jsonl') })
    const passed = new Set(reported.filter(({ state }) => state === 'passed').map(({ file }) => file))
    for (const file of files) addLine('covered.jsonl', { file, passed: passed.has(file) })
    print(`tests that reach the mutants: ${left.length} files left`)
    const failed = files.filter((file) => !passed.has(file))
    if (failed.length > 0) print(`failed without a mutant, left out: ${failed.join(' ')}`)
  }
}

async function judgeNext(): Promise<void> {
  const covered = readLines<{ file: string; passed: boolean }>('covered.jsonl').filter(({ passed }) => passed)
  const passed = new Set(covered.map(({ file }) => file))
  const reached = readLines<Reached>('reached.jsonl').filter(({ file }) => passed.has(file))
  for (let next = nextMutant(); next !== undefined && secondsLeft() > 0; next = nextMutant()) {
    const result = isEquivalent(next) ? { id: next.id, result: 'equivalent' as const } : await judge(next, reached)
    addLine('results.jsonl', result)
    const count = readLines('results.jsonl').length
    print(`${count}/${mutants.length} ${result.result} ${next.file}:${next.line} (${next.kind}) ${result.by ?? ''}`)
  }
}

function nextMutant(): Mutant | undefined {
  const next = mutants.find(({ id }) => !taken.has(id))
  if (next !== undefined) taken.add(next.id)
  return next
}

async function judge(mutant: Mutant, reached: readonly Reached[]): Promise<Result> {
  const { id } = mutant
  const files = testsOf(mutant, reached)
  if (files.length === 0) return { id, result: refusedByTypes(mutant) ? 'refused' : 'unreached' }
  const { reported, isLate } = await runTests(files, 240, { MUTANT: String(id) })
  const failed = reported.find(({ failed: test }) => test !== undefined)
  if (failed !== undefined) return { id, result: 'noticed', by: `${failed.file} > ${failed.failed}` }
  if (isLate || reported.length === 0) return { id, result: 'noticed', by: 'the run did not end' }
  return { id, result: refusedByTypes(mutant) ? 'refused' : 'survived' }
}

/** The test files that run a mutant: the closest folder first, and among them the fast ones. */
function testsOf(mutant: Mutant, reached: readonly Reached[]): string[] {
  const runs = reached.filter(({ inTests, around }) => inTests.includes(mutant.id) || around.includes(mutant.id))
  // Code that runs on import is seen by the first file of a worker only: every file that imports it counts.
  const all = reached.map(({ file }) => file)
  const files = mutant.isStatic ? importersOf(mutant.file, all) : runs.map(({ file }) => file)
  const cost = new Map(reached.map(({ file, ms, inTests }) => [file, { ms, isDirect: inTests.includes(mutant.id) }]))
  const rank = (file: string): number => {
    const { ms = 0, isDirect = false } = cost.get(file) ?? {}
    return 8 * sharedFolders(mutant.file, file) + (isDirect ? 3 : 0) - 2 * Math.log2(1 + ms / 300)
  }
  const ranked = files.toSorted((one, other) => rank(other) - rank(one))
  return mutant.isStatic ? ranked.slice(0, 40) : ranked
}

function sharedFolders(source: string, test: string): number {
  const names = test.split('/')
  const shared = source.split('/').findIndex((name, at) => at > 0 && name !== names[at]?.replace('.test', ''))
  return shared === -1 ? names.length : shared - 1
}

function report(): void {
  const results = new Map(readLines<Result>('results.jsonl').map((result) => [result.id, result.result]))
  const withResult = (...wanted: Result['result'][]): Mutant[] =>
    mutants.filter(({ id }) => wanted.some((result) => result === results.get(id)))
  const survivors = withResult('survived', 'unreached').toSorted((one, other) => one.file.localeCompare(other.file))
  for (const mutant of survivors) print(`\n${results.get(mutant.id)}: ${place(mutant)}`)
  print('')
  const areas = Object.groupBy(withResult('noticed', 'survived', 'unreached'), ({ file }) => areaOf(file))
  for (const [area, list = []] of Object.entries(areas)) printScore(area, list.length, list.filter(isNoticed).length)
  const noticed = withResult('noticed').length
  printScore('together', noticed + survivors.length, noticed)
  const left = mutants.length - results.size
  print(`${withResult('refused').length} refused by the compiler, ${withResult('equivalent').length} equivalent`)
  if (left > 0) print(`${left} left: the same command continues`)
  process.exitCode = survivors.length > 0 || left > 0 ? 1 : 0

  function isNoticed({ id }: Mutant): boolean {
    return results.get(id) === 'noticed'
  }
}

function printScore(area: string, all: number, noticed: number): void {
  const percent = all === 0 ? '' : `${((100 * noticed) / all).toFixed(0)} %`
  print(`${area.padEnd(12)} ${`${noticed}/${all}`.padStart(8)} ${percent.padStart(6)}`)
}

function areaOf(file: string): string {
  if (/^src\/shop\/(affiliates|referrals|payouts)\//.test(file)) return 'affiliates'
  if (/^src\/shop\/(accounts|limits|customers|entitlements|benefits)\/|^src\/platform\/crypto/.test(file))
    return 'accounts'
  if (/^src\/(api|proxy|pages|client)\/|^src\/platform\/http\/|^src\/shop\/(webhooks|events|mail|mailer)\//.test(file))
    return 'HTTP'
  return /^src\/(shop\/|platform\/(money|vat))/.test(file) ? 'money' : 'operations'
}

await cover()
await Promise.all([judgeNext(), judgeNext()])
report()
