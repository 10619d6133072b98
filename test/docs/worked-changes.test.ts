import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applied, workedChanges } from './worked-changes.ts'

/** test/processes/docs/worked-changes.test.ts compiles and runs what comes of them. */
describe('the worked changes of docs/CONTRIBUTING.md', () => {
  it('are complete', () => {
    expect(workedChanges.map(({ title }) => title)).toEqual([
      '1. A setting',
      '2. An endpoint',
      '3. A table',
      '4. An order state',
      '5. A benefit kind',
      '6. A field of an order'
    ])
  })

  it('apply to the code one after the other', () => {
    const files = new Map<string, string>()
    for (const edit of workedChanges.flatMap(({ edits }) => edits)) {
      if ('text' in edit) expect(existsSync(edit.path)).toBe(false)
      const text = 'text' in edit ? '' : (files.get(edit.path) ?? readFileSync(edit.path, 'utf8'))
      files.set(edit.path, applied(edit, text))
    }
    expect(files.size).toBeGreaterThan(6)
  })

  it('import files that exist or that they add', () => {
    const added = workedChanges.flatMap(({ edits }) => edits.filter((edit) => 'text' in edit))
    const known = new Set(added.map(({ path }) => path))
    const missing = added.flatMap(({ path, text }) =>
      [...text.matchAll(/ from '(\.[^']+)'/g)]
        .map(([, target = '']) => join(dirname(path), target))
        .filter((target) => !known.has(target) && !existsSync(target))
    )
    expect(added.length).toBeGreaterThan(5)
    expect(missing).toEqual([])
  })

  it('are refused where the code has other lines', () => {
    const edit = { place: 'here', path: 'src/a.ts', before: 'const a = 1\n', after: 'const a = 2\n' }
    expect(applied(edit, '// one\nconst a = 1\n')).toBe('// one\nconst a = 2\n')
    expect(() => applied(edit, 'const b = 1\n')).toThrow('src/a.ts has its lines 0 times')
    expect(() => applied(edit, 'const a = 1\n'.repeat(2))).toThrow('2 times')
  })
})
