import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { Random } from '../torture/random.ts'
import { possibleMutants, weights } from './possible.ts'
import type { Kind, Mutant, Possible } from './possible.ts'

export type Choice = {
  /** Everything, and not only the lines changed since `since`. */
  all: boolean
  since: string
  seed: number
  sample: number
  /** Only files whose path starts with this. */
  under: string
  /** Only these kinds. */
  kinds: readonly string[]
  /** Only mutants whose text before matches. */
  match: string
}

/** Generated code, tables (migrations create them), texts and sites that the shop only copies. */
const skipped =
  /\.d\.ts$|\/migrations\/|api-types|stripe-params|vat-rates|postal-formats|\/messages\.ts$|\/schema\.ts$|starters\/|\/texts\/|^src\/sandbox\//

/** Reads the sources with their types, and lists what can be mutated in those that the choice names. */
function possible({ under, kinds, match }: Choice, isWanted: (mutant: Possible) => boolean): Possible[] {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile) as { config: unknown }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.')
  const files = globSync('src/**/*.ts').filter((file) => file.startsWith(under) && !skipped.test(file))
  const program = ts.createProgram(files, { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  const text = new RegExp(match)
  return files.toSorted().flatMap((file) => {
    const source = program.getSourceFile(file)
    if (source === undefined) return []
    return possibleMutants(file, source, checker).filter(
      (mutant) => (kinds.length === 0 || kinds.includes(mutant.kind)) && text.test(mutant.before) && isWanted(mutant)
    )
  })
}

/** Draws the sample: kinds by weight, at most one mutant for a piece of code. */
export function plan(choice: Choice): { mutants: Mutant[]; outOf: number } {
  const changed = choice.all ? undefined : changedLines(choice.since)
  const all = possible(choice, ({ file, line }) => changed === undefined || changed.get(file)?.has(line) === true)
  const random = new Random(choice.seed)
  const bags = new Map<Kind, Possible[]>()
  for (const mutant of shuffled(all, random)) bags.set(mutant.kind, [...(bags.get(mutant.kind) ?? []), mutant])
  const chosen: Possible[] = []
  while (chosen.length < choice.sample && bags.size > 0) {
    const kinds = [...bags.keys()].flatMap((kind) => Array<Kind>(weights[kind]).fill(kind))
    const kind = random.pick(kinds)
    const mutant = bags.get(kind)?.pop()
    if (mutant === undefined) bags.delete(kind)
    else if (!chosen.some((other) => overlaps(mutant, other))) chosen.push(mutant)
  }
  return { mutants: chosen.map((mutant, index) => ({ ...mutant, id: index + 1 })), outOf: all.length }
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const keyed = list.map((item) => ({ item, key: random.between(0, 0x7fffffff) }))
  return keyed.toSorted((one, other) => one.key - other.key).map(({ item }) => item)
}

const overlaps = (one: Possible, other: Possible): boolean =>
  one.file === other.file && one.start < other.end && other.start < one.end

/** The lines of src that differ from a commit, those of new files included. */
function changedLines(since: string): Map<string, Set<number>> {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  const lines = new Map<string, Set<number>>()
  const base = git('merge-base', since, 'HEAD').trim()
  let file = ''
  for (const line of git('diff', '--unified=0', '--no-color', base, '--', 'src').split('\n')) {
    if (line.startsWith('+++ b/')) file = line.slice(6)
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))?/.exec(line) ?? []
    if (first === undefined) continue
    const numbers = lines.get(file) ?? new Set<number>()
    for (let at = 0; at < Number(count); at += 1) numbers.add(Number(first) + at)
    lines.set(file, numbers)
  }
  for (const untracked of git('ls-files', '--others', '--exclude-standard', 'src').split('\n').filter(Boolean))
    lines.set(
      untracked,
      new Set(
        readFileSync(untracked, 'utf8')
          .split('\n')
          .keys()
          .map((at) => at + 1)
      )
    )
  return lines
}
