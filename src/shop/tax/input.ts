import { z } from 'zod'
import { countryName } from '../../platform/postal/countries.ts'
import { regionKey, unknownRegion } from '../../platform/postal/format.ts'
import { country, line } from '../../platform/input-fields.ts'

/** What a product is to the tax: which of a country's rates it has. */
export const taxClasses = ['standard', 'reduced', 'zero'] as const
export type TaxClass = (typeof taxClasses)[number]

/** What VIES answers about a VAT id; `unavailable` if it does not answer. */
export const viesOutcomes = ['confirmed', 'not_registered', 'unavailable'] as const

/**
 * The evidence for the VAT id of an order: what VIES knew of it, and when. `other_name`: the id is registered, but to a name
 * that is not the buyer's. `accepted` says whether the sale can be without tax.
 */
export const vatCheck = z.object({
  outcome: z.enum([...viesOutcomes, 'other_name']),
  accepted: z.boolean(),
  name: z.string().nullable(),
  address: z.string().nullable(),
  /** The consultation number of the answer; VIES gives it to a seller with a VAT id. */
  consultation: z.string().nullable(),
  /** Null if VIES did not answer. */
  checkedAt: z.number().nullable()
})
export type VatCheck = z.output<typeof vatCheck>

const classRule = `Must be ${taxClasses.slice(0, -1).join(', ')} or ${taxClasses.at(-1)}.`
const rateRule = 'Must be a percentage from 0 to 100 with at most four decimals.'

const where = country('Must be a country as two letters, such as DE.')
const taxClass = z.enum(taxClasses, classRule)

/**
 * A tax rate of a country, or of one of its states or provinces, for a class of products. The region of a whole country is
 * empty; a name of null means the usual one.
 */
export const taxRate = z
  .strictObject({
    country: where,
    region: line(100).nullish(),
    class: taxClass,
    ratePercent: z.number(rateRule).min(0, rateRule).max(100, rateRule).refine(hasFourDecimals, rateRule),
    name: line(50).nullish()
  })
  .transform(({ country, region, class: taxClass, ratePercent, name }, context) => {
    const unknown = region ? unknownRegion(country, region) : undefined
    if (unknown !== undefined) {
      const message = `Must be a state or province of ${countryName(country)}, such as ${unknown.example}.`
      context.addIssue({ code: 'custom', path: ['region'], message })
    }
    return {
      country,
      region: regionKey(country, region ?? undefined),
      class: taxClass,
      rateMillionths: Math.round(ratePercent * 10_000),
      name: name ?? null
    }
  })

export type TaxRateInput = z.output<typeof taxRate>

/** The rates of a country, or of one of its regions or for one class. */
export const taxRemoval = z
  .strictObject({ country: where, region: line(100).optional(), class: taxClass.optional() })
  .transform(({ country, region, ...rest }) => {
    const place = region === undefined ? {} : { region: regionKey(country, region) }
    return { country, ...place, ...rest }
  })

function hasFourDecimals(percent: number): boolean {
  return Math.abs(percent * 10_000 - Math.round(percent * 10_000)) < 1e-6
}
