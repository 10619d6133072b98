import { globSync, readFileSync } from 'node:fs'
import { analyse } from 'scslre'
import ts from 'typescript'
import { expect, it } from 'vitest'

/** The nodes of a source file. */
function nodesOf(file: string, text: string): ts.Node[] {
  const found: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return found
}

type Pattern = { file: string; source: string; flags: string }

function patternsIn(file: string, text: string): Pattern[] {
  return nodesOf(file, text)
    .filter(ts.isRegularExpressionLiteral)
    .map(({ text: literal }) => {
      const end = literal.lastIndexOf('/')
      return { file, source: literal.slice(1, end), flags: literal.slice(end + 1) }
    })
}

/**
 * The patterns that take more than linear time for some input: two repetitions that match the same text (`Trade`,
 * `Self`), or one that starts again at each character (`Move`: `/0+$/` on `000…01`).
 */
function slowPatterns(patterns: readonly Pattern[]): string[] {
  return patterns.flatMap(({ file, source, flags }) =>
    analyse({ source, flags }).reports.map(({ type }) => `${file}: /${source}/${flags} (${type})`)
  )
}

it('allows only regular expressions that take linear time', () => {
  const patterns = globSync('src/**/*.{ts,js}').flatMap((file) => patternsIn(file, readFileSync(file, 'utf8')))
  expect(patterns.length).toBeGreaterThan(200)
  expect(slowPatterns(patterns)).toEqual([])
})

it('finds the patterns that take quadratic time', () => {
  const patterns = patternsIn('sample.ts', String.raw`/0+$/; /^[^\s@]+@[^\s@]+\.[^\s@]+$/; /^\d+$/`)
  expect(slowPatterns(patterns)).toEqual([
    'sample.ts: /0+$/ (Move)',
    String.raw`sample.ts: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ (Trade)`
  ])
})

/** The tests that need time to pass, by what for. All others wait for an event, with `until` or `expect.poll`. */
const timed: Readonly<Record<string, readonly string[]>> = {
  'looks again after a while': ['test/support/until.ts'],
  'kills a process at any moment': ['test/processes/operations/backup.test.ts'],
  'writes at a rate': ['test/processes/operations/order-writer.ts']
}

/** `setTimeout` under any name, also that of `node:timers/promises`; a method of this name is another thing. */
function usesTime(file: string, text: string): boolean {
  return nodesOf(file, text).some(
    (node) =>
      ts.isIdentifier(node) &&
      node.text === 'setTimeout' &&
      !(ts.isPropertyAccessExpression(node.parent) && !/^(?:globalThis|timers)$/.test(node.parent.expression.getText()))
  )
}

it('lets no test sleep', () => {
  const load = /^test\/(?:bench|faults|mutants|torture)\//
  const files = globSync('test/**/*.{ts,js}').filter((file) => !load.test(file))
  expect(files.length).toBeGreaterThan(500)
  expect(files.filter((file) => usesTime(file, readFileSync(file, 'utf8'))).toSorted()).toEqual(
    Object.values(timed).flat().toSorted()
  )
})

it('finds a test that sleeps', () => {
  const sleeps = [
    "import { setTimeout as pause } from 'node:timers/promises'",
    'await new Promise((resolve) => setTimeout(resolve, 20))',
    'globalThis.setTimeout(done, 20)'
  ]
  expect(sleeps.map((text) => usesTime('sample.ts', text))).toEqual([true, true, true])
  const others = ['socket.setTimeout(20)', "vi.useFakeTimers({ toFake: ['setTimeout'] })"]
  expect(others.map((text) => usesTime('sample.ts', text))).toEqual([false, false])
})
