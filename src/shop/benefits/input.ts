import { z } from 'zod'
import { count, line, slug } from '../../platform/input-fields.ts'

/** A membership plan of an import file. */
export const plan = z
  .strictObject({
    slug: slug(),
    name: line(255),
    module: z.enum(['A', 'B'], 'Must be A or B.'),
    rank: count(-1_000_000).nullish(),
    pro: z.boolean().nullish()
  })
  .transform(({ rank, pro, ...plan }) => ({ ...plan, rank: rank ?? 0, pro: pro ?? false }))

/** A donation campaign of an import file. */
export const campaign = z.strictObject({ slug: slug(), name: line(255) })

export type PlanInput = z.output<typeof plan>
export type CampaignInput = z.output<typeof campaign>
