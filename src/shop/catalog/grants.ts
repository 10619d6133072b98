import { z } from 'zod'
import { count, line, slug } from '../../platform/input-fields.ts'
import { filePath, period } from './import/fields.ts'

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
export const grantKinds = Object.keys(grantSchemas) as GrantKind[]

/** The kinds as text: `membership, course or donation`. */
export const grantKindsText = `${grantKinds.slice(0, -1).join(', ')} or ${grantKinds.at(-1)}`

/** The schema of one entry of a product's `grants`. */
export const grantSchema: z.ZodType<GrantSpec> = z.discriminatedUnion(
  'kind',
  Object.values(grantSchemas) as [Schemas[GrantKind], ...Schemas[GrantKind][]],
  `Must be ${grantKindsText}.`
)
