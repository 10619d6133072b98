import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import type { Mutant } from './possible.ts'

/** Copies the project and writes every mutant into the copy, each switched off until its number is in MUTANT. */
export function writeCopy(copy: string, mutants: readonly Mutant[]): void {
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { recursive: true })
  for (const name of readdirSync('.'))
    if (!/^(node_modules|\.git|coverage|dist)$/.test(name)) cpSync(name, join(copy, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  for (const [file, list] of Map.groupBy(mutants, (mutant) => mutant.file))
    writeFileSync(join(copy, file), withMutants(readFileSync(file, 'utf8'), list))
}

/** Works from the end to the start, so that the places of the others stay right. */
function withMutants(source: string, mutants: readonly Mutant[]): string {
  let text = source
  for (const mutant of mutants.toSorted((one, other) => other.start - one.start))
    text = text.slice(0, mutant.start) + switched(mutant) + text.slice(mutant.end)
  const usesDrizzle = mutants.some(({ kind }) => kind === 'drizzle')
  return usesDrizzle ? `import * as drizzle from 'drizzle-orm'\n${text}` : text
}

function switched({ id, kind, before, after, opensStatement }: Mutant): string {
  const isOn = `globalThis.isMutant?.(${id})`
  if (kind === 'call') return `{ if (!${isOn}) { ${before} } }`
  return `${opensStatement ? ';' : ''}(${isOn} ? (${after}) : (${before}))`
}

/** The test files that import a source file, directly or not. */
export function importersOf(file: string, tests: readonly string[]): string[] {
  return tests.filter((test) => importedBy(test).has(file))
}

const closures = new Map<string, ReadonlySet<string>>()

function importedBy(test: string): ReadonlySet<string> {
  const known = closures.get(test)
  if (known !== undefined) return known
  const all = new Set([test])
  for (const file of all)
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import|import\()\s*'(\.[^']+\.ts)'/g)) {
      const path = posix.join(posix.dirname(file), target)
      if (existsSync(path)) all.add(path)
    }
  closures.set(test, all)
  return all
}
