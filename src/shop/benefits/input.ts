import { z } from 'zod'
import { amount, count, filePath, line, period, slug } from '../catalog/import/fields.ts'

/** Input for a benefit that an operator gives: a catalogue grant (docs/contract.md A7), with the product's slug. */
export function handGrantSchema(currency: string) {
  return z.discriminatedUnion(
    'kind',
    [
      z.strictObject({
        kind: z.literal('membership'),
        plan: slug(),
        period: period()
          .optional()
          .transform((text) => text ?? null)
      }),
      z.strictObject({
        kind: z.literal('subscription'),
        product: slug(),
        interval: z.enum(['month', 'year'], 'Must be month or year.'),
        pro: z.boolean().default(false)
      }),
      z.strictObject({ kind: z.literal('course'), course: line(255) }),
      z.strictObject({
        kind: z.literal('download'),
        product: slug(),
        file: filePath(),
        days: count(1, 36_500)
          .optional()
          .transform((days) => days ?? null)
      }),
      z.strictObject({
        kind: z.literal('donation'),
        amount: amount(currency).refine((minor) => minor > 0, 'Must be above 0.'),
        campaign: slug()
          .optional()
          .transform((text) => text ?? null)
      })
    ],
    'Must be membership, subscription, course, download or donation.'
  )
}
