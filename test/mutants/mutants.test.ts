import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { equivalents, isEquivalent } from './equivalents.ts'
import { possibleMutants } from './possible.ts'
import type { Possible } from './possible.ts'

/** What the tool finds in a source file of src with this text. */
function mutantsOf(text: string, file = 'src/shop/example.ts'): Possible[] {
  const path = resolve(file)
  const host = ts.createCompilerHost({})
  const read = host.getSourceFile
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true) : read(name, ...rest)
  const options = { strict: true, noEmit: true, types: [], module: ts.ModuleKind.NodeNext, noResolve: true }
  const program = ts.createProgram([path], options, host)
  const source = program.getSourceFile(path)
  return source === undefined ? [] : possibleMutants(file, source, program.getTypeChecker())
}

const changes = (text: string): string[] => mutantsOf(text).map(({ kind, after }) => `${kind}: ${after}`)

describe('the mutants', () => {
  it('drop the WHERE of builders and of raw SQL', () => {
    expect(changes('orm.update(t).set(v).where(one).run()')).toContain('where: orm.update(t).set(v)')
    expect(changes("db.run('DELETE FROM t WHERE id = ? RETURNING id')")).toContain("sql: 'DELETE FROM t RETURNING id'")
  })

  it('drop each condition and each stored field in turn', () => {
    const found = changes('q.where(and(a, b)); orm.insert(t).values({ id, name })')
    expect(found).toEqual(expect.arrayContaining(['condition: and(b)', 'condition: and(a)']))
    expect(found).toEqual(expect.arrayContaining(['field: { name }', 'field: { id }']))
  })

  it('drop guards and calls, and move boundaries', () => {
    const found = changes('export function f(n: number) { if (n < 1) return; g(n) }')
    expect(found).toEqual(expect.arrayContaining(['guard: false', 'boundary: n <= 1', 'call: ']))
  })

  it('leave log lines and the texts of errors alone', () => {
    expect(changes("log.info('a', 1 + 1); throw new AppError('GONE', `${1 + 1}`)")).toEqual([])
  })

  it('have a place in the file', () => {
    const mutant = mutantsOf('const one = 1\nconst isLess = one < two\n').find(({ kind }) => kind === 'boundary')
    expect(mutant).toMatchObject({ line: 2, before: 'one < two', isStatic: true })
  })
})

describe('the accepted equivalents', () => {
  it('each match a mutant of the code as it is, and give a reason', () => {
    const stale = equivalents.filter(
      ({ file, kind, before, after }) =>
        !mutantsOf(readFileSync(file, 'utf8'), file).some(
          (mutant) => mutant.kind === kind && mutant.before === before && mutant.after === after
        )
    )
    expect(stale).toEqual([])
    expect(equivalents.filter(({ reason }) => reason.length < 20)).toEqual([])
  })

  it('do not cover another mutant of the same code', () => {
    const place = { line: 1, start: 0, end: 1, isStatic: false, opensStatement: true }
    expect(equivalents.filter((accepted) => !isEquivalent({ ...accepted, ...place }))).toEqual([])
    expect(equivalents.filter((accepted) => isEquivalent({ ...accepted, ...place, after: 'other' }))).toEqual([])
  })
})
