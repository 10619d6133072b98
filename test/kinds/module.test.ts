import { describe, expect, it } from 'vitest'
import { typeErrors } from '../support/compile.ts'

const table = 'src/shop/settings/modules.ts'
const row = {
  about: `'wish lists'`,
  flag: `'hasWishLists'`,
  inFlags: 'true',
  inHealth: 'true',
  providesForms: 'false',
  isOnByDefault: 'true'
}

/** The table with one more module in front of `donations`. */
function withModule(properties: Record<string, string>) {
  const text = Object.entries(properties).map(([name, value]) => `${name}: ${value}`)
  return { path: table, instead: '  donations: {', text: `  wishLists: { ${text.join(', ')} },\n  donations: {` }
}

describe('a module that is added', () => {
  it.each(Object.keys(row))('does not compile without %s', (missing) => {
    const rest = Object.fromEntries(Object.entries(row).filter(([name]) => name !== missing))
    expect(typeErrors([table], [withModule(rest)])).toContainEqual(
      expect.stringMatching(new RegExp(`^${table}: Property '${missing}' is missing`))
    )
  })

  it('does not compile with a flag of another form', () => {
    expect(typeErrors([table], [withModule({ ...row, flag: `'wishLists'` })])).toContainEqual(
      expect.stringMatching(/^src\/shop\/settings\/modules\.ts: Type '"wishLists"' is not assignable/)
    )
  })
})
