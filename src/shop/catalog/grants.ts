import { z } from 'zod'
import { count, line, slug } from '../../platform/input-fields.ts'
import { filePath, period } from './import/fields.ts'
import { keysOf } from '../../platform/typed.ts'

const orNull = <T>(value: T | null | undefined): T | null => value ?? null

/**
 * The schemas of a product's `grants`, one for each kind of benefit (docs/contract.md A7). Plans and campaigns are
 * referred to by slug. A new kind is added here and in benefits/kinds.ts, which does not compile without it.
 */
export const grantSchemas = {
  membership: z.strictObject({
    kind: z.literal('membership'),
    module: z.enum(['A', 'B'], 'Must be A or B.'),
    plan: slug(),
    period: period().nullish().transform(orNull)
  }),
  subscription: z.strictObject({
    kind: z.literal('subscription'),
    interval: z.enum(['month', 'year'], 'Must be month or year.'),
    pro: z
      .boolean()
      .nullish()
      .transform((pro) => pro ?? false)
  }),
  course: z.strictObject({ kind: z.literal('course'), course: line(255) }),
  download: z.strictObject({
    kind: z.literal('download'),
    file: filePath(),
    days: count(1, 36_500).nullish().transform(orNull)
  }),
  donation: z.strictObject({ kind: z.literal('donation'), campaign: slug().nullish().transform(orNull) })
}

type Schemas = typeof grantSchemas
export type GrantKind = keyof Schemas
/** A benefit that a paid order of the product gives. */
export type GrantSpec<Kind extends GrantKind = GrantKind> = {
  [Name in Kind]: { kind: Name } & z.output<Schemas[Name]>
}[Kind]

/** All kinds, in the order of `grantSchemas`. */
export const grantKinds = keysOf(grantSchemas)

/** The kinds as text: `membership, course or donation`. */
export const grantKindsText = `${grantKinds.slice(0, -1).join(', ')} or ${grantKinds.at(-1)}`

/** The schema of one entry of a product's `grants`. */
export const grantSchema: z.ZodType<GrantSpec> = z.discriminatedUnion(
  'kind',
  Object.values(grantSchemas) as [Schemas[GrantKind], ...Schemas[GrantKind][]],
  `Must be ${grantKindsText}.`
)

/** The option values of a variation, such as `{Size: "M", Colour: "Red"}`, in the order of the options. */
export const optionValues = z.record(z.string(), z.string())
export type OptionValues = z.output<typeof optionValues>

/** An option of a product with the values that its variations have, in their order. */
export type ProductOption = { name: string; values: string[] }

/** The options of a product, derived from its available variations. */
export function optionsOf(variations: readonly { options: OptionValues }[]): ProductOption[] {
  const names = Object.keys(variations[0]?.options ?? {})
  return names.map((name) => ({
    name,
    values: [
      ...new Set(variations.flatMap(({ options }) => (Object.hasOwn(options, name) ? [options[name] ?? ''] : [])))
    ]
  }))
}

/**
 * The index of the first variation whose options do not fit the ones before it: all variations have the same options,
 * and no two have the same values. Undefined when all fit.
 */
export function misfit(variations: readonly { options: OptionValues }[]): number | undefined {
  const names = JSON.stringify(Object.keys(variations[0]?.options ?? {}))
  const seen = new Set<string>()
  for (const [index, { options }] of variations.entries()) {
    const values = JSON.stringify(Object.values(options))
    if (JSON.stringify(Object.keys(options)) !== names) return index
    if (names !== '[]' && seen.has(values)) return index
    seen.add(values)
  }
  return undefined
}

/** The options of a product's variations from an export of another program; without options if they do not fit together. */
export function withoutMisfits(options: readonly OptionValues[]): OptionValues[] {
  return misfit(options.map((values) => ({ options: values }))) === undefined ? [...options] : options.map(() => ({}))
}
