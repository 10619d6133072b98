import { describe, expect, it } from 'vitest'
import { typeErrors } from '../support/compile.ts'

const schemas = 'src/shop/catalog/grants.ts'
const registry = 'src/shop/benefits/kinds.ts'

const schema = {
  path: schemas,
  instead: '  donation: z.strictObject({',
  text: `  voucher: z.strictObject({ kind: z.literal('voucher'), worth: z.int() }),\n  donation: z.strictObject({`
}

const row = {
  plural: `'vouchers'`,
  table: 'enrolments',
  since: `'started_at'`,
  sharesTotal: 'false',
  start: '(_tx, { userId }, { worth }) => userId + worth',
  end: '() => ({ gatewayId: null })',
  list: '() => []',
  words: '(_db, { worth }) => `A voucher for ${worth}`',
  renewal: 'null',
  byHand: 'course.byHand'
}

/** The registry with a row for the kind that the schema has. */
function withRow(properties: Record<string, string>) {
  const text = Object.entries(properties).map(([name, value]) => `${name}: ${value}`)
  return [
    schema,
    { path: registry, instead: '  donation\n', text: `  donation,\n  voucher: { ${text.join(', ')} }\n` },
    {
      path: registry,
      instead: `import { donation }`,
      text: `import { enrolments } from './schema.ts'\nimport { donation }`
    }
  ]
}

describe('a benefit kind that is added', () => {
  it('does not compile without a row in the registry', () => {
    expect(typeErrors([schemas, registry], [schema])).toEqual([
      expect.stringMatching(/^src\/shop\/benefits\/kinds\.ts: Property 'voucher' is missing/)
    ])
  })

  it.each(Object.keys(row))('does not compile without %s', (missing) => {
    const rest = Object.fromEntries(Object.entries(row).filter(([name]) => name !== missing))
    expect(typeErrors([registry], withRow(rest))).toContainEqual(
      expect.stringMatching(new RegExp(`^${registry}: Property '${missing}' is missing`))
    )
  })
})
