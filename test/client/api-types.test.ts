import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'

it('the client imports only its own modules', () => {
  const files = globSync('src/client/*.ts')
  expect(files.length).toBeGreaterThan(3)
  for (const file of files) {
    const imported = [...readFileSync(file, 'utf8').matchAll(/ from '([^']+)'/g)].map(([, name]) => name)
    expect(imported.filter((name) => !/^\.\/[\w-]+\.ts$/.test(name ?? ''))).toEqual([])
  }
})

it('every field and operation of the client’s types has a comment', () => {
  const source = ts.createSourceFile(
    'api-types.ts',
    readFileSync('src/client/api-types.ts', 'utf8'),
    ts.ScriptTarget.Latest
  )
  const fields: string[] = []
  const bare: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node)) {
      const name = node.name.getText(source)
      // The parts of an operation, and the codes of errors, say what they are.
      if (!/^(query|body|answer|[A-Z_]+)$/.test(name)) {
        fields.push(name)
        if (ts.getLeadingCommentRanges(source.text, node.pos) === undefined) bare.push(name)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  expect(fields.length).toBeGreaterThan(500)
  expect(bare).toEqual([])
})
