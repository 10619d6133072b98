import { globSync, readFileSync } from 'node:fs'
import { analyse } from 'scslre'
import ts from 'typescript'
import { expect, it } from 'vitest'

type Pattern = { file: string; source: string; flags: string }

function patternsIn(file: string, text: string): Pattern[] {
  const found: Pattern[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return found
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
